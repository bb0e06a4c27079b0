"""Every estimate of an audit: over all examples, over parts of them, and along the cutoff."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from scope.estimation.pairs import InvariantPairs
from scope.metrics import (
    METRICS,
    Metric,
    accuracy_difference_values,
    iid_agreement_values,
)
from scope.records import Curve, Estimate, Measurement, ScoredExample
from scope.statistics import absolute, mean_estimate, paired_difference

CUTOFFS = tuple(round(0.1 * step, 1) for step in range(1, 21))
"""The cutoffs of the curve of Soft-SCoPE; L1 distances of two changes reach at most 4."""

CONFIDENCES = ((0.0, 0.75), (0.75, 0.95), (0.95, 1.0))
"""Bands of the reference's confidence in the original text, each up to its end."""

NOTHING_INVARIANT = "the reference is invariant on no pair"
_NO_LABELS = "no example has a gold label"


def clean_measurements(
    examples: Sequence[ScoredExample], targets: Sequence[str], labels: Sequence[str]
) -> Iterator[Measurement]:
    """IID agreement and the gap in IID accuracy of each target.

    Tokens are not ``labels``: the predictions of language models are compared, and have no gold.
    """
    ids = [scored.example.id for scored in examples]
    # Labels are numbered; tokens are numbered by first occurrence.
    numbers: dict[int | str, int] = {index: index for index in range(len(labels))}
    reference = [numbers.setdefault(one.reference.choice, len(numbers)) for one in examples]
    gold = {label: index for index, label in enumerate(labels)}
    labelled = [index for index, scored in enumerate(examples) if scored.example.label in gold]
    gold_labels = [gold[examples[index].example.label or ""] for index in labelled]
    for position, name in enumerate(targets):
        predicted = [
            numbers.setdefault(one.targets[position].choice, len(numbers)) for one in examples
        ]
        agreement = iid_agreement_values(reference, predicted)
        yield Measurement(
            metric=str(METRICS["iid_agreement"]),
            target=name,
            estimate=mean_estimate(agreement, ids, empty="there is no example"),
            example_ids=tuple(ids),
            values=tuple(agreement.tolist()),
        )
        gaps = accuracy_difference_values(
            [reference[index] for index in labelled],
            [predicted[index] for index in labelled],
            gold_labels,
        )
        labelled_ids = [ids[index] for index in labelled]
        yield Measurement(
            metric=str(METRICS["iid_accuracy_gap"]),
            target=name,
            estimate=absolute(
                paired_difference(gaps, np.zeros_like(gaps), labelled_ids, empty=_NO_LABELS)
            ),
            example_ids=tuple(labelled_ids),
            values=tuple(gaps.tolist()),
        )


def pair_measurements(
    pairs: InvariantPairs, metrics: Sequence[Metric], targets: Sequence[str]
) -> Iterator[Measurement]:
    """Each metric of each target over all invariant pairs."""
    for position, name in enumerate(targets):
        for metric in metrics:
            values = pairs.values(metric, position)
            yield Measurement(
                metric=str(metric),
                target=name,
                capability=pairs.capability,
                estimate=mean_estimate(
                    values,
                    pairs.example_ids,
                    low=metric.low,
                    high=metric.high,
                    empty=NOTHING_INVARIANT,
                ),
                example_ids=pairs.example_ids,
                values=tuple(values.tolist()),
            )


def subset_measurements(
    pairs: InvariantPairs, targets: Sequence[str], labels: Sequence[str]
) -> Iterator[Measurement]:
    """Hard-SCoPE by the reference's predicted label, and in bands of its confidence.

    Without ``labels``, as for language models, in bands alone. The values are a subset of those of
    the whole and are not stored again.
    """
    confidence = pairs.confidences()
    predicted = pairs.reference[0].argmax(axis=1) if len(pairs.example_ids) else confidence
    parts = {f"label = {label}": predicted == index for index, label in enumerate(labels)} | {
        _band(low, high): (confidence > low) & (confidence <= high) for low, high in CONFIDENCES
    }
    for position, name in enumerate(targets):
        values = pairs.values(METRICS["hard_scope"], position)
        for subset, chosen in parts.items():
            if chosen.any():
                yield Measurement(
                    metric=str(METRICS["hard_scope"]),
                    target=name,
                    capability=pairs.capability,
                    subset=subset,
                    estimate=mean_estimate(
                        values[chosen], [pairs.example_ids[i] for i in np.flatnonzero(chosen)]
                    ),
                )


def _band(low: float, high: float) -> str:
    if high == 1.0:
        return f"reference's confidence above {low}"
    return f"reference's confidence {low} to {high}" if low else f"reference's confidence ≤ {high}"


def soft_scope_curves(
    pairs: InvariantPairs, metric: Metric, targets: Sequence[str]
) -> Iterator[Curve]:
    """Soft-SCoPE of each target along its cutoff, from the tolerance on."""
    chosen = metric.parameters["cutoff"]
    cutoffs = sorted({chosen, *(c for c in CUTOFFS if c >= metric.parameters["tolerance"])})
    for position, name in enumerate(targets):
        estimates = (
            mean_estimate(pairs.values(metric.at(cutoff=cutoff), position), pairs.example_ids)
            for cutoff in cutoffs
        )
        points = tuple(
            (cutoff, estimate)
            for cutoff, estimate in zip(cutoffs, estimates, strict=True)
            if isinstance(estimate, Estimate)
        )
        if points:
            yield Curve(
                metric=str(metric),
                parameter="cutoff",
                target=name,
                capability=pairs.capability,
                points=points,
            )
