"""The section with the similarity of layers of two models: CKA maps and matching layers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, cast

from reports.blocks import Block, Column, Paragraph, Row, Section, Table, heading, note, paragraph
from reports.charts import Grid, grid
from reports.prose import Span, Text, prose
from reports.wording import number
from scope.records import Estimate, LayerAlignment, ProbeFindings

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


def similarity_section(findings: ProbeFindings) -> Section | None:
    """The maps of all pairs of models; None if no map has layers."""
    found = [one for one in findings.alignments if one.values and one.values[0]]
    if not found:
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
        blocks=(about, *(block for one in found for block in _map(one))),
    )


def _map(found: LayerAlignment) -> Iterator[Block]:
    yield heading("{first} and {second}", first=found.first, second=found.second)
    yield _most_similar(found)
    yield similarity_grid(found)
    yield _counterpart_table(found)


def _most_similar(found: LayerAlignment) -> Paragraph:
    pairs = tuple(counterparts(found))
    most = max(pairs, key=lambda one: one.value)
    return paragraph(
        "Layer {layer} of {first} and layer {best} of {second} are the most similar: CKA "
        f"**{number(most.value)}**\u00a0±\u00a0{number(most.margin)} ({{sentences}} sentences; "
        f"chance {number(found.chance)}). {{above}} of {{layers}} layers of {{first}} are similar "
        "to a layer of {second} above chance.",
        layer=most.layer,
        first=found.first,
        best=most.best,
        second=found.second,
        sentences=found.sentences,
        above=sum(one.above for one in pairs),
        layers=len(pairs),
    )


def counterparts(found: LayerAlignment) -> Iterator[Counterpart]:
    """The most similar layer for each layer of the first model."""
    for layer, (values, margins) in enumerate(zip(found.values, found.margins, strict=True)):
        best = max(range(len(values)), key=values.__getitem__)
        above = values[best] > found.chance
        yield Counterpart(layer, best, values[best], margins[best], above)


def similarity_grid(found: LayerAlignment) -> Grid:
    """The map; backgrounds begin at the level of chance."""
    cells = {
        (str(row), str(column)): Estimate(
            value=value, low=value - margin, high=value + margin, n=found.sentences, method="CKA"
        )
        for row, (values, margins) in enumerate(zip(found.values, found.margins, strict=True))
        for column, (value, margin) in enumerate(zip(values, margins, strict=True))
    }
    rows, columns = (
        tuple(map(str, range(count))) for count in (len(found.values), len(found.values[0]))
    )
    made = grid("CKA", cells, rows=rows, columns=columns, heading="↓\u00a0→", start=found.chance)
    return replace(cast("Grid", made), dense=len(columns) > MOST_WRITTEN)


def _counterpart_table(found: LayerAlignment) -> Table:
    names = {"first": found.first, "second": found.second}
    return Table(
        caption=prose("The most similar layer of {second} for each layer of {first}", **names),
        columns=(Column("Layer", "name"), Column("Most similar", "number"), Column("CKA")),
        rows=tuple(Row(cells=(one.layer, one.best, _value(one))) for one in counterparts(found)),
        tall=True,
    )


def _value(one: Counterpart) -> Text:
    remark = "" if one.above else " no more than chance"
    return (Span(f"{number(one.value)} ± {number(one.margin)}"), Span(remark, "note"))
