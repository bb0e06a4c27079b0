"""The charts of layers: values by layer, with gaps at undefined ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from scope.records import Estimate, LayerScore, Undefined
from scope.sections.charts import LayerChart, LayerMark, LayerRun
from scope.sections.wording import Cell

OfLayer = Callable[[LayerScore], Estimate | Undefined | None]
"""Selects one of a layer's values."""

_GRAIN = 0.1
"""The axes of correlations end at multiples of this."""


def of_raw(score: LayerScore) -> Estimate | Undefined | None:
    """The correlation of the raw layer."""
    return score.raw


def of_encoded(score: LayerScore) -> Estimate | Undefined | None:
    """The correlation of the layer as encoded by the probe."""
    return score.encoded


def of_lost(score: LayerScore) -> Estimate | Undefined | None:
    """The decrease of the probe's correlation without the layer."""
    return score.lost


_PANELS = (("Raw layers", of_raw), ("Encoded layers", of_encoded))


def curve_charts(scores: Sequence[LayerScore]) -> tuple[LayerChart, ...]:
    """One chart of the raw layers and one of the encoded ones, with the same axes."""
    names = models_of(scores)
    panels = [(title, _runs(scores, names, of)) for title, of in _PANELS]
    marks = [mark for _, runs in panels for run in runs for mark in run.marks]
    if not marks:
        return ()
    start = math.floor(min(mark.low for mark in marks) / _GRAIN + 1e-9) * _GRAIN
    end = math.ceil(max(mark.high for mark in marks) / _GRAIN - 1e-9) * _GRAIN
    return tuple(
        LayerChart(
            title=title,
            label=f"{title}: Pearson’s correlation by layer; the numbers are in the tables",
            keys=tuple(enumerate(names)),
            runs=runs,
            layers=max(score.layer for score in scores) + 1,
            start=start,
            end=max(end, start + _GRAIN),
        )
        for title, runs in panels
        if runs
    )


def loss_charts(scores: Sequence[LayerScore]) -> tuple[LayerChart, ...]:
    """One chart per model, because bars would overlap; with the same axis."""
    names = models_of(scores)
    every = _runs(scores, names, of_lost)
    ends = [end for run in every for mark in run.marks for end in (mark.low, mark.high)]
    return tuple(
        LayerChart(
            title=name,
            label=f"Decrease for {name} without each layer; the numbers are in the tables",
            keys=((place, name),),
            runs=runs,
            layers=max(score.layer for score in scores if score.model == name) + 1,
            start=min(0.0, *ends),
            end=max(0.0, *ends),
            bars=True,
        )
        for place, name in enumerate(names)
        if (runs := tuple(run for run in every if run.series == place))
    )


def models_of(scores: Sequence[LayerScore]) -> tuple[str, ...]:
    """The models of these layers."""
    return tuple(dict.fromkeys(score.model for score in scores))


def _runs(
    scores: Sequence[LayerScore], names: tuple[str, ...], of: OfLayer
) -> tuple[LayerRun, ...]:
    """The defined values of each model, split at undefined ones."""
    made: list[LayerRun] = []
    for place, name in enumerate(names):
        run: list[LayerMark] = []
        for score in sorted((one for one in scores if one.model == name), key=by_layer):
            estimate = of(score)
            if run and (not isinstance(estimate, Estimate) or score.layer > run[-1].layer + 1):
                made.append(LayerRun(series=place, marks=tuple(run)))
                run = []
            if isinstance(estimate, Estimate):
                run.append(_mark(score, estimate))
        if run:
            made.append(LayerRun(series=place, marks=tuple(run)))
    return tuple(made)


def by_layer(score: LayerScore) -> int:
    """Sort key: the layer."""
    return score.layer


def _mark(score: LayerScore, estimate: Estimate) -> LayerMark:
    cell = Cell.of(estimate)
    return LayerMark(
        layer=score.layer,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        title=f"{score.model}, layer {score.layer}: {cell.value} {cell.interval}, n = {cell.n:,}",
    )
