"""From predictions to every number of an audit: estimates, differences, slices, curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from scope.estimation.answer_shares import shares_of_models as shares_of_models
from scope.estimation.measurements import (
    MORE_SIMILAR as MORE_SIMILAR,
    PRIMARY_ON_CAPABILITIES as PRIMARY_ON_CAPABILITIES,
    clean_measurements,
    metrics_of_kept_pairs as metrics_of_kept_pairs,
    more_similar_half,
    pair_measurements,
    primary,
    soft_scope_curves,
    target_differences,
)
from scope.estimation.pairs import (
    ScoredCandidates as ScoredCandidates,
    Values,
    candidate_measurements,
    invariant_pairs,
    random_changes as random_changes,
    texts_that_count as texts_that_count,
)
from scope.metrics.catalog import Metric
from scope.records import (
    Curve,
    Difference,
    Estimate,
    Measurement,
    ScoredExample,
    ScoredPerturbation,
    SliceTest,
    are_clustered,
    unit_of,
)
from scope.statistics.between_models import heterogeneity_p_value
from scope.statistics.intervals import mean_estimate
from scope.statistics.paired import benjamini_hochberg, resamples_for


class Numbers(NamedTuple):
    """Everything that is estimated in an audit."""

    measurements: tuple[Measurement, ...]
    differences: tuple[Difference, ...]
    curves: tuple[Curve, ...]
    slice_tests: tuple[SliceTest, ...]


def measure(
    examples: Sequence[ScoredExample],
    perturbations: Sequence[ScoredPerturbation],
    candidates: ScoredCandidates | None = None,
    *,
    capabilities: Sequence[str],
    targets: Sequence[str],
    reference: str = "",
    baseline: str | None = None,
    labels: Sequence[str],
    soft_scope: Metric,
    more: Sequence[Metric] = (),
    seed: int,
) -> Numbers:
    """Estimate every metric of every target: over all examples, in parts, and along the cutoff.

    Parameters
    ----------
    examples, perturbations
        Scored by the reference and, in their order, by the ``targets``.
    candidates
        Random candidates; None in an audit without.
    capabilities
        Those that were measured.
    reference
        The name of the reference, whose base rate is measured, too.
    baseline
        The name of the target that the others are compared with, if there is one.
    labels
        The reference's label names, in the order of the probabilities.
    soft_scope
        Soft-SCoPE with its tolerance and cutoff.
    more
        Further metrics on pairs.
    seed
        Of the permutations behind the p-values.
    """
    metrics = (*metrics_of_kept_pairs(soft_scope), *more)
    all_pairs = [invariant_pairs(name, examples, perturbations) for name in capabilities]
    whole = list(clean_measurements(examples, targets, labels))
    texts = (scored.example for scored in examples)
    gold = {text.id: labels.index(text.label) for text in texts if text.label in labels}
    for pairs in all_pairs:
        whole += pair_measurements(pairs, metrics, targets)
        if candidates is not None:
            names = (reference, *targets)
            whole += candidate_measurements(pairs, examples, candidates, names, gold)
    parts = [
        part for pairs in all_pairs for part in more_similar_half(pairs, metrics[1:3], targets)
    ]
    # Hard- and Flip-SCoPE on the trials that informedness takes are parts as well.
    matched = [measurement for measurement in whole if measurement.subset is not None]
    whole = [measurement for measurement in whole if measurement.subset is None]
    sliced, tests = slice_numbers(whole, slices_of(examples, labels), seed)
    return Numbers(
        measurements=(*whole, *matched, *parts, *sliced),
        differences=(
            *target_differences(whole, targets, seed),
            *between_capabilities(whole, targets, (reference, baseline), seed),
        ),
        curves=tuple(
            curve for pairs in all_pairs for curve in soft_scope_curves(pairs, soft_scope, targets)
        ),
        slice_tests=tests,
    )


Slices = Mapping[str, Mapping[str, str]]
"""By the name of a grouping, and by the id of a text, the slice that the text belongs to."""


def slices_of(examples: Sequence[ScoredExample], labels: Sequence[str]) -> Slices:
    """The slices by the reference's label, by bands of its confidence, and by columns of the data.

    Language models have no label. A text without a value in a column belongs to none of its slices.
    """
    slices: dict[str, dict[str, str]] = {}
    for scored in examples:
        answer = scored.reference
        named = {slice_.partition(": ")[0]: slice_ for slice_ in scored.example.slices}
        if not answer.tokens:
            named["the reference's label"] = f"label = {labels[answer.label]}"
        named["the reference's confidence"] = _band(max(answer.probabilities))
        for grouping, name in named.items():
            slices.setdefault(grouping, {})[scored.example.id] = name
    return slices


def slice_numbers(
    measurements: Sequence[Measurement], slices: Slices, seed: int
) -> tuple[tuple[Measurement, ...], tuple[SliceTest, ...]]:
    """The primary metric of each target on each capability in every slice, and the tests.

    A grouping is tested where it has two slices. P-values are adjusted together by Benjamini and
    Hochberg's method; in clusters there is no test, as these may lie across slices. The values of a
    slice are a subset of those of the whole and are not stored again.
    """
    keyed = [
        ((measurement.capability, measurement.target), measurement.metric, measurement.values)
        for measurement in measurements
    ]
    groups = [
        (grouping, _sliced(measurements[place], slice_of))
        for place in primary(keyed)
        for grouping, slice_of in slices.items()
    ]
    alone = not any(are_clustered(row.example_ids) for row in measurements)
    several = [group for group in groups if len(group[1]) > 1 and alone]
    tests = [_test(*group, seed, resamples_for(len(several))) for group in several]
    adjusted = benjamini_hochberg([test.p_value for test in tests])
    return (
        tuple(replace(part, example_ids=(), values=()) for _, parts in groups for part in parts),
        tuple(replace(test, p_adjusted=p) for test, p in zip(tests, adjusted, strict=True)),
    )


def _sliced(whole: Measurement, slice_of: Mapping[str, str]) -> list[Measurement]:
    """The measurement in each slice, in the order of their names; that of bands is their own."""
    rows: dict[str, list[int]] = {}
    for row, key in enumerate(whole.example_ids):
        if key in slice_of:
            rows.setdefault(slice_of[key], []).append(row)
    parts = []
    for name in sorted(rows, key=lambda name: name.replace("≤ ", "")):
        values = tuple(whole.values[row] for row in rows[name])
        ids = tuple(whole.example_ids[row] for row in rows[name])
        estimate = mean_estimate(values, ids)
        parts.append(replace(whole, subset=name, estimate=estimate, example_ids=ids, values=values))
    return parts


def _test(grouping: str, parts: Sequence[Measurement], seed: int, resamples: int) -> SliceTest:
    """Whether the slices differ, and the worst of them."""
    worst = min(parts, key=lambda part: np.mean(part.values))
    level = 1 - 0.05 / len(parts)
    estimate = mean_estimate(worst.values, worst.example_ids, level=level)
    generator, values = np.random.default_rng(seed), [part.values for part in parts]
    return SliceTest(
        grouping=grouping,
        worst=replace(worst, estimate=estimate, example_ids=(), values=()),
        p_value=heterogeneity_p_value(values, generator, resamples=resamples),
    )


def _band(confidence: float) -> str:
    """The band of the reference's confidence in a text, up to its end."""
    band = "above 0.95" if confidence > 0.95 else "0.75 to 0.95" if confidence > 0.75 else "≤ 0.75"
    return f"reference's confidence {band}"


RESAMPLES = 9999
MINUS = " minus "
"""Stands between the two capabilities in the name of their difference."""


def between_capabilities(
    measurements: Sequence[Measurement],
    targets: Sequence[str],
    others: tuple[str, str | None],
    seed: int,
) -> tuple[Difference, ...]:
    """Concordance on one capability minus that on another, of a target minus another model's.

    For the reference it is 0: it follows itself everywhere. The interval is a bootstrap over all
    texts or clusters that gives each a random weight, the same for both capabilities and models.
    Two made-up texts, on each of which the target follows one of the capabilities alone, leave it a
    width where no text differs. With k pairs of capabilities, each interval has level 1 - .05 / k.

    Parameters
    ----------
    measurements
        Those of concordance count, where they have values.
    targets
        Their names, the baseline's among them.
    others
        The reference, and the baseline if there is one.
    seed
        Of the weights.
    """
    rows = {
        (measurement.target, str(measurement.capability)): measurement
        for measurement in measurements
        if measurement.metric == "concordance" and measurement.values
    }
    texts = {key for row in rows.values() for key in row.example_ids}
    units = sorted(set(map(unit_of, texts)))
    weights = np.random.default_rng(seed).standard_exponential((RESAMPLES + 1, len(units) + 2))
    # The first row holds the texts as they are; those made up are a cluster of the mean size each.
    weights[0] = [1.0] * len(units) + [0.0] * 2
    weights[:, -2:] *= len(texts) / max(len(units), 1)
    sums = {}
    for key, row in rows.items():
        selected = weights[:, np.searchsorted(units, [*map(unit_of, row.example_ids)])]
        sums[key] = selected @ np.array(row.values), selected.sum(axis=1)
    pairs = list(combinations(dict.fromkeys(capability for _, capability in rows), 2))
    differences = []
    for target, pair, other in product(targets, pairs, filter(None, others)):
        models = (target,) if other == others[0] else (target, other)
        if target == other or not set(product(models, pair)) <= rows.keys():
            continue
        resampled = _difference([sums[target, part] for part in pair], weights[:, -2:])
        if other in models:
            resampled -= _difference([sums[other, part] for part in pair], 0 * weights[:, -2:])
        ids = {key for part in pair for key in rows[target, part].example_ids}
        differences.append(
            Difference(
                metric="concordance",
                capability=MINUS.join(pair),
                first=target,
                second=other,
                estimate=_estimate(resampled, len(ids), 1 - 0.05 / len(pairs)),
            )
        )
    return tuple(differences)


def _difference(sums: Sequence[tuple[Values, Values]], made_up: Values) -> Values:
    """First minus second in each resample; of two made-up texts each has one of them."""
    first, second = (
        (weighed + made_up[:, place]) / (total + made_up.sum(axis=1))
        for place, (weighed, total) in enumerate(sums)
    )
    return np.asarray(first - second)


def _estimate(resampled: Values, n: int, level: float) -> Estimate:
    """The first value, with the quantiles of the others."""
    value, tail = float(resampled[0]), (1 - level) / 2
    low, high = np.quantile(resampled[1:], [tail, 1 - tail]).tolist()
    # The made-up texts draw the interval towards 0, and the value must stay inside.
    low, high = min(low, value), max(high, value)
    return Estimate(value=value, low=low, high=high, n=n, level=level, method="bootstrap of texts")
