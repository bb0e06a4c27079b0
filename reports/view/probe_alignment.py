"""The section with two models layer by layer: maps of CKA, and which layers correspond."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from reports.view import wording
from reports.view.grids import LEAST_SPAN, LEVELS, GridCell
from reports.view.probe_words import ranges
from scope.records import LayerAlignment, ProbeFindings

MOST_COLUMNS = 32
"""A map of more columns has colours alone; pointing at a cell still shows its number."""

MOST_DRAWN = 128
"""Of more layers a map shows every second, or every third, and so on."""

FEWEST_LAYERS = 6
"""Models with fewer layers have no early, middle and late ones."""


@dataclass(frozen=True, kw_only=True)
class Counterpart:
    """The layer of the second model that is most like a layer of the first.

    ``rivals`` are other layers whose value lies within the margin of the best one's. ``above``
    says that the value lies above the level of chance.
    """

    layer: int
    best: int
    value: str
    margin: str
    rivals: str
    above: bool


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """Among which layers of the second model a stretch of the first has its counterparts."""

    start: int
    end: int
    lowest: int
    highest: int
    middle: int


@dataclass(frozen=True, kw_only=True)
class Moves:
    """How often the counterpart lies later, is the same, or lies earlier.

    ``steps`` go from each layer that has a counterpart above chance to the next one that has.
    """

    on: int
    stayed: int
    back: int
    steps: int


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """One map; ``rows`` and ``columns`` are the drawn layers of the first and second model.

    ``low`` and ``high`` are the numbers at the ends of the scale, which begins at ``chance``.
    ``total`` has the numbers of layers, ``unmatched`` counts those of the first model without a
    counterpart above chance. ``moves`` is None where fewer than two have one.
    """

    first: str
    second: str
    sentences: int
    chance: str
    low: str
    high: str
    columns: tuple[int, ...]
    rows: tuple[tuple[int, tuple[GridCell, ...]], ...]
    dense: bool
    total: tuple[int, int]
    every: int
    most: Counterpart
    counterparts: tuple[Counterpart, ...]
    stretches: tuple[Stretch, ...]
    unmatched: int
    moves: Moves | None


def alignment_section(findings: ProbeFindings) -> tuple[Alignment, ...]:
    """The maps of all pairs of models; those without a layer are left out."""
    return tuple(_alignment(one) for one in findings.alignments if one.values and one.values[0])


def _alignment(found: LayerAlignment) -> Alignment:
    pairs = [_counterpart(found, layer) for layer in range(len(found.values))]
    total = (len(found.values), len(found.values[0]))
    every = math.ceil(max(total) / MOST_DRAWN)
    columns = tuple(range(0, total[1], every))
    high = max(found.chance + LEAST_SPAN, *map(max, found.values))
    return Alignment(
        first=found.first,
        second=found.second,
        sentences=found.sentences,
        chance=wording.number(found.chance),
        low=wording.two_digits(found.chance),
        high=wording.two_digits(high),
        columns=columns,
        rows=tuple(
            (layer, tuple(_cell(found, layer, column, high) for column in columns))
            for layer in range(0, total[0], every)
        ),
        dense=len(columns) > MOST_COLUMNS,
        total=total,
        every=every,
        most=pairs[max(range(total[0]), key=lambda layer: max(found.values[layer]))],
        counterparts=tuple(pairs),
        stretches=_stretches(pairs),
        unmatched=sum(not one.above for one in pairs),
        moves=_moves(pairs),
    )


def _counterpart(found: LayerAlignment, layer: int) -> Counterpart:
    values, margins = found.values[layer], found.margins[layer]
    best = max(range(len(values)), key=values.__getitem__)
    near = [
        place
        for place, value in enumerate(values)
        if place != best and value >= values[best] - margins[best]
    ]
    return Counterpart(
        layer=layer,
        best=best,
        value=wording.number(values[best]),
        margin=wording.number(margins[best]),
        rivals=ranges(near),
        above=values[best] > found.chance,
    )


def _moves(pairs: Sequence[Counterpart]) -> Moves | None:
    best = [one.best for one in pairs if one.above]
    steps = [two - one for one, two in pairwise(best)]
    if not steps:
        return None
    return Moves(
        on=sum(step > 0 for step in steps),
        stayed=steps.count(0),
        back=sum(step < 0 for step in steps),
        steps=len(steps),
    )


def _cell(found: LayerAlignment, row: int, column: int, high: float) -> GridCell:
    """Nothing is drawn behind a number that is no greater than chance."""
    value, margin = found.values[row][column], found.margins[row][column]
    share = (value - found.chance) / (high - found.chance)
    return GridCell(
        text=wording.two_digits(value),
        title=f"layers {row} and {column}: {wording.number(value)} ± {wording.number(margin)}",
        level=max(0, round(LEVELS * share)),
    )


def _stretches(pairs: Sequence[Counterpart]) -> tuple[Stretch, ...]:
    """The first, the middle and the last third, where a layer has a counterpart above chance."""
    count = len(pairs)
    if count < FEWEST_LAYERS:
        return ()
    ends = [round(count * third / 3) for third in range(4)]
    thirds = (pairs[start:end] for start, end in pairwise(ends))
    return tuple(
        Stretch(
            start=third[0].layer,
            end=third[-1].layer,
            lowest=min(best),
            highest=max(best),
            middle=statistics.median_low(best),
        )
        for third in thirds
        if (best := [one.best for one in third if one.above])
    )
