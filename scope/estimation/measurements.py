"""Every estimate of an audit: over all examples, over parts of them, along the cutoff, by pairs.

The pairs are those of an original and a changed text on which the reference is invariant.
Differences between two targets are taken on the same examples and corrected for multiple tests.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scope.errors import ScopeError
from scope.estimation.pairs import AuditedPairs, measured
from scope.metrics.catalog import METRICS, Metric, parse_metric
from scope.metrics.consistency import accuracy_difference_values, agreement_values
from scope.records import (
    Curve,
    Difference,
    Estimate,
    Measurement,
    ScoredExample,
    Undefined,
)
from scope.statistics.intervals import mean_estimate
from scope.statistics.paired import (
    absolute,
    holm,
    paired_difference,
    resamples_for,
    sign_flip_p_value,
)

PRIMARY = ("iid_agreement", "concordance", "hard_scope")
"""The metrics of tests: agreement on unchanged texts, and on a capability the first of the others
that has values."""

PRIMARY_ON_CAPABILITIES = PRIMARY[1:]

CUTOFFS = tuple(round(0.1 * step, 1) for step in range(1, 21))
"""The cutoffs of the curve of Soft-SCoPE; L1 distances of two changes reach at most 4."""

NOTHING_INVARIANT = "the reference keeps its label on no pair"
MORE_SIMILAR = "more similar half"
"""The part of the kept pairs whose changed texts are at least as similar as the median."""

NO_HALF = "no pair is less similar than the median"
OF_TOKENS = "models are compared by their next token, which has no gold label"
_NO_LABELS = "no text of this run has a gold label"


def metrics_of_kept_pairs(soft_scope: Metric) -> tuple[Metric, ...]:
    """The metrics on kept pairs that every audit has."""
    return (METRICS["ood_agreement"], METRICS["hard_scope"], soft_scope)


def clean_measurements(
    examples: Sequence[ScoredExample], targets: Sequence[str], labels: Sequence[str]
) -> Iterator[Measurement]:
    """IID agreement and the gap in IID accuracy of each target.

    Tokens are not ``labels``: the predictions of language models are compared, and have no gold.
    """
    ids = [scored.example.id for scored in examples]
    # Labels are numbered; tokens are numbered by first occurrence.
    numbers: dict[int | str | float, int] = {index: index for index in range(len(labels))}
    reference = [numbers.setdefault(example.reference.choice, len(numbers)) for example in examples]
    gold = {label: index for index, label in enumerate(labels)}
    labelled = [index for index, scored in enumerate(examples) if scored.example.label in gold]
    gold_labels = [gold[examples[index].example.label or ""] for index in labelled]
    labelled_ids = [ids[index] for index in labelled]
    for position, name in enumerate(targets):
        predicted = [
            numbers.setdefault(example.targets[position].choice, len(numbers))
            for example in examples
        ]
        agreement = agreement_values(reference, predicted)
        estimate = mean_estimate(agreement, ids, empty="there is no example")
        yield measured(METRICS["iid_agreement"], name, estimate, ids, agreement)
        gaps = accuracy_difference_values(
            [reference[index] for index in labelled],
            [predicted[index] for index in labelled],
            gold_labels,
        )
        empty = _NO_LABELS if labels else OF_TOKENS
        gap = paired_difference(gaps, np.zeros_like(gaps), labelled_ids, empty=empty)
        yield measured(METRICS["iid_accuracy_gap"], name, absolute(gap), labelled_ids, gaps)


def pair_measurements(
    pairs: AuditedPairs,
    metrics: Sequence[Metric],
    targets: Sequence[str],
) -> Iterator[Measurement]:
    """Each metric of each target over all texts with kept pairs."""
    capability = pairs.capability
    for position, name in enumerate(targets):
        for metric in metrics:
            try:
                values, ids = pairs.by_text(metric, position)
            except ScopeError as error:
                # A plugin's metric costs no other number.
                reason = Undefined(reason=error.found)
                yield measured(metric, name, reason, capability=capability)
                continue
            estimate = mean_estimate(
                values, ids, low=metric.low, high=metric.high, empty=NOTHING_INVARIANT
            )
            yield measured(metric, name, estimate, ids, values, capability=capability)


def more_similar_half(
    pairs: AuditedPairs, metrics: Sequence[Metric], targets: Sequence[str]
) -> Iterator[Measurement]:
    """Each metric over the pairs of at least the median similarity.

    Pairs without a similarity are ignored; without any, nothing is yielded. Undefined if no pair is
    below the median: for one pair, and for equal similarities.
    """
    known = pairs.similarities[~np.isnan(pairs.similarities)]
    if not len(known):
        return
    middle = np.median(known)
    chosen = np.flatnonzero(pairs.similarities >= middle)
    for position, name in enumerate(targets):
        for metric in metrics:
            values, ids = pairs.by_text(metric, position, chosen)
            estimate = mean_estimate(values, ids, low=metric.low, high=metric.high)
            if not (known < middle).any():
                estimate = Undefined(reason=NO_HALF)
            half = measured(metric, name, estimate, capability=pairs.capability)
            yield replace(half, subset=MORE_SIMILAR)


def soft_scope_curves(
    pairs: AuditedPairs, metric: Metric, targets: Sequence[str]
) -> Iterator[Curve]:
    """Soft-SCoPE of each target along its cutoff, from the tolerance on."""
    chosen = metric.parameters["cutoff"]
    cutoffs = sorted({chosen, *(c for c in CUTOFFS if c >= metric.parameters["tolerance"])})
    for position, name in enumerate(targets):
        estimates = (
            mean_estimate(*pairs.by_text(metric.at(cutoff=cutoff), position)) for cutoff in cutoffs
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


def corrected(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    """The differences with Holm-corrected p-values; those without one are unchanged."""
    tested = [row.p_value for row in differences if row.p_value is not None]
    adjusted = iter(holm(tested))
    return tuple(
        row if row.p_value is None else replace(row, p_adjusted=next(adjusted))
        for row in differences
    )


def target_differences(
    measurements: Sequence[Measurement], targets: Sequence[str], seed: int
) -> tuple[Difference, ...]:
    """First target minus second, metric by metric on the same examples; see `tested_differences`.

    The gap in accuracy is left out: the difference of two absolute values is not a mean. So are
    reach, which has no range, and base rate and excess, which are no claims on likeness.
    """
    left_out = ("iid_accuracy_gap", "reach", "base_rate", "excess", "changed_accuracy")
    untested = {str(METRICS[key]) for key in left_out}
    kept = [measurement for measurement in measurements if measurement.metric not in untested]
    by_key = {(row.target, row.capability, row.metric): row for row in kept}
    keys = dict.fromkeys((row.capability, row.metric) for row in kept)
    pairs = [
        (by_key[first, *key], by_key[second, *key])
        for key in keys
        for first, second in combinations(targets, 2)
    ]
    rows = [
        Compared(
            first,
            second,
            (first.values, second.values, first.example_ids),
            first.estimate.reason if isinstance(first.estimate, Undefined) else "",
        )
        for first, second in pairs
        # A metric that fails on one target has no values there.
        if first.example_ids == second.example_ids
    ]
    return tested_differences(rows, seed)


class Compared(NamedTuple):
    """Two measurements on the same examples.

    ``both`` has the values of the first and the second, and the example of each. ``empty`` is the
    reason where there are none.
    """

    first: Measurement
    second: Measurement
    both: tuple[ArrayLike, ArrayLike, Sequence[str]]
    empty: str


def tested_differences(rows: Sequence[Compared], seed: int) -> tuple[Difference, ...]:
    """First minus second; one metric a capability and pair of targets is tested, Holm-corrected.

    It is the first of `PRIMARY` that has values. The others describe and have no p-value. The
    number of tests decides that of the resamples: see `resamples_for`.
    """
    keyed = [((a.capability, a.target, b.target), a.metric, both[2]) for a, b, both, _ in rows]
    tested = primary(keyed)
    resamples = dict.fromkeys(tested, resamples_for(len(tested)))
    return corrected(
        [
            difference(
                *row[:3],
                seed,
                empty=row.empty,
                width=metric_width(row.first.metric),
                resamples=resamples.get(place),
            )
            for place, row in enumerate(rows)
        ]
    )


def primary(rows: Sequence[tuple[Hashable, str, Sequence[object]]]) -> list[int]:
    """The places of the rows to test: of each key the first metric of `PRIMARY` with values."""
    tested: dict[Hashable, int] = {}
    for wanted in PRIMARY:
        for place, (key, metric, values) in enumerate(rows):
            if metric == wanted and values:
                tested.setdefault(key, place)
    return list(tested.values())


def difference(
    first: Measurement,
    second: Measurement,
    both: tuple[ArrayLike, ArrayLike, Sequence[str]],
    seed: int,
    *,
    empty: str,
    width: float = 1.0,
    resamples: int | None = 9999,
) -> Difference:
    """First measurement minus second, tested paired; not corrected for other tests.

    ``both`` and ``empty`` are as for `Compared`; ``width`` is that of the metric's range. Without
    ``resamples`` there is no p-value.
    """
    estimate = paired_difference(*both, width=width, empty=empty)
    p_value = None
    if resamples and isinstance(estimate, Estimate):
        generator = np.random.default_rng(seed)
        p_value = sign_flip_p_value(*both, generator, width=width, resamples=resamples)
    return Difference(
        metric=first.metric,
        capability=first.capability,
        first=first.target,
        second=second.target,
        estimate=estimate,
        p_value=p_value,
    )


def metric_width(spelling: str) -> float:
    """The width of a metric's range: no two values of it are further apart."""
    metric = parse_metric(spelling)
    return metric.high - metric.low
