"""All within may replace; one beyond may not, corrected within the target."""

import pytest

from scope.records import Endpoint, Undefined
from scope.verdicts.decide import decide


def endpoint(name, *, within=1.0, beyond=1.0, limit=-0.05):
    none = Undefined(reason="made up")
    return Endpoint(name=name, estimate=none, limit=limit, p_within=within, p_beyond=beyond)


def decided(*endpoints, **degenerate):
    (verdict,) = decide({"target": endpoints}, degenerate=degenerate)
    return verdict


def test_all_within_may_replace_in_what_is_judged():
    parts = [endpoint(name, within=0.02) for name in ("accuracy", "keeps", "keeps on typo")]
    verdict = decided(*parts, endpoint("concordance", limit=None))
    assert verdict.decision == "may replace"
    assert verdict.may_replace_in == ("accuracy", "robustness")
    assert (verdict.open, verdict.not_judged) == ((), ("concordance",))


@pytest.mark.parametrize(
    ("p_value", "decision", "state"),
    [(0.012, "may not", "beyond"), (0.013, "not shown", "fails alone")],
)
def test_beyond_is_corrected_over_the_endpoints_of_the_target(p_value, decision, state):
    shown = endpoint("c", limit=None, beyond=0.001)
    verdict = decided(endpoint("a", within=0.001), shown, endpoint("b", beyond=p_value))
    assert (verdict.decision, verdict.endpoints[2].state) == (decision, state)
    assert verdict.endpoints[2].p_adjusted == pytest.approx(2 * p_value)
    assert verdict.beyond == (("b",) if decision == "may not" else ())
    assert (verdict.open, verdict.may_replace_in) == (("b",), ())


@pytest.mark.parametrize(
    ("p_values", "decision"),
    [({"within": 0.02}, "may replace"), ({"beyond": 0.02}, "may not"), ({}, "not shown")],
)
def test_a_verdict_does_not_depend_on_other_targets(p_values, decision):
    many = {str(target): [endpoint("a", **p_values)] for target in range(14)}
    assert {verdict.decision for verdict in decide(many)} == {decision}


def test_a_degenerate_target_never_may_replace():
    verdict = decided(endpoint("a", within=0.001), target="it gives one answer")
    assert (verdict.decision, verdict.reason) == ("not shown", "it gives one answer")
    worse = decided(endpoint("a", beyond=0.001), target="it gives one answer")
    assert worse.decision == "may not"


@pytest.mark.parametrize("endpoints", [(), (endpoint("a", limit=None),)])
def test_nothing_judged_is_not_shown(endpoints):
    verdict = decided(*endpoints)
    assert (verdict.decision, verdict.reason) == ("not shown", "no number is judged")
