import pytest

from scope.records import Endpoint, Undefined
from scope.statistics.replacement import verdicts

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


def test_one_endpoint_that_is_not_shown_is_enough():
    verdict = one_verdict(endpoint("a", within=0.001), endpoint("b", within=0.03))
    assert (verdict.decision, verdict.open) == ("not shown", ("b",))


@pytest.mark.parametrize(("p_value", "decision"), [(0.012, "may not"), (0.013, "not shown")])
def test_beyond_is_corrected_over_endpoints(p_value, decision):
    verdict = one_verdict(endpoint("a", within=0.001), endpoint("b", beyond=p_value))
    assert verdict.decision == decision
    assert verdict.beyond == (("b",) if decision == "may not" else ())
    assert verdict.open == ("b",)


def test_beyond_and_within_are_corrected_over_targets():
    five = {str(target): [endpoint("a", within=0.01)] for target in range(5)}
    assert {one.decision for one in verdicts(five)} == {"not shown"}
    assert verdicts(five)[0].reason == "a is within alone, but not once corrected over the targets"
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


def test_no_target_has_no_verdict():
    assert verdicts({}) == ()
