"""The layers on a probe's page: their curve, the correlation of each, and similar layers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, cast

from reports.blocks import (
    Beside,
    Block,
    Figure,
    Fold,
    Section,
    Table,
    heading,
    note,
    paragraph,
)
from reports.charts import Chart, Dot, Grid, Series, grid
from reports.prose import Span, prose
from reports.wording import Cell, number
from scope.records import Estimate, LayerAlignment, LayerScore, ProbeFindings

_GRAIN = 0.1
"""The axes of correlations end at multiples of this."""

_PANELS: tuple[tuple[str, Literal["raw", "encoded"]], ...] = (
    ("Cosine of each layer", "raw"),
    ("As the probe encodes it", "encoded"),
)


def layer_curves(scores: Sequence[LayerScore]) -> Iterator[Block]:
    """A chart of the raw layers and one of the encoded ones; nothing without a value."""
    if charts := curve_charts(scores):
        yield Beside(tuple((Figure(chart),) for chart in charts))
        yield note(
            "Pearson’s correlation with human scores by layer; bands are 95\u00a0% intervals, a "
            "gap is a layer with an undefined value."
        )


def curve_charts(scores: Sequence[LayerScore]) -> tuple[Chart, ...]:
    """One chart of the raw layers and one of the encoded ones, with the same axes."""
    panels = {title: tuple(_models(scores, of)) for title, of in _PANELS}
    dots = [dot for models in panels.values() for model in models for dot in model.dots]
    if not dots:
        return ()
    bounds = [bound for dot in dots for bound in dot.interval or ()]
    start = math.floor(min(bounds) / _GRAIN + 1e-9) * _GRAIN
    end = math.ceil(max(bounds) / _GRAIN - 1e-9) * _GRAIN
    charts = (
        Chart(
            title=title,
            label=f"{title}: Pearson’s correlation by layer; the numbers are in the tables",
            series=models,
            x_title="layer",
            joined=1,
            ends=(
                (-0.5, max(score.layer for score in scores) + 0.5),
                (start, max(end, start + _GRAIN)),
            ),
            size=(300, 200),
        )
        for title, models in panels.items()
    )
    return tuple(chart for chart in charts if chart.dots)


def _models(scores: Sequence[LayerScore], of: str) -> Iterator[Series]:
    """The defined values of each model by layer."""
    for shape, name in enumerate(dict.fromkeys(score.model for score in scores)):
        dots = tuple(
            _dot(score, estimate)
            for score in sorted(scores, key=lambda score: score.layer)
            if score.model == name and isinstance(estimate := getattr(score, of), Estimate)
        )
        yield Series(dots=dots, name=name, shape=shape)


def _dot(score: LayerScore, estimate: Estimate) -> Dot:
    cell, layer = Cell.of(estimate), score.layer
    title = f"{score.model}, layer {layer}: {cell.value} {cell.interval}, n = {cell.n:,}"
    return Dot(title=title, x=layer, y=estimate.value, interval=(estimate.low, estimate.high))


def layers_section(findings: ProbeFindings) -> Section | None:
    """Every layer in a table; None if there are no results by layer."""
    if not findings.layers:
        return None
    rebuilt = any(score.reconstruction is not None for score in findings.layers)
    titles = ("Raw", "Encoded", "Decrease without", *(("Reconstruction error",) if rebuilt else ()))
    rows = []
    for score in findings.layers:
        estimates = (score.raw, score.encoded, score.lost, score.reconstruction)[: len(titles)]
        cells = (estimate and Cell.of(estimate) for estimate in estimates)
        rows.append((score.model, score.layer, *cells))
    table = Table.of(
        {"Model": "name", "Layer": "number", **dict.fromkeys(titles, "estimate")}, rows, tall=True
    )
    about = note(
        "Raw: Pearson’s correlation of the cosine of a layer’s vectors with human scores, on the "
        "test pairs; encoded: of the probe’s encodings of it. Decrease without: what the last "
        "step’s probe loses when the layer is removed without retraining; neighbours may contain "
        "the same information. Reconstruction error: the share of the variance of a layer’s inputs "
        "that its autoencoder, if any, leaves unexplained. Layers are counted from 0, without the "
        "input embeddings. A step calibrates its scores to the range of human scores by a "
        "nonlinear function, so that its Pearson correlation differs from that of a layer."
    )
    return Section(anchor="layers", title="All layers", blocks=(about, table))


MOST_WRITTEN = 32
"""A map with more columns shows only colours; the numbers are tooltips."""


class Counterpart(NamedTuple):
    """The most similar layer of the second model for a layer of the first.

    ``above`` is whether the value is above the level of chance.
    """

    layer: int
    best: int
    value: float
    margin: float
    above: bool


def counterparts(alignment: LayerAlignment) -> Iterator[Counterpart]:
    """The most similar layer for each layer of the first model."""
    rows = zip(alignment.values, alignment.margins, strict=True)
    for layer, (values, margins) in enumerate(rows):
        best = max(range(len(values)), key=values.__getitem__)
        above = values[best] > alignment.chance
        yield Counterpart(layer, best, values[best], margins[best], above)


def similarity_section(findings: ProbeFindings) -> Section | None:
    """The maps of all pairs of models; None if no map has layers."""
    maps = [each for each in findings.alignments if each.values and each.values[0]]
    if not maps:
        return None
    about = note(
        "Linear centred kernel alignment (CKA) of the same sentences in two layers: 1 if they "
        "have the same geometry, 0 if they share nothing. A high CKA does not show that layers "
        "share meaning: both may represent a sentence’s length. If the sentences of one model are "
        "shuffled, the maximum of a map is below chance in 95 of 100 permutations; values up to "
        "it have no background."
    )
    return Section(
        anchor="alignments",
        title="Similarity of layers",
        heading="Similarity of layers between models",
        blocks=(about, *(block for alignment in maps for block in _map(alignment))),
    )


def _map(alignment: LayerAlignment) -> Iterator[Block]:
    pairs = tuple(counterparts(alignment))
    first, second = alignment.first, alignment.second
    most = max(pairs, key=lambda pair: pair.value)
    yield heading("{first} and {second}", first=first, second=second)
    yield paragraph(
        "Layer {layer} of {first} and layer {best} of {second} are the most similar: CKA "
        f"**{number(most.value)}**\u00a0±\u00a0{number(most.margin)} ({{sentences}} sentences; "
        f"chance {number(alignment.chance)}). {{above}} of {{layers}} layers of {{first}} are "
        "similar to a layer of {second} above chance.",
        layer=most.layer,
        best=most.best,
        sentences=alignment.sentences,
        above=sum(pair.above for pair in pairs),
        layers=len(pairs),
        first=first,
        second=second,
    )
    yield similarity_grid(alignment)
    rows = []
    for layer, best, value, margin, above in pairs:
        remark = Span("" if above else " no more than chance", "note")
        cka = (Span(f"{number(value)} ± {number(margin)}"), remark)
        rows.append((layer, best, cka))
    yield Table.of(
        {"Layer": "name", "Most similar": "number", "CKA": "text"},
        rows,
        caption=prose(
            "The most similar layer of {second} for each layer of {first}",
            first=first,
            second=second,
        ),
        tall=True,
    )


def similarity_grid(alignment: LayerAlignment) -> Grid:
    """The map; backgrounds begin at the level of chance."""
    cells, n = {}, alignment.sentences
    for row, pair in enumerate(zip(alignment.values, alignment.margins, strict=True)):
        for column, (value, margin) in enumerate(zip(*pair, strict=True)):
            low, high = value - margin, value + margin
            estimate = Estimate(value=value, low=low, high=high, n=n, method="CKA")
            cells[str(row), str(column)] = estimate
    rows, columns = (
        tuple(map(str, range(len(side)))) for side in (alignment.values, alignment.values[0])
    )
    chart = grid(
        "CKA", cells, rows=rows, columns=columns, heading="↓\u00a0→", start=alignment.chance
    )
    return replace(cast("Grid", chart), dense=len(columns) > MOST_WRITTEN)


def similar_layers(alignment: LayerAlignment) -> Iterator[Block]:
    """The most similar layers and the last ones in a sentence, and the map behind a line."""
    places = [(row, column) for row, of in enumerate(alignment.values) for column in range(len(of))]
    row, column = max(places, key=lambda place: alignment.values[place[0]][place[1]])
    yield paragraph(
        "The most similar layers are {row} of **{first}** and {column} of **{second}**, CKA "
        "{value}\u00a0±\u00a0{margin}; the last layers have {last} "
        "(n\u00a0=\u00a0{n} texts; up to {chance} is chance).",
        row=row,
        column=column,
        first=alignment.first,
        second=alignment.second,
        value=number(alignment.values[row][column]),
        margin=number(alignment.margins[row][column]),
        last=number(alignment.values[-1][-1]),
        n=alignment.sentences,
        chance=number(alignment.chance),
    )
    about = note(
        "Linear centred kernel alignment (CKA) of each layer of the first model, a row, with each "
        "of the second: 1 if both arrange the texts alike. Without a background it may be chance."
    )
    yield Fold(prose("All layers"), (about, similarity_grid(alignment)))
