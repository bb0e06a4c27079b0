"""Edits of a text: characters that give way to others, alone or several at once.

They change the text itself, not single words: "it is" becomes "it's", a name gives way to another
wherever it stands, an article before it follows.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar


class Edit(NamedTuple):
    """The characters from ``start`` to before ``end`` give way to ``text``."""

    start: int
    end: int
    text: str


Choice = TypeVar("Choice", int, str)

Change = tuple[Edit, ...]
"""Edits that are made together, from left to right; no two overlap."""


def chance_for(key: int, text: str) -> random.Random:
    """The source of chance of one search for one text: the same text gets the same again."""
    return random.Random(f"{key} {text}")  # noqa: S311 - no secret


def edited(text: str, change: Change) -> str:
    """The text after a change.

    Examples
    --------
    >>> edited("a good film", (Edit(0, 1, "an"), Edit(2, 6, "old")))
    'an old film'
    """
    pieces, end = [], 0
    for edit in change:
        pieces += [text[end : edit.start], edit.text]
        end = edit.end
    return "".join([*pieces, text[end:]])


def like(original: str, new: str) -> str:
    """The new words with the capitals of the original.

    Examples
    --------
    >>> like("Mary", "anna"), like("MARY", "anna"), like("mary", "Anna"), like("I", "she")
    ('Anna', 'ANNA', 'anna', 'She')
    """
    if original.isupper() and len(original) > 1:
        return new.upper()
    if original.islower():
        return new.lower()
    return new[:1].upper() + new[1:]


def has_capitals(text: str) -> bool:
    """Whether capitals mean anything in a text; in one without any, names have none either.

    Examples
    --------
    >>> has_capitals("seen in paris"), has_capitals("Seen in paris"), has_capitals("SEEN")
    (False, True, False)
    """
    return text != text.lower() and text != text.upper()


_ARTICLE = re.compile(r"\b(an?)(\s+)$", re.IGNORECASE)
_LIKE_A_CONSONANT = re.compile(
    r"(uni([^mn]|$)|us[aeu]|eu|one\b|once\b|uk|ut[ie]|ug)", re.IGNORECASE
)
_LIKE_A_VOWEL = re.compile(r"([aeiou]|hour|honest|honou?r|heir)", re.IGNORECASE)


def with_article(text: str, edit: Edit) -> Change:
    """The edit, and that of "a" or "an" before it where the new word asks for the other.

    Examples
    --------
    >>> text = "seen by an American"
    >>> edited(text, with_article(text, Edit(11, 19, "Mexican")))
    'seen by a Mexican'
    """
    before = _ARTICLE.search(text, 0, edit.start)
    if before is None:
        return (edit,)
    vowel = _LIKE_A_VOWEL.match(edit.text) and not _LIKE_A_CONSONANT.match(edit.text)
    article = before[1][0] + (like(before[1], "n") if vowel and len(before[1]) > 1 else "")
    if vowel and len(before[1]) == 1:
        article += "n"
    if article == before[1]:
        return (edit,)
    return Edit(before.start(1), before.end(1), article), edit


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    """Any of these words or phrases, the longest that fits, as a whole word in any case.

    Links, handles, hashtags and parts of hyphenated words are none.
    """
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    listed = "|".join(re.escape(word) for word in longest_first)
    return re.compile(rf"(?<![\w@#/.&-])(?:{listed})(?![\w@/-]|\.\w)", re.IGNORECASE)


def drawn(choices: Iterable[Choice], most: int, generator: random.Random) -> list[Choice]:
    """At most so many of the choices, at random."""
    known = sorted(set(choices))
    return generator.sample(known, min(most, len(known)))


def by_word(text: str, places: Iterable[re.Match[str]]) -> Iterator[tuple[str, list[Edit]]]:
    """The places of each word, in any case, as edits that change nothing yet."""
    found: dict[str, list[Edit]] = {}
    for place in places:
        found.setdefault(place[0].lower(), []).append(Edit(place.start(), place.end(), place[0]))
    yield from found.items()
