"""Hard- and Soft-SCoPE of a pool against a loop by hand and against the numbers of an audit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.estimation import invariant_pairs, measure
from scope.evidence.invariances import invariance_scores
from scope.metrics import METRICS
from scope.records import (
    Example,
    Perturbation,
    Prediction,
    ScoredExample,
    ScoredPerturbation,
)

HARD, SOFT = METRICS["hard_scope"], METRICS["soft_scope"].at(tolerance=0.1, cutoff=0.8)
LABELS = ("no", "maybe", "yes")


def prediction(row):
    return Prediction(probabilities=tuple(float(one) for one in row))


def asked(seed, *, models=4, examples=6, trials=2):
    """Examples and perturbations, scored by a reference and others."""
    generator = np.random.default_rng(seed)
    before = generator.dirichlet(np.ones(3), size=(examples, models))
    scored = [
        ScoredExample(
            example=Example(id=f"e{number}", text=f"text {number}"),
            reference=prediction(rows[0]),
            targets=tuple(map(prediction, rows[1:])),
        )
        for number, rows in enumerate(before)
    ]
    perturbed = []
    for number in range(examples):
        for trial in range(1, trials + 1):
            rows = 0.6 * before[number] + 0.4 * generator.dirichlet(np.ones(3), size=models)
            perturbed.append(
                ScoredPerturbation(
                    capability="typo",
                    perturbation=Perturbation(
                        example_id=f"e{number}", trial=trial, text=f"text {number}.{trial}"
                    ),
                    reference=prediction(rows[0]),
                    targets=tuple(map(prediction, rows[1:])),
                )
            )
    return scored, perturbed


def by_hand(scored, perturbed):
    """Mean Hard- and Soft-SCoPE of each target, and each example's part of them."""
    clean = {one.example.id: one for one in scored}
    rows = []
    for one in perturbed:
        original = clean[one.perturbation.example_id]
        if original.reference.label != one.reference.label:
            continue
        moved = np.subtract(original.reference.probabilities, one.reference.probabilities)
        for place, after in enumerate(one.targets):
            before = original.targets[place]
            apart = np.abs(np.subtract(before.probabilities, after.probabilities) - moved).sum()
            kept = float(before.label == after.label)
            soft = kept * min(1.0, max(0.0, (0.8 - apart) / 0.7))
            rows.append((one.perturbation.example_id, place, kept, soft))
    return rows


@given(st.integers(0, 10_000))
def test_values_are_means_over_pairs_and_parts_those_of_their_examples(seed):
    scored, perturbed = asked(seed)
    pairs = invariant_pairs("typo", scored, perturbed)
    # Examples without a pair, and one that no pair could belong to, in another order.
    units = ["e5", "e4", "other", "e0", "e1", "e2", "e3"]
    rows = by_hand(scored, perturbed)
    for metric, column in ((HARD, 2), (SOFT, 3)):
        found = invariance_scores(pairs, metric, units)
        if not rows:
            assert found is None
            continue
        assert np.isnan(found.values[0])
        for place in range(3):
            own = [row for row in rows if row[1] == place]
            assert found.values[place + 1] == pytest.approx(np.mean([row[column] for row in own]))
            for unit, part in zip(units, found.parts[place + 1], strict=True):
                of_unit = sum(row[column] for row in own if row[0] == unit)
                assert part == pytest.approx(of_unit / len(own))


def test_the_values_are_those_of_an_audit():
    scored, perturbed = asked(1, examples=20)
    pairs = invariant_pairs("typo", scored, perturbed)
    names = ["suspect", "one", "two"]
    numbers = measure(
        scored,
        perturbed,
        capabilities=["typo"],
        targets=names,
        labels=LABELS,
        soft_scope=SOFT,
        seed=0,
    )
    units = [one.example.id for one in scored]
    for metric in (HARD, SOFT):
        audited = {
            one.target: one.estimate.value
            for one in numbers.measurements
            if one.metric == str(metric) and one.subset is None
        }
        values = invariance_scores(pairs, metric, units).values[1:]
        assert values == pytest.approx([audited[name] for name in names])


def test_a_copy_of_the_reference_is_worth_1():
    scored, perturbed = asked(2)
    copies = [
        [type(one)(**{**fields(one), "targets": (one.reference, *one.targets[1:])}) for one in some]
        for some in (scored, perturbed)
    ]
    pairs = invariant_pairs("typo", *copies)
    for metric in (HARD, SOFT):
        found = invariance_scores(pairs, metric, [one.example.id for one in scored])
        assert found.values[1] == pytest.approx(1)


def fields(record):
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


def test_without_a_pair_that_leaves_the_reference_unmoved_there_is_no_such_evidence():
    scored, _ = asked(3)
    assert invariance_scores(invariant_pairs("typo", scored, []), HARD, ["e0"]) is None
