"""What charts hold: numbers and labels, no drawing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

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
class Interval:
    """One dot with its interval; ``series`` is the target's place among the targets."""

    category: str
    series: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class IntervalChart:
    """Dots with intervals, a row for each category and each series.

    Where ``close``, the axis holds what is drawn and no more, so that near numbers part.
    """

    label: str
    series: tuple[str, ...]
    intervals: tuple[Interval, ...]
    close: bool = False

    @property
    def start(self) -> float:
        """Where the axis begins: at 0, or at a quarter below the lowest end of an interval."""
        lowest = min((interval.low for interval in self.intervals), default=0.0)
        if self.close:
            return math.floor(lowest * 20 + 1e-9) / 20
        return min(0.0, math.floor(lowest * 4) / 4)

    @property
    def end(self) -> float:
        """Where the axis ends: at 1, or at a twentieth above what is drawn, behind its start."""
        highest = max((interval.high for interval in self.intervals), default=1.0)
        if not self.close:
            return 1.0
        return max(math.ceil(highest * 20 - 1e-9), round(self.start * 20) + 1) / 20

    @property
    def legend(self) -> tuple[Key, ...]:
        """One entry a series."""
        return tuple(series_key(place, name) for place, name in enumerate(self.series))


@dataclass(frozen=True, kw_only=True)
class ScatterDot:
    """One dot, with its names and numbers in words, and its interval upwards if it has one.

    Its ``name`` is written beside it where there is room.
    """

    title: str
    x: float
    y: float
    interval: tuple[float, float] | None = None
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class ScatterChart:
    """Dots by two numbers.

    ``diagonal`` draws where the two are equal, on axes with the same ends; ``joined`` draws a
    line from dot to dot. ``name`` and ``note`` are in the legend.
    """

    label: str
    x_title: str
    y_title: str
    dots: tuple[ScatterDot, ...]
    diagonal: bool = False
    joined: bool = False
    name: str = ""
    note: str = ""

    @property
    def legend(self) -> tuple[Key, ...]:
        """What the dots are of, if it has a name; every dot has its own in a title."""
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
    label: str,
    rows: Iterable[tuple[str, str, Estimate | Undefined]],
    series: tuple[str, ...],
    *,
    close: bool = False,
) -> IntervalChart | None:
    """A chart of the defined ones among (category, series, estimate); None where none is."""
    intervals = tuple(
        Interval(
            category=category,
            series=series.index(name),
            value=one.value,
            low=one.low,
            high=one.high,
        )
        for category, name, one in rows
        if isinstance(one, Estimate)
    )
    if not intervals:
        return None
    return IntervalChart(label=label, series=series, intervals=intervals, close=close)
