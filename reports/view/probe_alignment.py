"""The section with the similarity of layers of two models: CKA maps and matching layers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from reports.view import wording
from reports.view.probe_words import ranges
from scope.records import LayerAlignment, ProbeFindings
from scope.sections.grids import LEAST_SPAN, LEVELS, GridCell

MOST_COLUMNS = 32
"""A map with more columns shows only colours; the numbers are tooltips."""

MOST_DRAWN = 128
"""The most layers of a map; of more layers every second, third, ... is shown."""

FEWEST_LAYERS = 6
"""The fewest layers for a division into early, middle and late ones."""


@dataclass(frozen=True, kw_only=True)
class Counterpart:
    """The most similar layer of the second model for a layer of the first.

    ``rivals`` are other layers within the margin of the best one. ``above`` is whether the value
    is above the level of chance.
    """

    layer: int
    best: int
    value: str
    margin: str
    rivals: str
    above: bool


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """The range of the most similar layers of the second model for some layers of the first."""

    start: int
    end: int
    lowest: int
    highest: int
    middle: int


@dataclass(frozen=True, kw_only=True)
class Moves:
    """How often the next counterpart is a later layer, the same or an earlier one.

    ``steps`` are between consecutive layers with a counterpart above chance.
    """

    on: int
    stayed: int
    back: int
    steps: int


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """One map; ``rows`` and ``columns`` are the shown layers of the first and second model.

    ``low`` and ``high`` are the ends of the colour scale, which begins at ``chance``. ``total``
    are the numbers of layers, ``unmatched`` counts those of the first model without a
    counterpart above chance. ``moves`` is None if fewer than two have one.
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
    """The maps of all pairs of models; those without layers are omitted."""
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
    """A value that is not above chance has no background."""
    value, margin = found.values[row][column], found.margins[row][column]
    share = (value - found.chance) / (high - found.chance)
    return GridCell(
        text=wording.two_digits(value),
        title=f"layers {row} and {column}: {wording.number(value)} ± {wording.number(margin)}",
        level=max(0, round(LEVELS * share)),
    )


def _stretches(pairs: Sequence[Counterpart]) -> tuple[Stretch, ...]:
    """The first, middle and last third of the layers with a counterpart above chance."""
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
