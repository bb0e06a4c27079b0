"""The data of charts and tables with coloured backgrounds: numbers and labels, no drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from reports.prose import plain, written
from reports.wording import two_digits
from scope.records import Estimate, Undefined

GLYPHS = ("●", "■", "▲", "◆", "▼", "✚")
"""The shapes of the series in a legend, in the order of the drawings."""


class Key(NamedTuple):
    """An entry of a legend: its shape, the class of its colour, its name, and a remark."""

    glyph: str
    style: str
    name: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Dot:
    """One dot; ``title`` is its tooltip, and its ``name`` is beside it if there is room.

    Its interval, if any, is vertical.
    """

    title: str
    x: float
    y: float = 0.0
    interval: tuple[float, float] | None = None
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Series:
    """Dots of one shape and one colour; a series with a name is in the legend.

    ``shape`` is taken modulo the number of shapes. ``style`` is the class of its colour if that is
    not the shape's.
    """

    dots: tuple[Dot, ...]
    name: str = ""
    note: str = ""
    shape: int = 0
    style: str = ""

    @property
    def key(self) -> Key:
        """Its entry in the legend.

        >>> Series(dots=(), name="a model", shape=7).key
        Key(glyph='■', style='s1', name='a model', note='')
        """
        place = self.shape % len(GLYPHS)
        return Key(GLYPHS[place], self.style or f"s{place}", self.name, self.note)


class Guide(NamedTuple):
    """A dashed line between two places; one with a name is in the legend."""

    start: tuple[float, float]
    end: tuple[float, float]
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Series of dots by two numbers.

    Parameters
    ----------
    label
        Alternative text of the chart.
    series, guides
        The dots, and the lines to compare them with.
    x_title, y_title
        The words at the axes. Without ``x_title`` it is a map: distances count, and no axes are
        drawn. If ``y_title`` is None, heights are rows without numbers.
    joined
        Dots of a series with at most this horizontal distance are joined by a line, and their
        intervals by a band.
    ends
        The ends of the axes; by default round numbers around the dots.
    size
        Its width and height in pixels, without the words at its axes.
    """

    label: str
    series: tuple[Series, ...]
    guides: tuple[Guide, ...] = ()
    x_title: str = ""
    y_title: str | None = ""
    joined: float = 0.0
    ends: tuple[tuple[float, float], tuple[float, float]] | None = None
    size: tuple[int, int] = (520, 300)

    @property
    def dots(self) -> tuple[Dot, ...]:
        """Every dot, series by series."""
        return tuple(dot for series in self.series for dot in series.dots)

    @property
    def legend(self) -> tuple[Key, ...]:
        """The series and guides that have names."""
        guides = (Key("┆", "", guide.name) for guide in self.guides if guide.name)
        return (*(series.key for series in self.series if series.name), *guides)


Colour = Literal["good", "bad", "open", "pale"]
"""The colour of a verdict; ``pale`` is for what is not judged, and for a yardstick."""


@dataclass(frozen=True)
class SmallStrip:
    """An estimate with its interval, small enough for a cell of a table.

    ``ends`` are the ends of a scale that several rows share, and what lies outside is drawn at
    the end. With ``least`` the background is green from there, up to ``most`` if given, and red
    elsewhere. ``words`` are below the drawing, and stand for it in a terminal.
    """

    label: str
    estimate: Estimate
    ends: tuple[float, float]
    least: float | None = None
    most: float | None = None
    verdict: Colour | None = None
    words: str = ""


@dataclass(frozen=True, kw_only=True)
class Panel:
    """How far each random change moves a model, beside how far it moves the reference.

    ``moves`` has the reference's move and the model's for each change, None without an answer;
    beyond ``most`` they are drawn at the edge. ``slope`` is that of the line through the middle,
    ``remark`` says what the drawing shows, ``words`` are the numbers.
    """

    name: str
    remark: str
    verdict: Colour
    words: tuple[str, ...]
    moves: tuple[tuple[float, float] | None, ...]
    slope: float
    most: float


LEVELS = 10
"""Strengths of background besides none."""

LEAST_SPAN = 0.2
"""Numbers closer than this do not span the whole scale: noise must not look like a pattern."""


class GridCell(NamedTuple):
    """A number in few digits, its tooltip, and the strength of its background."""

    text: str = ""
    title: str = ""
    level: int | None = None


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table of numbers; ``low`` and ``high`` are the numbers at the ends of the scale.

    ``gaps`` says that some number is undefined, ``heading`` names the rows. A ``dense`` grid shows
    only backgrounds.
    """

    title: str
    rows: tuple[tuple[str, tuple[GridCell, ...]], ...]
    columns: tuple[str, ...]
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
    heading: str = "Model",
    start: float | None = None,
) -> Grid | None:
    """The estimates by row and column; None if no number is defined.

    Backgrounds begin at ``start``, by default the least number.
    """
    values = [estimate.value for estimate in cells.values() if isinstance(estimate, Estimate)]
    if not values:
        return None
    low = min(values) if start is None else start
    high = max(*values, low + LEAST_SPAN)
    if start is None and max(values) <= 1 < high:  # no share is above 1
        low, high = 1 - LEAST_SPAN, 1.0

    def cell(row: str, column: str) -> GridCell:
        estimate = cells.get((row, column))
        if estimate is None:  # nothing was measured
            return GridCell()
        title = f"{row}, {column}: {plain(written(estimate))}"
        if isinstance(estimate, Undefined):
            return GridCell("–", title)
        level = round(LEVELS * (estimate.value - low) / (high - low))
        return GridCell(two_digits(estimate.value), title, max(0, level))

    return Grid(
        title=title,
        rows=tuple((row, tuple(cell(row, column) for column in columns)) for row in rows),
        columns=tuple(columns),
        low=two_digits(low),
        high=two_digits(high),
        gaps=len(values) < len(cells),
        heading=heading,
    )
