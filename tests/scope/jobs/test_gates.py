"""Gates are judged on the worse side of the interval; what is not carried by evidence fails."""

import dataclasses
from types import SimpleNamespace

import pytest
from kept_results import kept

from scope.errors import SpecError
from scope.jobs.gates import ReplacementGates, failed_gates, parse_gate
from scope.records import (
    AnswerShares,
    CompareResult,
    Estimate,
    Measurement,
    Outcome,
    TaskShares,
    Undefined,
)
from scope.records.result import VerdictLine


def estimate(value, low, high, n=60):
    return Estimate(value=value, low=low, high=high, n=n, method="made up")


def measured(target="student", capability="typo", *, found=None, values=(), metric="hard_scope"):
    return Measurement(
        metric=metric,
        target=target,
        capability=capability,
        estimate=estimate(0.949, 0.884, 0.979) if found is None else found,
        example_ids=tuple(map(str, range(len(values)))),
        values=tuple(values),
    )


@pytest.fixture
def comparison():
    """Makes a comparison with these measurements."""

    def make(*measurements, shares=()):
        whole = kept("audit")
        measured = tuple(one for one in whole.outcomes if one.status == "measured")
        return dataclasses.replace(
            whole, outcomes=measured, measurements=measurements, answer_shares=tuple(shares)
        )

    return make


def told(comparison, gate, on="interval"):
    return list(failed_gates(comparison, [gate], judged_on=on))


SHARE = measured(found=estimate(0.96, 0.884, 0.979))
GAP = measured(capability=None, found=estimate(0.03, 0.0, 0.06), metric="iid_accuracy_gap")
UNKNOWN = measured(found=Undefined(reason="the reference keeps its label on no pair"))
THREE = [
    measured(found=estimate(0.5, 0.4, 0.6)),
    measured("teacher"),
    measured("student", "synonym"),
]
LOW = "hard_scope of student on typo is 0.960 [0.884, 0.979], n=60, not at least 0.95 by its lower"


@pytest.mark.parametrize(
    ("rows", "gate", "on", "failure"),
    [
        ([SHARE], "hard_scope>=0.95", "interval", LOW),
        ([SHARE], "hard_scope>=0.95", "value", None),
        ([SHARE], "hard_scope>=0.884", "interval", None),
        ([GAP], "iid_accuracy_gap<=0.06", "interval", None),
        ([GAP], "iid_accuracy_gap<=0.05", "interval", "not at most 0.05 by its upper bound"),
        ([UNKNOWN], "hard_scope>=0", "interval", "keeps its label on no pair"),
        ([UNKNOWN], "hard_scope>=0", "value", "keeps its label on no pair"),
        # Brackets choose what is judged.
        (THREE, "hard_scope[typo,student]>=0.7", "interval", "of student on typo"),
        (THREE, "hard_scope[student]>=0.7", "interval", "of student on typo"),
        (THREE, "hard_scope[teacher]>=0.7", "interval", None),
        (THREE, "hard_scope[synonym]>=0.7", "interval", None),
        (THREE, "hard_scope[typo,teacher]>=0.7", "interval", None),
    ],
)
def test_a_number_fails_by_the_worse_end_of_its_interval(comparison, rows, gate, on, failure):
    lines = told(comparison(*rows), gate, on)
    assert [failure in line for line in lines] == [True] * (failure is not None)


@pytest.mark.parametrize(
    ("gate", "lacks"),
    [
        ("hard_scope[synonym,student]>=0.1", "all the names in the brackets"),
        ("soft_scope>=0.1", "this metric"),
    ],
)
def test_a_gate_on_what_was_not_measured_fails(comparison, gate, lacks):
    (line,) = told(comparison(measured()), gate)
    assert line.startswith(f"{gate}: no measurement has {lacks}; there is hard_scope, of ")


def test_a_name_that_the_result_lacks_is_refused(comparison):
    with pytest.raises(SpecError, match="`tpyo` in the") as raised:
        told(comparison(measured()), "hard_scope[tpyo]>=0.1")
    assert "student" in raised.value.expected


@pytest.mark.parametrize(
    ("gate", "told_of"),
    [
        ("hard_scope>=0", ["negation"]),
        ("hard_scope[student]>=0", ["negation"]),
        ("hard_scope[negation]>=0", ["negation"]),
        ("hard_scope[typo]>=0", []),
        ("iid_agreement>=0", []),
    ],
)
def test_what_failed_passes_no_gate_that_does_not_leave_it_out(comparison, gate, told_of):
    clean = dataclasses.replace(measured(metric="iid_agreement"), capability=None)
    one = comparison(measured(), clean)
    failed = Outcome(capability="negation", status="failed", reason="it broke")
    both = dataclasses.replace(one, outcomes=(*one.outcomes, failed))
    lines = [line for line in told(both, gate) if line.endswith("failed and has no number")]
    never = dataclasses.replace(failed, status="not applicable", reason="no word")
    others = told(dataclasses.replace(one, outcomes=(*one.outcomes, never)), gate)
    assert [line.replace("is not applicable to any text", "failed") for line in others] == told(
        both, gate
    )
    assert [line.split()[1] for line in lines] == told_of


def test_every_gate_on_a_degenerate_model_fails(comparison):
    dead = AnswerShares(
        model="student", counts={"good": 9}, accuracy=Undefined(reason=""), degenerate="one answer"
    )
    one = comparison(measured(), measured("teacher"), shares=[dead])
    for on in ("interval", "value"):
        assert told(one, "hard_scope>=0", on) == [
            "hard_scope of student on typo: student is degenerate: one answer"
        ]


@pytest.mark.parametrize(
    ("target", "against", "fails"),
    [("a", "(gold)", False), ("dead", "(gold)", True), ("a", "dead", True), ("a", "b", False)],
)
def test_every_gate_on_a_model_that_is_degenerate_on_a_task_fails(
    comparison, target, against, fails
):
    dead = TaskShares(
        task="choice",
        model="dead",
        counts={"A": 9},
        asked=9,
        accuracy=Undefined(reason=""),
        degenerate="one answer",
    )
    one = measured(target, "choice", found=estimate(1.0, 1.0, 1.0), metric="agreement")
    rows = tuple(
        dataclasses.replace(one, capability=task, against=against) for task in ("choice", "cloze")
    )
    whole = CompareResult(
        manifest=comparison(*rows).manifest,
        outcomes=(),
        measurements=rows,
        differences=(),
        tasks=(),
        task_shares=(dead,),
    )
    lines = told(whole, "agreement>=0.5")
    assert len(lines) == fails
    assert all("on choice: dead is degenerate: one answer" in line for line in lines)


def between(target, reference, value, values=()):
    found = measured(target, found=estimate(value, value - 0.05, value + 0.05), values=values)
    return dataclasses.replace(found, against=reference)


def test_of_two_models_in_brackets_the_second_is_the_reference(comparison):
    one = comparison(between("a", "b", 0.9), between("b", "a", 0.5), between("c", "a", 0.4))
    assert told(one, "hard_scope[typo,a,b]>=0.8") == []
    (failure,) = told(one, "hard_scope[typo,b,a]>=0.8")
    assert failure.startswith("hard_scope of b against a on typo is 0.500")
    assert len(told(one, "hard_scope>=0.8")) == 2


@pytest.mark.parametrize("model", ["student", "teacher"])
@pytest.mark.parametrize(("counts", "passes"), [({"a": 4}, False), ({"a": 3, "b": 1}, True)])
def test_one_answer_to_fewer_than_five_texts_passes_no_gate(comparison, model, counts, passes):
    reference = comparison().manifest.reference.name
    name = reference if model == "teacher" else model
    shares = AnswerShares(model=name, counts=counts, accuracy=Undefined(reason=""))
    lines = told(comparison(measured(), shares=[shares]), "hard_scope>=0.1")
    expected = f"hard_scope of student on typo: {name} gives a single answer (n = 4); whether"
    assert lines == [] if passes else lines[0].startswith(expected)


def test_fail_under_is_the_same_as_a_lower_bound():
    assert parse_gate("hard_scope=0.9", fail_under=True).bound == 0.9


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
