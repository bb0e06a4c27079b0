"""Layers one by one: their curve, the correlation of each, and the decrease without it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal

from reports.blocks import Beside, Block, Column, Figure, Heading, Row, Section, Table, note
from reports.charts import LayerChart, LayerMark, LayerRun
from reports.prose import prose
from reports.wording import Cell
from scope.records import Estimate, LayerScore, ProbeFindings, Undefined

_GRAIN = 0.1
"""The axes of correlations end at multiples of this."""

Curve = Literal["raw", "encoded"]
_PANELS: tuple[tuple[str, Curve], ...] = (
    ("Cosine of each layer", "raw"),
    ("As the probe encodes it", "encoded"),
)


def layer_curves(scores: Sequence[LayerScore]) -> Iterator[Block]:
    """The curves side by side with the same axes; nothing without a value."""
    if charts := curve_charts(scores):
        yield Beside(tuple((Heading(prose(one.title)), Figure(one)) for one in charts))
        yield note(
            "Pearson’s correlation with human scores by layer; bands are 95\u00a0% intervals, a "
            "gap is a layer with an undefined value."
        )


def curve_charts(scores: Sequence[LayerScore]) -> tuple[LayerChart, ...]:
    """One chart of the raw layers and one of the encoded ones, with the same axes."""
    names = tuple(dict.fromkeys(score.model for score in scores))
    panels = [(title, tuple(_runs(scores, names, of))) for title, of in _PANELS]
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


def _runs(scores: Sequence[LayerScore], names: tuple[str, ...], of: Curve) -> Iterator[LayerRun]:
    """The defined values of each model, split at undefined and at lacking ones."""
    for series, name in enumerate(names):
        known = [
            (score, found)
            for score in sorted(scores, key=lambda one: one.layer)
            if score.model == name and isinstance(found := getattr(score, of), Estimate)
        ]
        # Consecutive layers keep the same distance from their place.
        runs = groupby(enumerate(known), key=lambda one: one[1][0].layer - one[0])
        for _, run in runs:
            yield LayerRun(series=series, marks=tuple(_mark(*both) for _, both in run))


def _mark(score: LayerScore, estimate: Estimate) -> LayerMark:
    cell = Cell.of(estimate)
    return LayerMark(
        layer=score.layer,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        title=f"{score.model}, layer {score.layer}: {cell.value} {cell.interval}, n = {cell.n:,}",
    )


def layers_section(findings: ProbeFindings) -> Section | None:
    """Every layer in a table; None if there are no results by layer."""
    if not findings.layers:
        return None
    numbers = (Column(title, "estimate") for title in ("Raw", "Encoded", "Decrease without"))
    table = Table(
        columns=(Column("Model", "name"), Column("Layer", "number"), *numbers),
        rows=tuple(
            Row(cells=(one.model, one.layer, *map(_cell, (one.raw, one.encoded, one.lost))))
            for one in findings.layers
        ),
        tall=True,
    )
    about = note(
        "Raw: Pearson’s correlation of the cosine of a layer’s vectors with human scores, on the "
        "test pairs; encoded: of the probe’s encodings of it. Decrease without: what the last "
        "step’s probe loses when the layer is removed without retraining; neighbours may contain "
        "the same information. Layers are counted from 0, without the input embeddings. A step "
        "calibrates its scores to the range of human scores by a nonlinear function, so that its "
        "Pearson correlation differs from that of a layer."
    )
    return Section(anchor="layers", title="All layers", blocks=(about, table))


def _cell(found: Estimate | Undefined | None) -> Cell | None:
    return None if found is None else Cell.of(found)
