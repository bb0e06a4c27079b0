"""What a report consists of: sections of typed blocks and charts, worded and rounded once.

A job makes a `Page` of its result. Renderers, which are independent of jobs, make HTML, Markdown
and terminal text of it, so a job needs no template of its own. A chart is numbers and labels, no
drawing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, starmap
from typing import Any, Literal, NamedTuple, overload
from urllib.parse import quote

from reports.prose import Text, Written, plain, prose, written
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


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    text: Text


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; a ``note`` is smaller and paler, a ``lead`` is larger."""

    text: Text
    note: bool = False
    lead: bool = False


@dataclass(frozen=True)
class Passage:
    """An input or output text of a model, in its own writing direction."""

    text: Text


@dataclass(frozen=True)
class Preformatted:
    """Text whose line breaks and spaces count, such as a command."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A list; ``findings`` are the answers at the head of a report, and are larger."""

    items: tuple[Text, ...]
    findings: bool = False


@dataclass(frozen=True)
class Terms:
    """Terms with their explanations; ``facts`` are values, in the colour of the text."""

    pairs: tuple[tuple[Text, Text], ...]
    facts: bool = False


@dataclass(frozen=True)
class Figure:
    """A chart with the legend of its series."""

    chart: Chart


ColumnKind = Literal["name", "text", "number", "passage", "estimate", "strip"]


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    heading
        The words at its head; a `str` is ours, a `Text` may hold foreign names.
    kind
        ``name`` heads a row, ``text`` and ``number`` are plain cells, ``passage`` holds an input or
        output text of a model, ``estimate`` a `Cell`, and ``strip`` a small chart.
    method
        For estimates: whether a column beside it names the method of the interval.
    spacious
        Whether it is left out in narrow output such as a terminal.
    short
        The words at its head in narrow output, if others.
    """

    heading: str | Text
    kind: ColumnKind = "text"
    method: bool = False
    spacious: bool = False
    short: str = ""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of a table, with one value per column.

    ``chosen`` rows are bold. ``keys`` are what a `Finder` selects and sorts by; a key may hold
    several words.
    """

    cells: tuple[Written | SmallStrip | None, ...]
    chosen: bool = False
    keys: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Select:
    """A list from which a reader selects what is shown.

    ``options`` are the values of a key with their words: ``""`` all, ``any`` some, ``none`` no one.
    """

    key: str
    label: str
    options: tuple[tuple[str, str], ...]


def places(names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Options of a `Select` whose values are the places of the names, and one for all."""
    return (("", "all"), *((str(place), name) for place, name in enumerate(names)))


@dataclass(frozen=True, kw_only=True)
class Finder:
    """Search, selection and order of many elements in a page; a page has one at most.

    ``orders`` are keys with their words: ``order`` is the order of the elements themselves, unless
    they have a number under that key, the least first; the others sort by a number, the greatest
    first. ``difference`` is the key that is not empty where models differ. If ``kept``, the page
    shows for each model of a numbered option of ``difference`` on what share of the chosen elements
    with a text under the key ``judged`` it does not differ, as the mean over texts.
    """

    unit: str
    searched: str
    selects: tuple[Select, ...] = ()
    orders: tuple[tuple[str, str], ...] = ()
    difference: str = ""
    kept: bool = False


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table.

    Parameters
    ----------
    columns, rows
        Its content.
    caption
        The words above it.
    tall
        Whether a long table scrolls within the page.
    ends
        Whether the first and the last rows matter most: narrow output shows these.
    most
        Most rows in narrow output.
    finder
        Search and selection of its rows.
    close
        Whether a terminal draws no lines between its columns.
    matrix
        Whether a narrow screen leaves out the small print of its cells.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    caption: Text = ()
    tall: bool = False
    ends: bool = False
    most: int = 40
    finder: Finder | None = None
    close: bool = False
    matrix: bool = False

    @classmethod
    def of(
        cls, heads: Mapping[str, ColumnKind], rows: Iterable[Iterable[Any]], **options: Any
    ) -> Table:
        """A table of plain rows; ``heads`` are the words and kinds of its columns.

        >>> Table.of({"Model": "name", "n": "number"}, [("a", 1)]).columns[1].kind
        'number'
        """
        return cls.with_columns(starmap(Column, heads.items()), rows, **options)

    @classmethod
    def with_columns(
        cls, columns: Iterable[Column], rows: Iterable[Iterable[Any]], **options: Any
    ) -> Table:
        """A table of plain rows under columns."""
        made = (Row(cells=tuple(cells)) for cells in rows)
        return cls(columns=tuple(columns), rows=tuple(made), **options)

    def __post_init__(self) -> None:
        if any(len(row.cells) != len(self.columns) for row in self.rows):
            raise ValueError("a row of a table has not one cell a column")

    @property
    def limits(self) -> bool:
        """Whether it has drawings of limits with their numbers below."""
        cells = (cell for row in self.rows for cell in row.cells)
        return any(isinstance(cell, SmallStrip) and cell.words for cell in cells)

    @property
    def stacked(self) -> bool:
        """Whether intervals and n are below values: several columns of estimates need the room."""
        return sum(column.kind == "estimate" for column in self.columns) > 1


@dataclass(frozen=True, kw_only=True)
class Card:
    """One example: a caption, its content, and its name in the page's address."""

    note: Text
    blocks: tuple[Block, ...]
    keys: Mapping[str, str] = field(default_factory=dict)
    anchor: str = ""


@dataclass(frozen=True)
class LazyCards(Sequence[Card]):
    """Cards that are made on reading: only an HTML page reads all of many."""

    items: Sequence[Any]
    make: Callable[[Any], Card]

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, place: int) -> Card: ...
    @overload
    def __getitem__(self, place: slice) -> LazyCards: ...
    def __getitem__(self, place: int | slice) -> Card | LazyCards:
        if isinstance(place, slice):
            return LazyCards(self.items[place], self.make)
        return self.make(self.items[place])


@dataclass(frozen=True, kw_only=True)
class Cards:
    """Examples one below the other, or, if ``narrow``, side by side."""

    cards: Sequence[Card]
    finder: Finder | None = None
    narrow: bool = False


@dataclass(frozen=True)
class Fold:
    """Folded blocks behind a title."""

    title: Text
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Beside:
    """Groups of blocks side by side if there is room."""

    groups: tuple[tuple[Block, ...], ...]


@dataclass(frozen=True)
class Callout:
    """Blocks in a frame; ``kind`` gives its colour."""

    kind: Literal["good", "bad"]
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Moves:
    """A panel a model, of the same changes, whose ``cards`` are shown on a click on a dot."""

    panels: tuple[Panel, ...]
    cards: tuple[Card, ...]


Plain = Heading | Paragraph | Passage | Preformatted | Bullets | Terms | Figure | Grid | Table
Block = Plain | Moves | Cards | Fold | Beside | Callout
"""The blocks of a section; all but the plain ones have others inside."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a page with a heading.

    Parameters
    ----------
    anchor
        Its name in the page, a plain word.
    title
        Its words in the list of sections, and its heading unless ``heading`` is given.
    blocks
        Its content.
    heading
        A longer heading.
    folded
        Whether only its heading is shown until a reader opens it.
    """

    anchor: str
    title: str
    blocks: tuple[Block, ...]
    heading: str = ""
    folded: bool = False


@dataclass(frozen=True, kw_only=True)
class Page:
    """The whole report of a result.

    Parameters
    ----------
    title
        Its title; foreign names may be in it.
    sections
        In their order; the first answers the question.
    brief
        The blocks that a terminal shows, and that a notebook shows.
    heading, about
        The answer in one sentence, with which a terminal begins; what one must know to read it.
    """

    title: str
    sections: tuple[Section, ...]
    brief: tuple[Block, ...] = ()
    heading: Text = ()
    about: Text = ()

    def blocks(self) -> Iterator[Block]:
        """Every block of every section, including nested ones."""
        return within(chain.from_iterable(section.blocks for section in self.sections))


def within(blocks: Iterable[Block], *, folds: bool = True) -> Iterator[Block]:
    """The blocks in the order of the page, each before those inside it.

    Blocks inside examples are left out, and without ``folds`` those inside folds.
    """
    for block in blocks:
        yield block
        match block:
            case Fold() if not folds:
                pass
            case Fold(blocks=inner) | Callout(blocks=inner):
                yield from within(inner, folds=folds)
            case Beside(groups):
                yield from within(chain.from_iterable(groups), folds=folds)


def example_anchor(*parts: str | int) -> str:
    """The address of an example within a page, of ASCII letters and signs alone.

    >>> example_anchor("7 05", 3, "typo")
    'example-7%2005-3-typo'
    """
    return "-".join(("example", *(quote(str(part), safe="", errors="replace") for part in parts)))


def without_folds(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """What is visible without opening a fold, and a command that is folded by itself."""
    kept: list[Block] = []
    for block in blocks:
        match block:
            case Fold(blocks=(Preformatted() as command,)):
                kept.append(command)
            case Beside():
                kept.append(replace(block, groups=tuple(map(without_folds, block.groups))))
            case _ if not isinstance(block, Fold):
                kept.append(block)
    return tuple(kept)


def note(template: str, /, **fields: Written) -> Paragraph:
    """A paragraph in small print."""
    return Paragraph(prose(template, **fields), note=True)


def paragraph(template: str, /, **fields: Written) -> Paragraph:
    """A paragraph."""
    return Paragraph(prose(template, **fields))


def heading(template: str, /, **fields: Written) -> Heading:
    """A heading within a section."""
    return Heading(prose(template, **fields))
