"""The metrics on random candidates, on predictions made by hand, and against a slow oracle."""

import math
from itertools import combinations
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scope.estimation.audits import measure
from scope.estimation.pairs import NO_FLIP, NO_MATCH, NO_MOVE, ScoredCandidates
from scope.metrics.catalog import METRICS
from scope.records import (
    Estimate,
    Example,
    Perturbation,
    Prediction,
    ScoredExample,
    ScoredPerturbation,
    Undefined,
)

LABELS = ("negative", "positive")


def answer(positive):
    return Prediction(probabilities=(1 - positive, positive))


def measurements(clean, drawn, kept=(), **candidates):
    """Those of rows (example, number, reference's and target's share of positive)."""

    def scored(rows):
        return [
            ScoredPerturbation(
                capability="typo",
                perturbation=Perturbation(example_id=id_, trial=number, text=f"{id_} {number}"),
                reference=one,
                targets=(other,),
            )
            for id_, number, *both in rows
            for one, other in [[x if isinstance(x, Prediction) else answer(x) for x in both]]
        ]

    examples = [
        ScoredExample(example=Example(id=id_, text=id_), reference=one, targets=(other,))
        for id_, both in clean.items()
        for one, other in [[x if isinstance(x, Prediction) else answer(x) for x in both]]
    ]
    return measure(
        examples,
        scored(kept),
        ScoredCandidates(scored=scored(drawn), **candidates),
        capabilities=["typo"],
        targets=["target"],
        reference="reference",
        labels=LABELS,
        soft_scope=METRICS["soft_scope"],
        seed=0,
    ).measurements


def audit(*rows, **candidates):
    """The measurements of all texts, by metric and model."""
    return {
        (one.metric, one.target): one
        for one in measurements(*rows, **candidates)
        if one.capability and one.subset is None
    }


def estimate(found, metric, name="target"):
    return found[metric, name].estimate


BY_HAND = {"a": (0.2, 0.2), "b": (0.2, 0.8)}
DRAWN = [
    ("a", 1, 0.3, 0.3),
    ("a", 2, 0.6, 0.7),
    ("a", 3, 0.2, 0.6),
    ("a", 4, 0.1, 0.2),
    ("b", 1, 0.9, 0.9),
    ("b", 2, 0.2, 0.3),
]


def test_a_case_by_hand():
    # a: the target orders five of six pairs as the reference, not 1 and 3; candidate 2 flips the
    # reference and the target follows; of the kept ones 1, 3 and 4 it keeps 1 and 4. b: its label
    # differs before.
    kept = [("a", 1, 0.2, 0.3), ("a", 2, 0.2, 0.6), ("b", 1, 0.2, 0.8)]
    found = audit(BY_HAND, DRAWN, kept=kept)
    assert found["concordance", "target"].values == pytest.approx((5 / 6, 1))
    assert found["concordance", "target"].example_ids == ("a", "b")
    assert (estimate(found, "flip_scope").value, estimate(found, "flip_scope").n) == (1, 1)
    assert estimate(found, "informedness").value == pytest.approx(2 / 3)
    assert estimate(found, "base_rate").value == pytest.approx(3 / 6)
    # A text counts once, however many trials it has.
    assert estimate(found, "base_rate", "reference").value == pytest.approx((3 / 4 + 1 / 2) / 2)
    assert estimate(found, "hard_scope").value == pytest.approx((1 / 2 + 1) / 2)
    assert found["hard_scope", "target"].values == (0.5, 1)
    assert estimate(found, "excess").value == pytest.approx((1 / 2 - 2 / 4 + 1 - 1 / 2) / 2)
    assert estimate(found, "excess").n == 2


def test_the_parts_of_informedness_add_up_to_it():
    found = measurements({"a": (0.2, 0.2)}, DRAWN[:4])
    (whole,) = (one for one in found if one.metric == "informedness")
    parts = [one for one in found if one.subset and one.subset.startswith("random")]
    assert len(parts) == 2
    assert sum(one.estimate.value for one in parts) - 1 == pytest.approx(whole.estimate.value)


def test_the_reference_itself_has_the_greatest_of_everything():
    same = [(*row[:3], row[2]) for row in DRAWN]
    found = audit({"a": (0.2, 0.2), "b": (0.2, 0.2)}, same)
    for metric in ("concordance", "reach", "flip_scope", "informedness"):
        assert estimate(found, metric).value == pytest.approx(1)


def test_a_model_that_never_moves_has_a_half_and_no_reach():
    still = [(*row[:3], 0.2) for row in DRAWN]
    found = audit({"a": (0.2, 0.2), "b": (0.2, 0.2)}, still, kept=[("a", 1, 0.2, 0.2)])
    wanted = {"concordance": 0.5, "reach": 0, "flip_scope": 0, "informedness": 0, "excess": 0}
    assert {metric: estimate(found, metric).value for metric in wanted} == wanted


def test_labels_alone_leave_concordance_and_reach_undefined_and_keep_the_flips():
    clean = {id_: (one, round(other)) for id_, (one, other) in BY_HAND.items()}
    found = audit(clean, [(*row[:3], round(row[3])) for row in DRAWN])
    for metric in ("concordance", "reach"):
        assert estimate(found, metric).reason == "target gives labels without probabilities"
    assert estimate(found, "flip_scope").value == 1


def test_next_tokens_are_compared_by_the_two_first():
    def token(first, second, rest="x"):
        return Prediction(probabilities=(first, second, 0.01), tokens=("a", "b", rest))

    clean = {"t": (token(0.6, 0.2), token(0.5, 0.3, "y"))}
    drawn = [
        ("t", 1, token(0.5, 0.3), token(0.4, 0.3, "y")),
        ("t", 2, token(0.7, 0.1), token(0.6, 0.2, "z")),
    ]
    found = audit(clean, drawn)
    assert estimate(found, "concordance").value == 1
    reference = [math.log(0.3 / 0.5) - math.log(0.2 / 0.6), math.log(0.1 / 0.7) - math.log(1 / 3)]
    target = [math.log(0.3 / 0.4) - math.log(0.3 / 0.5), math.log(0.2 / 0.6) - math.log(0.3 / 0.5)]
    # The greater of two moves weighs as much as their 80th percentile.
    weight = np.minimum(1, np.quantile(np.abs(reference), 0.8) / np.abs(reference))
    slope = (weight**2 * reference * target).sum() / (weight**2 * np.square(reference)).sum()
    assert found["reach", "target"].values == pytest.approx([slope])
    assert estimate(found, "reach").reason == "fewer than 2 examples"


@pytest.mark.parametrize(
    ("metric", "drawn", "reason"),
    [
        ("reach", [("a", 1, 0.2, 0.5)], NO_MOVE),
        ("flip_scope", [("a", 1, 0.2, 0.5)], NO_FLIP),
        ("informedness", [("a", 1, 0.8, 0.8)], NO_MATCH),
    ],
)
def test_too_little_is_undefined_with_a_reason(metric, drawn, reason):
    assert estimate(audit(BY_HAND, drawn), metric) == Undefined(reason=reason)


probability = st.floats(0.01, 0.99)


@given(
    st.lists(
        st.tuples(probability, probability, st.lists(st.tuples(probability, probability))),
        min_size=1,
        max_size=4,
    )
)
def test_every_value_is_that_of_a_slow_count(texts):
    clean = {str(place): text[:2] for place, text in enumerate(texts)}
    drawn = [
        (str(place), number, *both)
        for place, text in enumerate(texts)
        for number, both in enumerate(text[2], start=1)
    ]
    found = audit(clean, drawn)
    orders, flips = [], []
    for one, other, candidates in texts:
        sign = 1 if one <= 0.5 else -1
        moved = [
            [
                sign * (math.log(z / (1 - z)) - math.log(x / (1 - x)))
                for z, x in ((a, one), (b, other))
            ]
            for a, b in candidates
        ]
        values = [
            0.5
            if abs(second[1] - first[1]) < 1e-6
            else float((second[1] > first[1]) == (second[0] > first[0]))
            for first, second in combinations(moved, 2)
            if round(abs(second[0] - first[0]), 9) >= 0.1
        ]
        orders += [fmean(values)] if values else []
        followed = [
            float((b > 0.5) == (a > 0.5))
            for a, b in candidates
            if (a > 0.5) != (one > 0.5) and (one > 0.5) == (other > 0.5)
        ]
        flips += [fmean(followed)] if followed else []
    for metric, slow in (("concordance", orders), ("flip_scope", flips)):
        assert list(found[metric, "target"].values) == pytest.approx(slow)
        assert isinstance(estimate(found, metric), Estimate) == bool(slow)
