"""A page as text: Markdown, a terminal's, and verdicts and gates as test cases of a JUnit file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from itertools import accumulate, takewhile
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text as RichText

from reports.blocks import (
    Block,
    Bullets,
    Card,
    Cards,
    Fold,
    Grid,
    Heading,
    Moves,
    Page,
    Paragraph,
    Passage,
    Preformatted,
    Row,
    SmallStrip,
    Table,
    Terms,
    within,
)
from reports.html import document_text
from reports.prose import Span, Text, Written, joined, plain, written
from reports.wording import Cell
from scope.errors import printable
from scope.records import Result

MOST_CARDS = 20
"""Most examples shown."""

MOST_LINES = 60
"""Lines of a short report."""

_FIRST_CARDS, _MOST_LETTERS = 3, 6_000
_MOST_TABLE_LINES = 24

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!~-])")
BAR = r"\|"
"""A bar within a cell."""

_ORDERED = re.compile(r"^(\d+)([.)])(?=\s|$)")
_MARKS = {
    **dict.fromkeys(("strong", "alarm", "inserted", "marked"), "**{}**"),
    **{"emphasis": "*{}*", "deleted": "~~{}~~"},
}


def to_markdown(page: Page) -> str:
    """The whole page; charts are left out, as the tables have their numbers.

    Foreign text cannot become markup: every special character in it is escaped.
    """
    answer = filter(None, (page.heading, page.about))
    parts = [f"# {_escaped(page.title)}", *map(_inline, answer)]
    for section in page.sections:
        parts.append(f"## {_escaped(section.heading or section.title)}")
        parts += _blocks(section.blocks)
    return "\n\n".join(parts) + "\n"


def blocks_as_markdown(blocks: Iterable[Block]) -> str:
    """Blocks without a page around them."""
    return "\n\n".join(_blocks(blocks)) + "\n"


def to_short_markdown(page: Page, more: Sequence[Block], report: str) -> str:
    """A page's answer in at most 60 lines, for a comment on a pull request or a job's summary.

    The content of the terminal, with ``more`` blocks before its first table, the first examples,
    and the path of the whole ``report``.
    """
    words = list(takewhile(lambda block: not isinstance(block, Table), page.brief))
    examples = ["\n\n".join(_cards((card,))) for card in _first_cards(page)]
    answer = _blocks((*words, *more, *page.brief[len(words) :]))
    shown = _fitting((*answer, *examples), MOST_LINES - 4)
    end = [f"Report: {_code(report)}"] if report else []
    return "\n\n".join((f"## {_escaped(page.title[:_MOST_LETTERS])}", *shown, *end)) + "\n"


def _first_cards(page: Page) -> Iterator[Card]:
    """The first examples, each of a different text: trials of one text are very similar."""
    seen: set[str] = set()
    for card in (card for part in page.blocks() if isinstance(part, Cards) for card in part.cards):
        passages = (plain(block.text) for block in card.blocks if isinstance(block, Passage))
        text = next(passages, plain(card.note))
        if text not in seen:
            yield card
        seen.add(text)
        if len(seen) == _FIRST_CARDS:
            return


def _fitting(parts: Iterable[str], room: int) -> Iterator[str]:
    """The parts that fit into ``room`` lines, long tables and lists without their last rows.

    A very long part is left out: a comment on GitHub has at most 65,536 letters.
    """
    for part in parts:
        long = part.startswith(("|", "- "))
        shown = _first_lines(part, min(room - 1, _MOST_TABLE_LINES)) if long else part
        taken = shown.count("\n") + 2
        if taken <= room and len(shown) <= _MOST_LETTERS:
            yield shown
            room -= taken


def _first_lines(part: str, most: int) -> str:
    """A table or list of at most ``most`` lines, and of limited letters."""
    lines = part.split("\n")
    if len(lines) <= most and len(part) < _MOST_LETTERS:
        return part
    ends = accumulate(len(line) + 1 for line in lines)
    few = [line for line, end in zip(lines, ends, strict=True) if end < _MOST_LETTERS - 100]
    kept = few[: max(0, most - 2)]
    return "\n".join((*kept, "", f"{len(lines) - len(kept)} more are in the report\\."))


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    """The parts of blocks, each separated from the next by an empty line."""
    for block in within(blocks):
        match block:
            case Heading(text):
                yield f"### {_inline(text)}"
            case Paragraph(text):
                yield _inline(text)
            case Passage(text):
                yield f"> {_inline(text)}"
            case Preformatted(words):
                fence = _fence(printable(words), 3)
                yield f"{fence}\n{printable(words)}\n{fence}"
            case Bullets(items):
                yield "\n".join(f"- {_inline(item)}" for item in items)
            case Terms(pairs):
                yield "\n".join(f"- {_inline(term)}: {_inline(meaning)}" for term, meaning in pairs)
            case Table():
                yield from _table(block)
            case Grid():
                yield from _grid(block)
            case Fold(title):
                yield f"**{_inline(title)}**"
            case Moves(panels):
                rows = (joined(filter(None, (p.name, p.remark, *p.words))) for p in panels)
                yield "\n".join(f"- {_inline(row)}" for row in rows)
            case Cards(cards=cards):
                yield from _cards(cards)


def _cards(cards: Sequence[Card]) -> Iterator[str]:
    for card in cards[:MOST_CARDS]:
        yield _inline(card.note)
        yield from _blocks(card.blocks)
    if len(cards) > MOST_CARDS:
        yield f"{len(cards) - MOST_CARDS:,} more are in the HTML report\\."


def _table(table: Table) -> Iterator[str]:
    if table.caption:
        yield _inline(table.caption)
    shown = (column.kind != "strip" or table.limits for column in table.columns)
    places = [place for place, show in enumerate(shown) if show]
    heads = [table.columns[place].heading for place in places]
    numbers = [table.columns[place].kind in ("number", "estimate") for place in places]
    lines = [_row(_escaped(head) if isinstance(head, str) else _inline(head) for head in heads)]
    lines.append(_row("---:" if number else "---" for number in numbers))
    lines += (_row(_value(row.cells[place]) for place in places) for row in table.rows)
    yield "\n".join(lines)


def _value(value: Written | SmallStrip | None) -> str:
    if isinstance(value, Cell):
        # No bold type in a table; numbers hold no markup.
        spans = tuple(span._replace(style="plain") for span in written(value))
        estimate = _inline(spans) if value.reason else "".join(span.text for span in spans)
        return "; ".join(filter(None, (estimate, _escaped(value.remark))))
    return _inline(written(value.words if isinstance(value, SmallStrip) else value))


def _grid(grid: Grid) -> Iterator[str]:
    if grid.dense:  # drawn as a chart: too many numbers to read
        return
    yield _escaped(grid.title)
    lines = [_row(["", *map(_escaped, grid.columns)]), _row(["---"] + ["---:"] * len(grid.columns))]
    lines += (
        _row([_escaped(row), *(_escaped(cell.text) for cell in cells)]) for row, cells in grid.rows
    )
    yield "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    # A bar would end the cell, in code as well.
    return f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |"


def _inline(text: Text | Written) -> str:
    parts = []
    for span in written(text):
        if span.style == "code":
            parts.append(_code(span.text))
        elif words := span.text.strip():
            # Emphasis must not begin or end with a space.
            before, after = (" " * end.isspace() for end in (span.text[:1], span.text[-1:]))
            parts.append(before + _MARKS.get(span.style, "{}").format(_escaped(words)) + after)
        else:
            parts.append(" ")
    # At the start of a line "1." would begin a list.
    return _ORDERED.sub(r"\1\\\2", "".join(parts).strip())


def _escaped(text: str) -> str:
    r"""Foreign text in one line, escaped for Markdown and HTML.

    >>> _escaped("a|b <script> *c*")
    'a|b &lt;script&gt; \\*c\\*'
    """
    one_line = " ".join(printable(text).split())
    html = one_line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # On GitHub "@name" would notify the user of that name.
    return _SPECIAL.sub(r"\\\1", html).replace("@", "@\N{WORD JOINER}")


def _code(text: str) -> str:
    """Code within a line."""
    one_line = " ".join(printable(text).split())
    fence = _fence(one_line, 1)
    room = " " if "`" in one_line else ""
    return f"{fence}{room}{one_line}{room}{fence}"


def _fence(text: str, least: int) -> str:
    """More backticks than the longest run in a text."""
    return "`" * max(least, 1 + max(map(len, re.findall("`+", text)), default=0))


LEAST_WIDTH = 80
"""Tables are made for this many columns; narrower ones would lose values."""

_READABLE = 8
"""Columns of a table shrink to this width, and no further."""


def renderables(shown: Iterable[Block], *, folds: bool = False) -> Iterator[RenderableType]:
    """The blocks for rich to print; charts and examples are only in the page.

    Folded blocks are, too, unless ``folds``.
    """
    for block in within(shown, folds=folds):
        match block:
            case Table():
                yield _rich_table(block)
            case Heading(text) | Paragraph(text) | Passage(text):
                yield _rich_line(text)
            case Bullets(items):
                yield from (Padding(_rich_line(item), (0, 0, 0, 2)) for item in items)
            case Terms(pairs):
                for term, meaning in pairs:
                    yield RichText.assemble(_rich_line(term), ": ", _rich_line(meaning))
            case Preformatted(text):
                yield RichText(printable(text))
            case Fold(title) if folds:
                yield _rich_line(title)


def to_text(shown: Iterable[Block], width: int = 100) -> str:
    """The blocks as plain text."""
    file = StringIO()
    console = Console(file=file, width=width, color_system=None)
    for printed in renderables(shown):
        console.print(printed)
    return file.getvalue()


def least_width(shown: RenderableType) -> int:
    """Columns of a terminal in which a table shows all of its values.

    >>> least_width(_rich_table(Table(columns=(), rows=())))
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


def _rich_table(table: Table) -> RichTable:
    shown = FittingTable(
        title=_rich_line(table.caption) if table.caption else None,
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
            _rich_line(written(head) if isinstance(head, str) else head),
            overflow="fold",
            min_width=_width(kept, place, column.kind, close=table.close),
        )
    for row in kept:
        cells = (_rich_cell(row.cells[place], close=table.close) for place in places)
        shown.add_row(*cells, style="bold" if row.chosen else None)
    if left_out := len(table.rows) - len(kept):
        between = " between these" if table.ends else ""
        shown.caption = _rich_line(
            written(f"and {left_out:,} more{between}: in the report and in --json-full")
        )
    return shown


def _width(rows: Sequence[Row], place: int, kind: str, *, close: bool) -> int | None:
    """A number with its interval is never split over lines."""
    values = [row.cells[place] for row in rows]
    cells = [value for value in values if isinstance(value, Cell) and value.reason is None]
    lines = [line for cell in cells for line in _cell_lines(cell, close=close)]
    if kind in ("number", "strip"):
        texts = (plain(written(v.words if isinstance(v, SmallStrip) else v)) for v in values)
        lines += [line for text in texts for line in text.splitlines()]
    return max(map(len, lines), default=None)


def _cell_lines(cell: Cell, *, close: bool) -> tuple[str, ...]:
    """A number with its interval, in one line where tables are close."""
    if close:
        return (f"{cell.value} {cell.interval}",)
    return (f"{cell.value}  n={cell.n}", cell.interval)


def _rich_cell(value: Written | SmallStrip | None, *, close: bool) -> RichText:
    if isinstance(value, Cell):
        lines = (
            (f"undefined ({value.reason})",) if value.reason else _cell_lines(value, close=close)
        )
        # SCoPE adds the line breaks between them.
        parts = [" ".join(line.splitlines()) for line in (*lines, value.remark) if line]
        return _rich_line((Span("\n".join(parts)),))
    return _rich_line(written(value.words if isinstance(value, SmallStrip) else value))


def _rich_line(text: Text) -> RichText:
    line = RichText()
    for span in text:
        style = {"strong": "bold", "alarm": "bold", "emphasis": "italic"}.get(span.style, "")
        # A line break in foreign text would begin a line that looks like SCoPE's.
        words = " ".join(span.text.splitlines()) if span.foreign else span.text
        line.append(printable(words), style)
    return line


def junit(result: Result, title: str, judged: Mapping[str, Sequence[str]]) -> str:
    """One test suite: a case per verdict, per gate, and per failed part.

    ``judged`` are the failures of each gate. A case fails if the command exits with 1 because of
    it; a verdict without a gate is skipped. Both have their sentence.
    """
    suites = Element("testsuites", name="scope")
    suite = SubElement(suites, "testsuite", name=document_text(title))
    if result.clock is not None:
        suite.set("timestamp", result.clock.finished[:19])
        suite.set("time", f"{result.clock.seconds:.3f}")
    verdicts, job = result.verdict_lines(), result.manifest.job
    for verdict in verdicts:
        unmet = judged.get(verdict.subject, ())
        case = _case(suite, f"{job}.verdict", verdict.subject, unmet and (verdict.sentence,))
        if verdict.subject not in judged:
            decided = document_text(f"{verdict.decision}: {verdict.sentence}")
            SubElement(case, "skipped", message=decided)
        elif not unmet:
            SubElement(case, "system-out").text = document_text(verdict.sentence)
    subjects = {verdict.subject for verdict in verdicts}
    for name, failures in judged.items():
        if name not in subjects:
            _case(suite, f"{job}.gate", name, failures)
    for line in result.failed_parts():
        _case(suite, f"{job}.part", line, [line])
    for counted in (suites, suite):
        counted.set("tests", str(len(suite)))
        counted.set("failures", str(len(suite.findall("*/failure"))))
        counted.set("errors", "0")
    suite.set("skipped", str(len(suite.findall("*/skipped"))))
    indent(suites)
    document: bytes = tostring(suites, encoding="utf-8", xml_declaration=True)
    return document.decode() + "\n"


def _case(suite: Element, kind: str, name: str, failures: Sequence[str]) -> Element:
    case = SubElement(suite, "testcase", classname=f"scope.{kind}", name=document_text(name))
    if failures:
        lines = document_text("\n".join(failures))
        failure = SubElement(case, "failure", message=lines.partition("\n")[0], type=kind)
        failure.text = lines
    return case
