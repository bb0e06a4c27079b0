"""A page as Markdown, for issues, pull requests and notebooks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, takewhile

from reports.blocks import (
    Block,
    Bullets,
    Card,
    Cards,
    Fold,
    Heading,
    Moves,
    Page,
    Paragraph,
    Passage,
    Preformatted,
    Table,
    Terms,
    within,
)
from reports.charts import Grid, SmallStrip
from reports.prose import Text, Written, joined, plain, written
from reports.wording import Cell
from scope.errors import printable

MOST_CARDS = 20
"""Most examples shown."""

MOST_LINES = 60
"""Lines of a short report."""

_FIRST_CARDS, _MOST_LETTERS = 3, 6_000
_MOST_TABLE_LINES = 24

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!~-])")
BAR = r"\|"
"""A bar within a cell."""

_ORDERED = re.compile(r"^(\d+)([.)])")
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
        # No bold type in a table.
        estimate = tuple(span._replace(style="plain") for span in written(value))
        return "; ".join(filter(None, (_inline(estimate), _escaped(value.remark))))
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
