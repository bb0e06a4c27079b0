"""Which decisions of verdicts fail a gate."""

from types import SimpleNamespace

import pytest

from scope.jobs.gates import ReplacementGates
from scope.records.result import VerdictLine


def test_a_verdict_that_fails_is_not_hidden_by_another_on_the_same_model():
    lines = [VerdictLine("B for A", decision, "") for decision in ("may not", "may replace")]
    result = SimpleNamespace(verdict_lines=lambda: lines)
    judged = ReplacementGates(fail_on="not-shown").judged(None, result)
    assert judged == {"B for A": ("B for A: may not",)}


@pytest.mark.parametrize(
    ("fail_on", "failing"), [("beyond", {"may not"}), ("not-shown", {"may not", "not shown"})]
)
def test_a_gate_fails_the_decisions_that_it_names(fail_on, failing):
    for decision in ("may replace", "not shown", "may not"):
        lines = [VerdictLine("B for A", decision, "")]
        judged = ReplacementGates(fail_on=fail_on).judged(
            None, SimpleNamespace(verdict_lines=lambda found=lines: found)
        )
        assert bool(judged["B for A"]) == (decision in failing)
