"""Which decisions of verdicts fail a gate."""

from types import SimpleNamespace

import pytest

from scope.jobs.gates import ReplacementGates
from scope.records.result import VerdictLine


def failures(fail_on, *decisions):
    """Why a model with verdicts of these decisions fails the gate."""
    lines = [VerdictLine("B for A", decision, "") for decision in decisions]
    result = SimpleNamespace(verdict_lines=lambda: lines)
    return ReplacementGates(fail_on=fail_on).judged(None, result)["B for A"]


def test_a_verdict_that_fails_is_not_hidden_by_another_on_the_same_model():
    assert failures("not-shown", "may not", "may replace") == ("B for A: may not",)


@pytest.mark.parametrize(
    ("fail_on", "failing"), [("beyond", {"may not"}), ("not-shown", {"may not", "not shown"})]
)
def test_a_gate_fails_the_decisions_that_it_names(fail_on, failing):
    decisions = ("may replace", "not shown", "may not")
    assert {decision for decision in decisions if failures(fail_on, decision)} == failing
