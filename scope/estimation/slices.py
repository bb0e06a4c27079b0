"""Where a target differs: the primary metric by slice of the texts, and whether slices differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from scope.estimation.measurements import PRIMARY
from scope.metrics import means_by_example
from scope.records import Estimate, Measurement, ScoredExample, SliceTest, Undefined
from scope.statistics import benjamini_hochberg, mean_estimate, resamples_for
from scope.statistics.heterogeneity import heterogeneity_p_value

CONFIDENCES = ((0.0, 0.75), (0.75, 0.95), (0.95, 1.0))
"""Bands of the reference's confidence in the original text, each up to its end."""

Slices = Mapping[str, Mapping[str, str]]
"""By the name of a grouping, and by the id of a text, the slice that the text belongs to."""


def slices_of(examples: Sequence[ScoredExample], labels: Sequence[str]) -> Slices:
    """The slices by the reference's label, by bands of its confidence, and by columns of the data.

    Language models have no label. A text without a value in a column belongs to none of its slices.
    """
    found: dict[str, dict[str, str]] = {}
    for scored in examples:
        answer, example = scored.reference, scored.example
        named = {one.column: f"{one.column}: {one.value}" for one in example.slices}
        if not answer.tokens:
            named["the reference's label"] = f"label = {labels[answer.label]}"
        named["the reference's confidence"] = _band(max(answer.probabilities))
        for grouping, name in named.items():
            found.setdefault(grouping, {})[example.id] = name
    return found


class _Cut(NamedTuple):
    """A measurement and the rows of its values in each slice of one grouping."""

    whole: Measurement
    grouping: str
    rows: Mapping[str, Sequence[int]]

    def estimate(self, name: str, level: float = 0.95) -> Estimate | Undefined:
        """The mean in one slice."""
        one, rows = self.whole, self.rows[name]
        ids = [one.example_ids[row] for row in rows]
        return mean_estimate([one.values[row] for row in rows], ids, level=level)

    def test(self, seed: int, resamples: int) -> SliceTest:
        """Whether the slices differ, and the worst of them."""
        one = self.whole
        worst = min(self.rows, key=lambda name: np.mean([one.values[i] for i in self.rows[name]]))
        slice_of = {one.example_ids[row]: name for name, rows in self.rows.items() for row in rows}
        means, ids = means_by_example(one.values, one.example_ids)
        inside = [place for place, key in enumerate(ids) if key in slice_of]
        names = [slice_of[ids[place]] for place in inside]
        generator = np.random.default_rng(seed)
        return SliceTest(
            metric=one.metric,
            target=one.target,
            capability=one.capability,
            grouping=self.grouping,
            worst=worst,
            estimate=self.estimate(worst, 1 - 0.05 / len(self.rows)),
            p_value=heterogeneity_p_value(means[inside], names, generator, resamples=resamples),
        )


def slice_numbers(
    measurements: Sequence[Measurement], slices: Slices, seed: int
) -> tuple[tuple[Measurement, ...], tuple[SliceTest, ...]]:
    """The primary metric of each target on each capability in every slice, and the tests.

    A grouping is tested where it has two slices. P-values are adjusted together by Benjamini and
    Hochberg's method. The values of a slice are a subset of those of the whole and are not stored
    again.
    """
    cuts = [
        _Cut(one, grouping, _rows(one, slice_of))
        for one in _primary(measurements)
        for grouping, slice_of in slices.items()
    ]
    parts = tuple(
        replace(cut.whole, subset=name, estimate=cut.estimate(name), example_ids=(), values=())
        for cut in cuts
        for name in cut.rows
    )
    several = [cut for cut in cuts if len(cut.rows) > 1]
    tests = [cut.test(seed, resamples_for(len(several))) for cut in several]
    adjusted = benjamini_hochberg([one.p_value for one in tests])
    return parts, tuple(replace(one, p_adjusted=p) for one, p in zip(tests, adjusted, strict=True))


def _primary(measurements: Sequence[Measurement]) -> Iterable[Measurement]:
    """The measurement of each target and capability that is tested."""
    found: dict[tuple[str | None, str], Measurement] = {}
    for metric in PRIMARY:
        for one in measurements:
            if one.metric == metric and one.values:
                found.setdefault((one.capability, one.target), one)
    return found.values()


def _rows(one: Measurement, slice_of: Mapping[str, str]) -> Mapping[str, Sequence[int]]:
    """The rows of each slice, in the order of the bands and then of their names."""
    rows: dict[str, list[int]] = {}
    for row, key in enumerate(one.example_ids):
        if key in slice_of:
            rows.setdefault(slice_of[key], []).append(row)
    order = {_band(end): place for place, (_, end) in enumerate(CONFIDENCES)}
    return {name: rows[name] for name in sorted(rows, key=lambda name: (order.get(name, 0), name))}


def _band(confidence: float) -> str:
    """The band of a confidence, which may be the end of the band."""
    low, high = next(band for band in CONFIDENCES if confidence <= band[1] or band[1] == 1.0)
    if high == 1.0:
        return f"reference's confidence above {low}"
    return f"reference's confidence {low} to {high}" if low else f"reference's confidence ≤ {high}"
