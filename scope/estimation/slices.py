"""Where a target differs: the primary metric by slice of the texts, and whether slices differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from scope.estimation.measurements import primary
from scope.metrics import means_by_example
from scope.records import Measurement, ScoredExample, SliceTest
from scope.statistics import benjamini_hochberg, mean_estimate, resamples_for
from scope.statistics.between_models import heterogeneity_p_value

Slices = Mapping[str, Mapping[str, str]]
"""By the name of a grouping, and by the id of a text, the slice that the text belongs to."""


def slices_of(examples: Sequence[ScoredExample], labels: Sequence[str]) -> Slices:
    """The slices by the reference's label, by bands of its confidence, and by columns of the data.

    Language models have no label. A text without a value in a column belongs to none of its slices.
    """
    found: dict[str, dict[str, str]] = {}
    for scored in examples:
        answer = scored.reference
        named = {one.partition(": ")[0]: one for one in scored.example.slices}
        if not answer.tokens:
            named["the reference's label"] = f"label = {labels[answer.label]}"
        named["the reference's confidence"] = _band(max(answer.probabilities))
        for grouping, name in named.items():
            found.setdefault(grouping, {})[scored.example.id] = name
    return found


def slice_numbers(
    measurements: Sequence[Measurement], slices: Slices, seed: int
) -> tuple[tuple[Measurement, ...], tuple[SliceTest, ...]]:
    """The primary metric of each target on each capability in every slice, and the tests.

    A grouping is tested where it has two slices. P-values are adjusted together by Benjamini and
    Hochberg's method. The values of a slice are a subset of those of the whole and are not stored
    again.
    """
    keyed = [((one.capability, one.target), one.metric, one.values) for one in measurements]
    found = [
        (grouping, _sliced(measurements[place], slice_of))
        for place in primary(keyed)
        for grouping, slice_of in slices.items()
    ]
    several = [one for one in found if len(one[1]) > 1]
    tests = [_test(*one, seed, resamples_for(len(several))) for one in several]
    adjusted = benjamini_hochberg([one.p_value for one in tests])
    return (
        tuple(replace(one, example_ids=(), values=()) for _, parts in found for one in parts),
        tuple(replace(one, p_adjusted=p) for one, p in zip(tests, adjusted, strict=True)),
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
    worst = min(parts, key=lambda one: np.mean(one.values))
    level = 1 - 0.05 / len(parts)
    estimate = mean_estimate(worst.values, worst.example_ids, level=level)
    means = [means_by_example(one.values, one.example_ids)[0] for one in parts]
    generator = np.random.default_rng(seed)
    return SliceTest(
        grouping=grouping,
        worst=replace(worst, estimate=estimate, example_ids=(), values=()),
        p_value=heterogeneity_p_value(means, generator, resamples=resamples),
    )


def _band(confidence: float) -> str:
    """The band of the reference's confidence in a text, up to its end."""
    band = "above 0.95" if confidence > 0.95 else "0.75 to 0.95" if confidence > 0.75 else "≤ 0.75"
    return f"reference's confidence {band}"
