"""Blocks of a page in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from reports.blocks import (
    Beside,
    Block,
    Bullets,
    Callout,
    Column,
    Fold,
    Heading,
    Paragraph,
    Passage,
    Preformatted,
    Row,
    Table,
    Terms,
)
from reports.charts import SmallStrip
from reports.prose import Span, Text, Written, plain, written
from reports.wording import Cell
from scope.printing import printable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table as RichTable
    from rich.text import Text as RichText

AT_EITHER_END = 4
"""Rows shown at either end of a long table whose ends matter."""

LEAST_WIDTH = 80
"""Tables are made for as many columns; narrower ones would lose values."""

_LEAST_OF_A_COLUMN = 8


def renderables(blocks: Iterable[Block], *, folds: bool = False) -> Iterator[RenderableType]:
    """What rich prints of the blocks; charts and examples are left to the page.

    Folded blocks are, too, unless ``folds``.
    """
    from rich.padding import Padding
    from rich.text import Text as RichText

    for block in blocks:
        match block:
            case Table():
                yield _table(block)
            case Heading(text) | Paragraph(text) | Passage(text):
                yield _line(text)
            case Bullets(items):
                yield from (Padding(_line(item), (0, 0, 0, 2)) for item in items)
            case Terms(pairs):
                for term, meaning in pairs:
                    yield RichText.assemble(_line(term), ": ", _line(meaning))
            case Preformatted(text):
                yield RichText(printable(text))
            case Callout(_, inner):
                yield from renderables(inner, folds=folds)
            case Fold(title, inner) if folds:
                yield from (_line(title), *renderables(inner, folds=True))
            case Beside(groups):
                for group in groups:
                    yield from renderables(group, folds=folds)


def to_text(blocks: Iterable[Block], width: int = 100) -> str:
    """The blocks as plain text."""
    from io import StringIO

    from rich.console import Console

    console = Console(file=StringIO(), width=width, color_system=None)
    for shown in renderables(blocks):
        console.print(shown)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def least_width(shown: RenderableType) -> int:
    """Columns of a terminal in which a table shows all of its values.

    Examples
    --------
    >>> least_width(_table(Table(columns=(Column("model", "name"),), rows=())))
    80
    """
    from rich.table import Table as RichTable

    if not isinstance(shown, RichTable):
        return LEAST_WIDTH
    needed = (max(one.min_width or 0, _LEAST_OF_A_COLUMN) for one in shown.columns)
    between = 1 + shown.padding[1] + shown.padding[3]
    return max(LEAST_WIDTH, sum(one + between for one in needed) + 1)


def _table(table: Table) -> RichTable:
    from rich.box import SIMPLE_HEAD

    from reports.renderers.fitting_table import FittingTable

    shown = FittingTable(
        title=_line(table.caption) if table.caption else None,
        title_justify="left",
        caption_justify="left",
    )
    kept = _kept(table)
    if table.close:
        shown.box, shown.show_edge, shown.padding = SIMPLE_HEAD, False, (0, 1, 0, 0)
    places = [
        place for place, one in enumerate(table.columns) if one.kind != "strip" and not one.spacious
    ]
    for place in places:
        column = table.columns[place]
        values = [row.cells[place] for row in kept]
        width = _width(values, column.kind, close=table.close)
        shown.add_column(_heading(column), overflow="fold", min_width=width)
    for row in kept:
        cells = (_cell(row.cells[place], close=table.close) for place in places)
        shown.add_row(*cells, style="bold" if row.chosen else None)
    if left_out := len(table.rows) - len(kept):
        between = " between these" if table.ends else ""
        shown.caption = _line(
            written(f"and {left_out:,} more{between}: in the report and in --json-full")
        )
    return shown


def _kept(table: Table) -> tuple[Row, ...]:
    if not table.ends:
        return table.rows[: table.most]
    if len(table.rows) <= 2 * AT_EITHER_END:
        return table.rows
    return (*table.rows[:AT_EITHER_END], *table.rows[-AT_EITHER_END:])


def _heading(column: Column) -> RichText:
    heading = column.heading
    return _line(written(heading) if isinstance(heading, str) else heading)


def _width(values: Sequence[Written | SmallStrip | None], kind: str, *, close: bool) -> int | None:
    """A number with its interval is never broken over lines."""
    cells = [one for one in values if isinstance(one, Cell) and one.reason is None]
    lines = [line for one in cells for line in _lines(one, close=close)]
    if kind == "number":
        texts = [plain(written(one)) for one in values if not isinstance(one, SmallStrip)]
        lines += [line for text in texts for line in text.splitlines()]
    return max(map(len, lines), default=None)


def _lines(cell: Cell, *, close: bool) -> tuple[str, ...]:
    """A number with its interval, in one line where tables are close."""
    return (
        (f"{cell.value} {cell.interval}",)
        if close
        else (f"{cell.value}  n={cell.n}", cell.interval)
    )


def _cell(value: Written | SmallStrip | None, *, close: bool) -> RichText:
    from rich.text import Text as RichText

    if isinstance(value, Cell):
        lines = (
            _lines(value, close=close) if value.reason is None else (f"undefined ({value.reason})",)
        )
        # The breaks between them are ours.
        parts = [" ".join(one.splitlines()) for one in (*lines, value.remark) if one]
        return _line((Span("\n".join(parts)),))
    return RichText() if isinstance(value, SmallStrip) else _line(written(value))


def _line(text: Text) -> RichText:
    from rich.text import Text as RichText

    line = RichText()
    for span in text:
        style = {"strong": "bold", "alarm": "bold", "emphasis": "italic"}.get(span.style, "")
        # A line break of foreign text would begin a line that looks like ours.
        words = " ".join(span.text.splitlines()) if span.foreign else span.text
        line.append(printable(words), style)
    return line
