""""""

import numpy as np
import pytest

from scope.records import Endpoint, Undefined
from scope.statistics.margins import ERROR, discordance, loss_tails, paired_tails
from scope.statistics.power import (
    PlannedEndpoint,
    endpoint_power,
    joint_power,
    planned_from,
    texts_for_power,
    verdicts,
)


def planned(**given):
    return PlannedEndpoint(**({"name": "any", "margin": 0.05} | given))


@pytest.mark.parametrize(
    ("endpoint", "shares"),
    [
        (planned(discordance=0.06), (0.03, 0.03)),
        (planned(margin=0.1, discordance=0.2), (0.1, 0.1)),
        (planned(discordance=0.02, against_one=True), (0.0, 0.01)),
    ],
)
@pytest.mark.parametrize("n", [80, 150, 300])
def test_power_is_that_of_simulated_texts(endpoint, shares, n):
    draws = np.random.default_rng(0).random((4000, n))
    texts = (draws < shares[0]).astype(float) - (draws > 1 - shares[1])
    tails = (loss_tails if endpoint.against_one else paired_tails)(
        discordance(texts), endpoint.margin
    )
    simulated = (tails.within < ERROR).mean()
    assert endpoint_power(endpoint, n) == pytest.approx(simulated, abs=0.03)


def test_the_power_of_a_verdict_is_the_product():
    plan = [planned(), planned(margin=0.1)]
    assert joint_power(plan, 100) == pytest.approx(
        endpoint_power(plan[0], 100) * endpoint_power(plan[1], 100)
    )


@pytest.mark.parametrize("share", [1.0, 0.25])
@pytest.mark.parametrize("targets", [1, 5])
def test_the_advised_rows_have_the_power_and_one_fewer_has_not(share, targets):
    plan = [planned(share=share), planned(margin=0.02, discordance=0.01)]
    rows = texts_for_power(plan, targets=targets)
    assert joint_power(plan, rows, targets=targets) >= 0.8
    assert joint_power(plan, rows - 1, targets=targets) < 0.8


def test_a_pilot_of_partial_scores_counts_for_more_texts_than_it_has():
    ids = [str(text) for text in range(40)]
    quarters = np.tile([0.25, -0.25], 20)
    pilot = planned_from("any", quarters, np.zeros(40), ids, margin=0.05, rows=40)
    assert 1 < pilot.share < 4
    assert pilot.discordance == pytest.approx(0.25 + 2 / (40 * pilot.share))


def test_a_pilot_without_a_second_model_assumes_the_losses_seen():
    ids = [str(text) for text in range(40)]
    pilot = planned_from("any", [0] * 3 + [1] * 37, None, ids, margin=0.2, rows=80)
    assert (pilot.share, pilot.discordance, pilot.against_one) == (0.5, 0.2, True)


NONE = Undefined(reason="made up")


def endpoint(name, *, within=1.0, beyond=1.0, limit=-0.05):
    return Endpoint(name=name, estimate=NONE, limit=limit, p_within=within, p_beyond=beyond)


def one_verdict(*endpoints, **degenerate):
    (verdict,) = verdicts({"target": endpoints}, degenerate=degenerate)
    return verdict


def test_all_within_may_replace_whatever_is_not_judged():
    shown = endpoint("agreement", limit=None)
    verdict = one_verdict(endpoint("a", within=0.02), endpoint("b", within=0.001), shown)
    assert verdict.decision == "may replace"
    assert (verdict.open, verdict.not_judged) == ((), ("agreement",))


@pytest.mark.parametrize(("p_value", "decision"), [(0.012, "may not"), (0.013, "not shown")])
def test_beyond_is_corrected_over_endpoints(p_value, decision):
    verdict = one_verdict(endpoint("a", within=0.001), endpoint("b", beyond=p_value))
    assert verdict.decision == decision
    assert verdict.beyond == (("b",) if decision == "may not" else ())
    assert verdict.open == ("b",)


def test_beyond_and_within_are_corrected_over_targets():
    five = {str(target): [endpoint("a", within=0.01)] for target in range(5)}
    assert {one.decision for one in verdicts(five)} == {"not shown"}
    reason = verdicts(five)[0].reason
    assert reason.startswith("a, ")
    assert reason.endswith("is within alone, but not once corrected over the targets")
    surer = five | {"0": [endpoint("a", within=0.001)]}
    assert [one.decision for one in verdicts(surer)] == ["may replace"] + ["not shown"] * 4
    beyond = {str(target): [endpoint("a", beyond=0.006)] for target in range(5)}
    assert {one.decision for one in verdicts(beyond)} == {"not shown"}


def test_a_degenerate_target_never_may_replace():
    verdict = one_verdict(endpoint("a", within=0.001), target="it gives one answer")
    assert (verdict.decision, verdict.reason) == ("not shown", "it gives one answer")
    worse = one_verdict(endpoint("a", beyond=0.001), target="it gives one answer")
    assert worse.decision == "may not"


def test_nothing_judged_is_not_shown():
    for endpoints in ((), (endpoint("a", limit=None),)):
        verdict = one_verdict(*endpoints)
        assert (verdict.decision, verdict.reason) == ("not shown", "no endpoint is judged")
