"""Sentences of a report: our words with foreign names and numbers, escaped in every format.

A sentence is written once, as a template, and becomes HTML, Markdown or terminal text. Its fields
are never read as markup.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal, NamedTuple

from reports.wording import Cell
from scope.records import Estimate, Undefined

Change = Literal["inserted", "deleted", "marked"]
Style = (
    Literal["plain", "strong", "emphasis", "code", "alarm", "good", "open", "pale", "note", "share"]
    | Change
)
"""The style of a part; ``alarm`` marks losses and worse results, ``good`` right answers, ``open``
what is undecided, and ``pale`` what is not judged.

A ``share`` is a number from 0 to 1, or in per cent, which a page shows with a bar.
"""


class Span(NamedTuple):
    """A part of a sentence; ``foreign`` marks text that is not from SCoPE, such as a model's name.

    ``link`` is the anchor of a section of the page, or the path of another page with a slash in it.
    """

    text: str
    style: Style = "plain"
    foreign: bool = False
    link: str = ""


Text = tuple[Span, ...]
"""A sentence, or a part of one."""

Written = str | int | Text | Cell | Estimate | Undefined
"""The values of a field of a sentence or of a cell of a table."""

_PART = re.compile(
    r"(?P<open>\*\*|!!|``|__)|\{(?P<field>\w+)\}|\[\[(?P<anchor>[a-z]+)\|(?P<words>[^]{}]+)\]\]"
)
_STYLES: dict[str, Style] = {"**": "strong", "!!": "alarm", "``": "code", "__": "emphasis"}


def prose(template: str, /, **fields: Written) -> Text:
    """A sentence from its template.

    ``**strong**``, ``__emphasis__``, ` ``code`` `, ``!!alarm!!`` and ``[[anchor|words]]``, a link
    to a section, are markup of the template alone. Of the fields, a `str` is foreign text, an
    `int` is written with its thousands separated, and an estimate with its interval and n.

    Raises
    ------
    ValueError
        When a style is not closed, or a field is not used.
    KeyError
        When a field has no value.

    Examples
    --------
    >>> plain(prose("**{model}** keeps {n} texts.", model="a**b", n=1200))
    'a**b keeps 1,200 texts.'
    >>> prose("**{model}**", model="m")
    (Span(text='m', style='strong', foreign=True, link=''),)
    """
    parts: list[Span] = []
    style: Style = "plain"
    last = 0
    used = set()
    for match in _PART.finditer(template):
        parts.append(Span(template[last : match.start()], style))
        last = match.end()
        if match["anchor"]:
            parts.append(Span(match["words"], style, link=match["anchor"]))
        elif match["open"] is None:
            used.add(match["field"])
            value = written(fields[match["field"]])
            parts += (
                part._replace(style=style) if part.style == "plain" else part for part in value
            )
        elif style == "plain":
            style = _STYLES[match["open"]]
        elif style == _STYLES[match["open"]]:
            style = "plain"
        else:
            raise ValueError(f"a style within a style: {template!r}")
    parts.append(Span(template[last:], style))
    if style != "plain" or used != set(fields):
        raise ValueError(f"a style that is not closed, or a field that is not used: {template!r}")
    return tuple(part for part in parts if part.text)


def written(value: Written | None) -> Text:
    """A value as a part of a sentence; nothing for None.

    Examples
    --------
    >>> plain(written(Estimate(value=0.5, low=0.25, high=0.75, n=8, method="bootstrap")))
    '0.500 [0.250, 0.750] (n\xa0=\xa08)'
    """
    if isinstance(value, Estimate | Undefined):
        value = Cell.of(value)
    match value:
        case None:
            return ()
        case str():
            return (Span(value, foreign=True),)
        case int():
            return (Span(f"{value:,}"),)
        case Cell(reason=str(why)):
            return (Span("undefined", "strong"), Span(" ("), Span(why, foreign=True), Span(")"))
        case Cell():
            around = f" {value.interval} (n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{value.n:,})"
            return (Span(value.value, "strong"), Span(around))
    return value


def joined(parts: Iterable[Written], between: str = ", ", last: str | None = None) -> Text:
    """Parts joined by a separator, with a different one before the last.

    Examples
    --------
    >>> plain(joined(["a", "b", "c"], last=" and "))
    'a, b and c'
    """
    texts = [written(part) for part in parts]
    result: list[Span] = []
    for place, text in enumerate(texts):
        if place:
            is_last = place == len(texts) - 1
            result.append(Span(last if is_last and last is not None else between))
        result += text
    return tuple(result)


def together(*parts: Sequence[Span]) -> Text:
    """Sentences one after the other, with a space between."""
    return joined([tuple(part) for part in parts if part], between=" ")


def plain(text: Text) -> str:
    """The words alone."""
    return "".join(span.text for span in text)


_MOST_PAIRS = 1_000_000
"""Most pairs of equal words for the best alignment: its time grows with them."""


def mark_changes(
    original: str, changed: str, styles: tuple[Style, Style] = ("deleted", "inserted")
) -> tuple[Text, Text]:
    """Both texts in full; words (stretches without white space) that they do not share are marked.

    >>> before, after = mark_changes("a fine film", "a good film")
    >>> [span.text for span in before if span.style == "deleted"], plain(after)
    (['fine'], 'a good film')
    """
    shared = _shared(original.split(), changed.split())
    places = ({before for before, _ in shared}, {after for _, after in shared})
    first, second = map(_marked, (original, changed), places, styles)
    return first, second


def _shared(before: list[str], after: list[str]) -> list[tuple[int, int]]:
    """The places in both texts of the words that they share, in their order."""
    occurrences = Counter(after)
    if sum(occurrences[word] for word in before) > _MOST_PAIRS:
        return _shared_in_place(before, after)
    # autojunk would treat frequent words of a long text as noise and mark them as changed.
    matches = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return [(match.a + step, match.b + step) for match in matches for step in range(match.size)]


def _shared_in_place(before: list[str], after: list[str]) -> list[tuple[int, int]]:
    """The words at equal places of both texts, counted from the start, then from the end."""
    pairs = enumerate(zip(before, after, strict=False))
    shorter = min(len(before), len(after))
    start = next((place for place, (old, new) in pairs if old != new), shorter)
    shift = len(after) - len(before)
    rest = range(max(start, start - shift), len(before))
    return [
        *((place, place) for place in range(start)),
        *((place, place + shift) for place in rest if before[place] == after[place + shift]),
    ]


def _marked(text: str, shared: set[int], style: Style) -> Text:
    """The text with all words marked whose places are not shared."""
    tokens: list[tuple[str, bool]] = []
    words = 0
    for token in re.findall(r"\s+|\S+", text):
        tokens.append((token, not token.isspace() and words not in shared))
        words += not token.isspace()
    runs = groupby(tokens, key=lambda token: token[1])
    return tuple(
        Span("".join(token for token, _ in run), style if changed else "plain")
        for changed, run in runs
    )
