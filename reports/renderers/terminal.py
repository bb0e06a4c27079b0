"""Blocks of a page in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from io import StringIO

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text as RichText

from reports import blocks
from reports.charts import SmallStrip
from reports.prose import Span, Text, Written, plain, written
from reports.wording import Cell
from scope.errors import printable

LEAST_WIDTH = 80
"""Tables are made for this many columns; narrower ones would lose values."""

_READABLE = 8
"""Columns of a table shrink to this width, and no further."""


def renderables(shown: Iterable[blocks.Block], *, folds: bool = False) -> Iterator[RenderableType]:
    """The blocks for rich to print; charts and examples are only in the page.

    Folded blocks are, too, unless ``folds``.
    """
    for block in blocks.within(shown, folds=folds):
        match block:
            case blocks.Table():
                yield _table(block)
            case blocks.Heading(text) | blocks.Paragraph(text) | blocks.Passage(text):
                yield _line(text)
            case blocks.Bullets(items):
                yield from (Padding(_line(item), (0, 0, 0, 2)) for item in items)
            case blocks.Terms(pairs):
                for term, meaning in pairs:
                    yield RichText.assemble(_line(term), ": ", _line(meaning))
            case blocks.Preformatted(text):
                yield RichText(printable(text))
            case blocks.Fold(title) if folds:
                yield _line(title)


def to_text(shown: Iterable[blocks.Block], width: int = 100) -> str:
    """The blocks as plain text."""
    file = StringIO()
    console = Console(file=file, width=width, color_system=None)
    for printed in renderables(shown):
        console.print(printed)
    return file.getvalue()


def least_width(shown: RenderableType) -> int:
    """Columns of a terminal in which a table shows all of its values.

    >>> least_width(_table(blocks.Table(columns=(), rows=())))
    80
    """
    if not isinstance(shown, RichTable):
        return LEAST_WIDTH
    needed = (max(column.min_width or 0, _READABLE) for column in shown.columns)
    between = 1 + shown.padding[1] + shown.padding[3]
    return max(LEAST_WIDTH, sum(width + between for width in needed) + 1)


class FittingTable(RichTable):
    """A table that respects the minimum widths of its columns if it is too wide.

    Rich shrinks the widest columns regardless of their minimum widths, and then cuts off the table
    at the right.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # The padding of a cell and a line; one more line at the edge.
        around = (1 + self.padding[1] + self.padding[3]) * len(self.columns)
        room = options.max_width - around + (-1 if self.show_edge else 1)
        natural = [
            max(Measurement.get(console, options, cell).maximum for cell in cells)
            for cells in ((column.header, *column.cells) for column in self.columns)
        ]
        if sum(natural) > room:
            least = [
                max(column.min_width or 0, min(_READABLE, width))
                for column, width in zip(self.columns, natural, strict=True)
            ]
            for column, width in zip(self.columns, shrunk(natural, least, room), strict=True):
                column.width = width
        yield from super().__rich_console__(console, options)
        for column in self.columns:
            column.width = None


def shrunk(natural: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Widths that fit into the room: the widest columns shrink, down to the minimum widths. If even
    these need more room, they are returned.

    >>> shrunk([20, 16, 9], [8, 16, 8], 36)
    [11, 16, 9]
    >>> shrunk([20, 16], [8, 16], 10)
    [8, 16]
    """
    widths = [max(pair) for pair in zip(natural, least, strict=True)]
    while sum(widths) > room:
        width, column = max(
            (width if width > least[place] else 0, place) for place, width in enumerate(widths)
        )
        if not width:
            break
        widths[column] -= 1
    return widths


def _table(table: blocks.Table) -> RichTable:
    shown = FittingTable(
        title=_line(table.caption) if table.caption else None,
        title_justify="left",
        caption_justify="left",
    )
    last = table.most // 2 if table.ends and len(table.rows) > table.most else 0
    kept = (*table.rows[: table.most - last], *table.rows[len(table.rows) - last :])
    if table.close:
        shown.box, shown.show_edge, shown.padding = SIMPLE_HEAD, False, (0, 1, 0, 0)
    places = [
        place
        for place, column in enumerate(table.columns)
        if (column.kind != "strip" or table.limits) and not column.spacious
    ]
    for place in places:
        column = table.columns[place]
        head = column.short or column.heading
        shown.add_column(
            _line(written(head) if isinstance(head, str) else head),
            overflow="fold",
            min_width=_width(kept, place, column.kind, close=table.close),
        )
    for row in kept:
        cells = (_cell(row.cells[place], close=table.close) for place in places)
        shown.add_row(*cells, style="bold" if row.chosen else None)
    if left_out := len(table.rows) - len(kept):
        between = " between these" if table.ends else ""
        shown.caption = _line(
            written(f"and {left_out:,} more{between}: in the report and in --json-full")
        )
    return shown


def _width(rows: Sequence[blocks.Row], place: int, kind: str, *, close: bool) -> int | None:
    """A number with its interval is never split over lines."""
    values = [row.cells[place] for row in rows]
    cells = [value for value in values if isinstance(value, Cell) and value.reason is None]
    lines = [line for cell in cells for line in _lines(cell, close=close)]
    if kind in ("number", "strip"):
        texts = (plain(written(v.words if isinstance(v, SmallStrip) else v)) for v in values)
        lines += [line for text in texts for line in text.splitlines()]
    return max(map(len, lines), default=None)


def _lines(cell: Cell, *, close: bool) -> tuple[str, ...]:
    """A number with its interval, in one line where tables are close."""
    if close:
        return (f"{cell.value} {cell.interval}",)
    return (f"{cell.value}  n={cell.n}", cell.interval)


def _cell(value: Written | SmallStrip | None, *, close: bool) -> RichText:
    if isinstance(value, Cell):
        lines = (f"undefined ({value.reason})",) if value.reason else _lines(value, close=close)
        # SCoPE adds the line breaks between them.
        parts = [" ".join(line.splitlines()) for line in (*lines, value.remark) if line]
        return _line((Span("\n".join(parts)),))
    return _line(written(value.words if isinstance(value, SmallStrip) else value))


def _line(text: Text) -> RichText:
    line = RichText()
    for span in text:
        style = {"strong": "bold", "alarm": "bold", "emphasis": "italic"}.get(span.style, "")
        # A line break in foreign text would begin a line that looks like SCoPE's.
        words = " ".join(span.text.splitlines()) if span.foreign else span.text
        line.append(printable(words), style)
    return line
