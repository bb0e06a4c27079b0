"""Slices of the texts by hand: their estimates, their tests, and the worst of them."""

import pytest

from scope.estimation.audits import slice_numbers, slices_of
from scope.records import Example, Prediction, ScoredExample
from scope.statistics.intervals import mean_estimate
from scope.statistics.paired import benjamini_hochberg

LABELS = ("negative", "positive")


def scored(name, *probabilities, slices=(), tokens=()):
    example = Example(id=name, text=f"text {name}", slices=slices)
    answer = Prediction(probabilities=probabilities, tokens=tokens)
    return ScoredExample(example=example, reference=answer, targets=())


def test_a_text_lies_in_a_slice_of_label_confidence_and_each_column():
    rows = [
        scored("a", 0.25, 0.75, slices=("source: mail",)),
        scored("b", 0.96, 0.04),
        scored("c", 0.1, 0.9, slices=("source: web",)),
    ]
    assert slices_of(rows, LABELS) == {
        "source": {"a": "source: mail", "c": "source: web"},
        "the reference's label": {"a": "label = positive", "b": "label = negative"}
        | {"c": "label = positive"},
        "the reference's confidence": {
            "a": "reference's confidence ≤ 0.75",
            "b": "reference's confidence above 0.95",
            "c": "reference's confidence 0.75 to 0.95",
        },
    }


SOURCE = {
    "source": {f"e{place}": f"source: {'mail' if place < 4 else 'web'}" for place in range(8)}
}


def test_each_slice_has_its_mean_and_the_worst_an_interval_of_its_own_level(measured):
    values = {f"e{place}": value for place, value in enumerate([1, 1, 0.5, 1, 0, 0.5, 0, 0, 1])}
    parts, (test,) = slice_numbers([measured(values)], SOURCE, seed=0)
    # e8 lies in no slice.
    assert {one.subset: (one.estimate.value, one.estimate.n) for one in parts} == {
        "source: mail": (0.875, 4),
        "source: web": (0.125, 4),
    }
    assert all(one.values == one.example_ids == () for one in parts)
    worst = test.worst
    assert (test.grouping, worst.subset, worst.target) == ("source", "source: web", "student")
    assert worst.values == ()
    web = [f"e{place}" for place in range(4, 8)]
    assert worst.estimate == mean_estimate([0, 0.5, 0, 0], web, level=1 - 0.05 / 2)
    # Of the 70 ways to choose four texts, four have means as far apart.
    assert test.p_value == pytest.approx(4 / 70, abs=0.02)
    assert test.p_adjusted == test.p_value


def test_all_tests_are_adjusted_together_and_one_slice_is_no_test(measured):
    values = [{f"e{place}": float(place < 4) for place in range(8)}, {"e0": 1, "e1": 0}]
    rows = [
        measured(values[0]),
        measured(values[0], target="other"),
        measured(values[1], capability="synonym"),
    ]
    alike = {"length": {f"e{place}": f"length: {place % 2}" for place in range(8)}}
    parts, tests = slice_numbers(rows, SOURCE | alike, seed=0)
    # Both texts of synonym are mails, of two lengths.
    assert len(tests) == 5
    assert len(parts) == 4 + 4 + 1 + 2
    adjusted = benjamini_hochberg([one.p_value for one in tests])
    assert [one.p_adjusted for one in tests] == list(adjusted)


def test_the_primary_metric_is_sliced_alone(measured):
    values = {"e0": 1, "e7": 0}
    rows = [
        measured(values, "ood_agreement"),
        measured(values, "hard_scope"),
        measured(values, "concordance"),
        measured(values, "hard_scope", capability="casing"),
        measured({}, "concordance", capability="casing"),
        measured(values, "iid_agreement", capability=None),
    ]
    _, tests = slice_numbers(rows, SOURCE, seed=0)
    assert {(one.worst.metric, one.worst.capability) for one in tests} == {
        ("iid_agreement", None),
        ("concordance", "typo"),
        ("hard_scope", "casing"),
    }
