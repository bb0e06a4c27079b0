"""What charts and tables with coloured backgrounds hold: numbers and labels, no drawing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reports import wording
from scope.records import Estimate, Undefined

GLYPHS = ("●", "■", "▲", "◆", "▼", "✚")
"""The shapes of the series in a legend, in the order of the drawings."""


class Key(NamedTuple):
    """An entry of a legend: its shape, the class of its colour, its name, and a remark."""

    glyph: str
    style: str
    name: str
    note: str = ""


def series_key(place: int, name: str) -> Key:
    """The entry of a series; more series than shapes begin again."""
    return Key(GLYPHS[place % len(GLYPHS)], f"s{place % len(GLYPHS)}", name)


@dataclass(frozen=True, kw_only=True)
class IntervalChart:
    """Dots with intervals, a row each; ``name`` is in the legend.

    The axis holds what is drawn and no more, so that near numbers part.
    """

    label: str
    name: str
    rows: tuple[tuple[str, Estimate], ...]

    @property
    def start(self) -> float:
        """The beginning of the axis: a twentieth below what is drawn."""
        return math.floor(min(row.low for _, row in self.rows) * 20 + 1e-9) / 20

    @property
    def end(self) -> float:
        """The end of the axis: a twentieth above what is drawn, behind its start."""
        highest = max(row.high for _, row in self.rows)
        return max(math.ceil(highest * 20 - 1e-9), round(self.start * 20) + 1) / 20

    @property
    def legend(self) -> tuple[Key, ...]:
        """What the numbers are."""
        return (series_key(0, self.name),)


@dataclass(frozen=True, kw_only=True)
class ScatterDot:
    """One dot, with its names and numbers in words, and its interval upwards if it has one.

    Its ``name`` is written beside it where there is room. ``series`` gives its colour and shape.
    """

    title: str
    x: float
    y: float
    interval: tuple[float, float] | None = None
    name: str = ""
    series: int = 0


@dataclass(frozen=True, kw_only=True)
class ScatterChart:
    """Dots by two numbers, on axes with the same ends and a diagonal where the two are equal.

    ``joined`` draws a line from dot to dot. ``name`` and ``note`` are in the legend. With ``fit``,
    the ends of a line, each axis has ends of its own and no diagonal is drawn; ``groups`` are the
    names of the dots' series.
    """

    label: str
    x_title: str
    y_title: str
    dots: tuple[ScatterDot, ...]
    joined: bool = False
    name: str = ""
    note: str = ""
    fit: tuple[tuple[float, float], ...] = ()
    groups: tuple[str, ...] = ()

    @property
    def legend(self) -> tuple[Key, ...]:
        """What the dots are of, if it has a name; every dot has its own in a title."""
        if self.groups:
            return tuple(series_key(place, name) for place, name in enumerate(self.groups))
        return (Key(GLYPHS[0], "s0", self.name, self.note),) if self.name else ()


@dataclass(frozen=True, kw_only=True)
class StripDot:
    """One model's value; ``title`` is its name and number as text."""

    title: str
    value: float


@dataclass(frozen=True, kw_only=True)
class StripChart:
    """The suspect among the controls; above ``threshold`` its p-value is at most ``rate``.

    ``suspect_name`` is named in the legend.
    """

    label: str
    x_title: str
    controls: tuple[StripDot, ...]
    suspect: StripDot | None
    threshold: float | None
    rate: str
    suspect_name: str = ""

    @property
    def legend(self) -> tuple[Key, ...]:
        """The controls, the suspect and the threshold, as far as they are drawn."""
        keys = [Key("●", "s0", "control")]
        if self.suspect is not None:
            keys.append(Key("◆", "s1", "suspect", self.suspect_name))
        if self.threshold is not None:
            keys.append(Key("┆", "", "threshold"))
        return tuple(keys)


@dataclass(frozen=True, kw_only=True)
class SmallStrip:
    """The same for one kind of evidence, small enough for a cell of a table.

    ``levels`` are drawn as lines, solid or dotted; ``ends`` are those of a common scale.
    """

    label: str
    controls: tuple[StripDot, ...]
    suspect: StripDot
    low: float
    high: float
    levels: tuple[tuple[float, bool], ...] = ()
    ends: tuple[float, float] | None = None

    @classmethod
    def of(
        cls,
        label: str,
        estimate: Estimate,
        ends: tuple[float, float],
        levels: tuple[tuple[float, bool], ...] = (),
    ) -> SmallStrip:
        """One estimate with its interval on a common scale."""
        dot = StripDot(title=label, value=estimate.value)
        low, high = estimate.low, estimate.high
        return cls(
            label=label, controls=(), suspect=dot, low=low, high=high, levels=levels, ends=ends
        )


@dataclass(frozen=True, kw_only=True)
class LayerMark:
    """One layer's value with its interval and tooltip."""

    layer: int
    value: float
    low: float
    high: float
    title: str


@dataclass(frozen=True, kw_only=True)
class LayerRun:
    """Consecutive layers with defined values; ``series`` is the index of the model."""

    series: int
    marks: tuple[LayerMark, ...]


@dataclass(frozen=True, kw_only=True)
class LayerChart:
    """Values by layer, from ``start`` to ``end``; ``keys`` are the models' indices and names.

    ``layers`` counts the layers of the deepest model.
    """

    title: str
    label: str
    keys: tuple[tuple[int, str], ...]
    runs: tuple[LayerRun, ...]
    layers: int
    start: float
    end: float

    @property
    def legend(self) -> tuple[Key, ...]:
        """One entry a model."""
        return tuple(series_key(place, name) for place, name in self.keys)


@dataclass(frozen=True, kw_only=True)
class MapDot:
    """One model; ``title`` is its tooltip, and its ``name`` stands beside it if there is room."""

    title: str
    x: float
    y: float
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class MapGroup:
    """Models with the same symbol: the colour of the class ``style`` and the ``shape``.

    ``note`` follows the group's name.
    """

    name: str
    note: str
    style: str
    shape: int
    dots: tuple[MapDot, ...]


@dataclass(frozen=True, kw_only=True)
class MapChart:
    """The map; the groups are communities, or quantiles of accuracy."""

    label: str
    groups: tuple[MapGroup, ...]

    @property
    def dots(self) -> tuple[MapDot, ...]:
        """Every dot, group by group."""
        return tuple(dot for group in self.groups for dot in group.dots)

    @property
    def legend(self) -> tuple[Key, ...]:
        """One entry a group."""
        return tuple(
            Key(GLYPHS[group.shape], group.style, group.name, f"({group.note})")
            for group in self.groups
        )


Chart = IntervalChart | ScatterChart | StripChart | LayerChart | MapChart
"""What a figure may show."""


def estimate_chart(
    label: str, rows: Iterable[tuple[str, Estimate | Undefined]], name: str
) -> IntervalChart | None:
    """A chart of the defined estimates among the rows; None where none is."""
    defined = tuple((row, one) for row, one in rows if isinstance(one, Estimate))
    return IntervalChart(label=label, name=name, rows=defined) if defined else None


LEVELS = 10
"""Strengths of background besides none."""

LEAST_SPAN = 0.2
"""Closer numbers than this do not take the whole scale: noise must not look like a pattern."""


@dataclass(frozen=True, kw_only=True)
class GridCell:
    """A number in few digits, in words for whoever points at it, and its strength."""

    text: str
    title: str
    level: int | None


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table of numbers; ``low`` and ``high`` are the numbers at the ends of the scale.

    ``gaps`` says that some number is undefined, ``heading`` what the rows are. A ``dense`` one
    shows its backgrounds alone.
    """

    title: str
    rows: tuple[tuple[str, tuple[GridCell, ...]], ...]
    columns: tuple[str, ...]
    numbered: bool
    low: str
    high: str
    gaps: bool
    heading: str = "Model"
    dense: bool = False


def grid(
    title: str,
    cells: Mapping[tuple[str, str], Estimate | Undefined],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    numbered: bool = False,
    heading: str = "Model",
    start: float | None = None,
) -> Grid | None:
    """The estimates by row and column; None if no number is defined.

    Backgrounds begin at ``start``, by default at the least number. ``numbered`` says that columns
    are the rows again, and are called by the rows' numbers.
    """
    values = [one.value for one in cells.values() if isinstance(one, Estimate)]
    if not values:
        return None
    low = min(values) if start is None else start
    high = max(*values, low + LEAST_SPAN)
    if start is None and max(values) <= 1 < high:  # no share is above 1
        low, high = 1 - LEAST_SPAN, 1.0
    write = wording.two_digits

    def cell(row: str, column: str) -> GridCell:
        estimate = cells.get((row, column))
        if estimate is None:  # nothing was measured
            return GridCell(text="", title="", level=None)
        if isinstance(estimate, Undefined):
            return GridCell(text="–", title=f"{row}, {column}: {estimate}", level=None)
        written = wording.Cell.of(estimate)
        level = round(LEVELS * (estimate.value - low) / (high - low))
        return GridCell(
            text=write(estimate.value),
            title=f"{row}, {column}: {written.value} {written.interval}, n = {written.n:,}",
            level=max(0, level),
        )

    return Grid(
        title=title,
        rows=tuple((row, tuple(cell(row, column) for column in columns)) for row in rows),
        columns=tuple(columns),
        numbered=numbered,
        low=write(low),
        high=write(high),
        gaps=len(values) < len(cells),
        heading=heading,
    )
