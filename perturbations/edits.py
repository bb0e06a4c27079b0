"""Edits of a text: characters that give way to others, alone or several at once.

They change the text itself, not single words: "it is" becomes "it's", a name gives way to another
wherever it stands, an article before it follows.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar


class Edit(NamedTuple):
    """The characters from ``start`` to before ``end`` give way to ``text``."""

    start: int
    end: int
    text: str


Choice = TypeVar("Choice", int, str)

Change = tuple[Edit, ...]
"""Edits that are made together, from left to right; no two overlap."""


MOST_CHANGES = 64
"""Changes of one text that are tried; of more, so many are drawn."""


def chance_for(key: int, text: str) -> random.Random:
    """The source of chance of one search for one text: the same text gets the same again."""
    return random.Random(f"{key} {text}")  # noqa: S311 - no secret


def some_changes(
    changes: Callable[[str, random.Random], Iterable[Change]], text: str, key: int
) -> list[Change]:
    """The different changes of a text with the chance of one search; of many, some are drawn."""
    generator = chance_for(key, text)
    found = list(dict.fromkeys(changes(text, generator)))
    return found if len(found) <= MOST_CHANGES else generator.sample(found, MOST_CHANGES)


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


def just_before(
    pattern: re.Pattern[str], text: str, place: int, start: int = 0
) -> re.Match[str] | None:
    """What a pattern that ends in ``$`` finds right before a place, at most 100 characters back.

    Without that bound the time for a text would grow with the square of its length.

    Examples
    --------
    >>> just_before(re.compile(r"\\ban?\\s+$"), "seen by an American", 11)[0]
    'an '
    """
    return pattern.search(text, max(start, place - 100), place)


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
    before = just_before(_ARTICLE, text, edit.start)
    if before is None:
        return (edit,)
    article = article_for(before[1], edit.text)
    if article == before[1]:
        return (edit,)
    return Edit(before.start(1), before.end(1), article), edit


def article_for(article: str, word: str) -> str:
    """The article "a" or "an" as the word after it asks, in capitals where it was.

    Examples
    --------
    >>> article_for("a", "hour"), article_for("An", "film"), article_for("a", "unit")
    ('an', 'A', 'a')
    """
    vowel = _LIKE_A_VOWEL.match(word) and not _LIKE_A_CONSONANT.match(word)
    in_capitals = article == "AN" or (article == "A" and word.isupper())
    return article[0] + ("" if not vowel else "N" if in_capitals else "n")


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    """Any of these words or phrases, the longest that fits, as a whole word in any case.

    Links, handles, hashtags and parts of hyphenated words are none, nor is "he" in "[t]he". What
    is found is one of the words in lower case: not "İran", whose first letter Python takes for
    an i.

    Examples
    --------
    >>> any_of(["Iran", "Bogotá"]).findall("IRAN, İran, BOGOTÁ")
    ['IRAN', 'BOGOTÁ']
    """
    forms = {
        form
        for word in words
        for form in (word, word.lower(), word.upper(), word.title())
        if form.lower() == word.lower()
    }
    longest_first = sorted(forms, key=lambda word: (-len(word), word))
    listed = "|".join(re.escape(word) for word in longest_first)
    return re.compile(rf"(?<![\w@#/.&\]-])(?ai:{listed})(?![\w@/-]|\.\w)")


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
