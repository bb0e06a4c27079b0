"""The section with the similarity of layers of two models: CKA maps and matching layers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from reports.blocks import (
    Block,
    Bullets,
    Column,
    Fold,
    Paragraph,
    Row,
    Section,
    Table,
    heading,
    note,
    paragraph,
)
from reports.grids import LEAST_SPAN, LEVELS, Grid, GridCell
from reports.prose import Span, Text, prose, together, written
from reports.wording import number, two_digits
from scope.jobs.probe.step_tables import ranges
from scope.records import LayerAlignment, ProbeFindings

MOST_WRITTEN = 32
"""A map with more columns shows only colours; the numbers are tooltips."""

MOST_DRAWN_LAYERS = 128
"""The most layers of a map; of more layers every second, third, ... is shown."""

FEWEST_LAYERS = 6
"""The fewest layers for a division into early, middle and late ones."""


class Counterpart(NamedTuple):
    """The most similar layer of the second model for a layer of the first.

    ``rivals`` are other layers within the margin of the best one. ``above`` is whether the value
    is above the level of chance.
    """

    layer: int
    best: int
    value: float
    margin: float
    rivals: tuple[int, ...]
    above: bool


class Moves(NamedTuple):
    """How often the next counterpart is a later layer, the same or an earlier one.

    They are between consecutive layers with a counterpart above chance.
    """

    later: int
    same: int
    earlier: int


def similarity_section(findings: ProbeFindings) -> Section | None:
    """The maps of all pairs of models; None if no map has layers."""
    found = [one for one in findings.alignments if one.values and one.values[0]]
    if not found:
        return None
    about = paragraph(
        "Linear centred kernel alignment (CKA) compares the geometry of the same sentences in two "
        "layers: whether sentences that are close in one layer are close in the other. It is 1 if "
        "the geometry is the same and 0 if nothing is shared. A high CKA does **not** show that "
        "the layers compute the same function or share meaning: two layers may both represent a "
        "sentence’s length or first word, and both may predict human scores badly. A low CKA does "
        "not show that information is missing, because the same information can be represented "
        "differently."
    )
    return Section(
        anchor="alignments",
        title="Similarity of layers",
        heading="Similarity of layers between models",
        blocks=(about, *(block for one in found for block in _map(one))),
    )


def most_similar(findings: ProbeFindings) -> Iterator[Paragraph]:
    """The most similar layers of each two models, in a line."""
    for found in findings.alignments:
        if found.values and found.values[0]:
            most = _most(counterparts(found))
            yield paragraph(
                "most similar: layer {layer} of {first} and layer {best} of {second}, CKA {value} "
                "± {margin} (n = {sentences} sentences, chance {chance})",
                layer=most.layer,
                first=found.first,
                best=most.best,
                second=found.second,
                value=number(most.value),
                margin=number(most.margin),
                sentences=found.sentences,
                chance=number(found.chance),
            )


def _map(found: LayerAlignment) -> Iterator[Block]:
    pairs = counterparts(found)
    drawn = similarity_grid(found)
    every = _every(found)
    yield heading("{first} and {second}", first=found.first, second=found.second)
    yield Bullets(tuple(_findings(found, pairs)))
    yield note(
        "Rows are layers of {first}, columns layers of {second}.{part} Hover over a cell to see "
        "its value and the half width of its 95\u00a0% interval.",
        first=found.first,
        second=found.second,
        part=prose(" One of every {every} layers is shown.", every=every) if every > 1 else (),
    )
    yield drawn
    yield Fold(
        prose(
            "The most similar layer of {second} for each layer of {first}",
            second=found.second,
            first=found.first,
        ),
        (_about_counterparts(found, dense=drawn.dense), _counterpart_table(pairs)),
    )


def counterparts(found: LayerAlignment) -> tuple[Counterpart, ...]:
    """The most similar layer for each layer of the first model."""
    return tuple(_counterpart(found, layer) for layer in range(len(found.values)))


def _counterpart(found: LayerAlignment, layer: int) -> Counterpart:
    values, margins = found.values[layer], found.margins[layer]
    best = max(range(len(values)), key=values.__getitem__)
    near = tuple(
        place
        for place, value in enumerate(values)
        if place != best and value >= values[best] - margins[best]
    )
    return Counterpart(layer, best, values[best], margins[best], near, values[best] > found.chance)


def _most(pairs: Sequence[Counterpart]) -> Counterpart:
    return max(pairs, key=lambda one: one.value)


def _findings(found: LayerAlignment, pairs: Sequence[Counterpart]) -> Iterator[Text]:
    most = _most(pairs)
    yield prose(
        "The most similar layers are layer {layer} of {first} and layer {best} of {second}: "
        "**{value}**\u00a0±\u00a0{margin} (n\u00a0=\u00a0{sentences} sentences"
        f"{'' if most.above else ', no more than chance'}).",
        layer=most.layer,
        first=found.first,
        best=most.best,
        second=found.second,
        value=number(most.value),
        margin=number(most.margin),
        sentences=found.sentences,
    )
    for third in thirds(pairs):
        yield _stretch(found, third)
    if moves := moves_between(pairs):
        yield _order(found, moves)
    yield _chance(found, pairs)


def _stretch(found: LayerAlignment, third: Sequence[Counterpart]) -> Text:
    best = [one.best for one in third if one.above]
    if min(best) == max(best):
        which = prose("layer {layer} of {second}", layer=best[0], second=found.second)
    else:
        which = prose(
            "layers {low} to {high} of {second} (median layer {middle})",
            low=min(best),
            high=max(best),
            second=found.second,
            middle=statistics.median_low(best),
        )
    return prose(
        "Layers {start} to {end} of {first} are most similar to {which}.",
        start=third[0].layer,
        end=third[-1].layer,
        first=found.first,
        which=which,
    )


def thirds(pairs: Sequence[Counterpart]) -> list[Sequence[Counterpart]]:
    """The first, middle and last third of the layers, as far as one is similar above chance."""
    count = len(pairs)
    if count < FEWEST_LAYERS:
        return []
    ends = [round(count * third / 3) for third in range(4)]
    parts = (pairs[start:end] for start, end in pairwise(ends))
    return [part for part in parts if any(one.above for one in part)]


def moves_between(pairs: Sequence[Counterpart]) -> Moves | None:
    """Where the counterparts go from layer to layer; None if fewer than two are above chance."""
    best = [one.best for one in pairs if one.above]
    steps = [two - one for one, two in pairwise(best)]
    if not steps:
        return None
    return Moves(
        later=sum(step > 0 for step in steps),
        same=steps.count(0),
        earlier=sum(step < 0 for step in steps),
    )


def _order(found: LayerAlignment, moves: Moves) -> Text:
    return prose(
        f"Over {{steps}} step{'' if sum(moves) == 1 else 's'} between consecutive layers of "
        "{first} above chance, the most similar layer of {second} is a later one in {later}, the "
        "same in {same} and an earlier one in {earlier}. If two models have the same stages in the "
        "same order, it is often later and rarely earlier; if it is mostly the same, there is no "
        "order.",
        steps=sum(moves),
        first=found.first,
        second=found.second,
        later=moves.later,
        same=moves.same,
        earlier=moves.earlier,
    )


def _chance(found: LayerAlignment, pairs: Sequence[Counterpart]) -> Text:
    unmatched = sum(not one.above for one in pairs)
    above = prose(
        "If the sentences of one model are shuffled, the maximum of the map is below {chance} in "
        "95 of 100 permutations. Values up to this level may be chance and have no background. A "
        "value above it shows that the two layers share more than unrelated ones, not that they "
        "share meaning.",
        chance=number(found.chance),
    )
    if not unmatched:
        return above
    return together(
        above,
        prose(
            f"{{unmatched}} of {{layers}} layers of {{first}} {'is' if unmatched == 1 else 'are'} "
            "not similar to any layer of {second} above chance.",
            unmatched=unmatched,
            layers=len(pairs),
            first=found.first,
            second=found.second,
        ),
    )


def similarity_grid(found: LayerAlignment) -> Grid:
    """The map, of very many layers a part; backgrounds begin at the level of chance."""
    rows, columns = (
        range(0, count, _every(found)) for count in (len(found.values), len(found.values[0]))
    )
    high = max(found.chance + LEAST_SPAN, *map(max, found.values))
    return Grid(
        title="CKA",
        rows=tuple(
            (str(row), tuple(_cell(found, row, column, high) for column in columns)) for row in rows
        ),
        columns=tuple(map(str, columns)),
        numbered=False,
        low=two_digits(found.chance),
        high=two_digits(high),
        gaps=False,
        heading="↓\u00a0→",
        dense=len(columns) > MOST_WRITTEN,
    )


def _every(found: LayerAlignment) -> int:
    return math.ceil(max(len(found.values), len(found.values[0])) / MOST_DRAWN_LAYERS)


def _cell(found: LayerAlignment, row: int, column: int, high: float) -> GridCell:
    """A value that is not above chance has no background."""
    value, margin = found.values[row][column], found.margins[row][column]
    share = (value - found.chance) / (high - found.chance)
    return GridCell(
        text=two_digits(value),
        title=f"layers {row} and {column}: {number(value)} ± {number(margin)}",
        level=max(0, round(LEVELS * share)),
    )


def _about_counterparts(found: LayerAlignment, *, dense: bool) -> Paragraph:
    numbers = len(found.values) * len(found.values[0])
    return note(
        "If other layers are within the margin of the maximum, the most similar layer depends on "
        "the sample of sentences.{all}",
        all=prose(" All {n} numbers are in ``result.json``.", n=numbers) if dense else (),
    )


def _counterpart_table(pairs: Sequence[Counterpart]) -> Table:
    return Table(
        columns=(
            Column("Layer", "name"),
            Column("Most similar", "number"),
            Column("CKA", "number"),
            Column("±", "number"),
            Column("Others within the margin"),
        ),
        rows=tuple(
            Row(
                cells=(
                    one.layer,
                    one.best,
                    _value(one),
                    number(one.margin),
                    ranges(one.rivals) or "–",
                )
            )
            for one in pairs
        ),
        tall=True,
    )


def _value(one: Counterpart) -> Text:
    remark = () if one.above else (Span(" "), Span("no more than chance", "note"))
    return (*written(number(one.value)), *remark)
