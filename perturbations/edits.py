"""Edits of a text: characters give way to others, alone or several at once.

Edits change the text itself, not single
words: "it is" becomes "it's", a name gives way to another wherever it stands, an article before it
follows.

Proper names of a table in a text: where they stand, and which are parts of longer ones.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from perturbations.lexicon import stopwords, table, wordnet


class Edit(NamedTuple):
    """The characters from ``start`` to before ``end`` give way to ``text``."""

    start: int
    end: int
    text: str


Choice = TypeVar("Choice", int, str)

Change = tuple[Edit, ...]
"""Edits that are made together, from left to right; no two overlap."""


MOST_CHANGES = 64
"""Most changes of one text that are tried; of more, this number is drawn."""


def some_changes(
    changes: Callable[[str, random.Random], Iterable[Change]], text: str, key: int
) -> list[Change]:
    """The different changes of a text with the chance of one search; of many, some are drawn.

    The same text gets the same chance again.
    """
    generator = random.Random(f"{key} {text}")  # noqa: S311 - no secret
    every = list(dict.fromkeys(changes(text, generator)))
    return every if len(every) <= MOST_CHANGES else generator.sample(every, MOST_CHANGES)


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
    edits: dict[str, list[Edit]] = {}
    for place in places:
        edits.setdefault(place[0].lower(), []).append(Edit(place.start(), place.end(), place[0]))
    yield from edits.items()


_SENTENCE_START = re.compile(r"(?:^\W*|[.!?]\s+|[\"“(]\s*|@\w+\s+)$")
_WORD = re.compile(r"(?<![\w@#/.'’])[^\W\d_]{2,}(?:['’]\w+)?")
_MARK = "*"


def without_mark(name: str) -> str:
    """The name as it is written; tables mark one that is an ordinary word too with a star."""
    return name.removesuffix(_MARK)


def starts_sentence(text: str, start: int) -> bool:
    """Whether what begins here is the first word of a sentence."""
    return just_before(_SENTENCE_START, text, start) is not None


def may_hold_a_name(text: str, known: Collection[str] = ()) -> bool:
    """Whether any word may be a proper name, but for the known ones in lower case.

    A listed name tells, and a capital within a sentence. Where that would tell nothing, so does a
    word that WordNet does not know without a capital, and, in a text without capitals, a quote.

    Examples
    --------
    >>> [may_hold_a_name(one) for one in ("She met Bo.", "she met lopez", "Nice. She left")]
    [True, True, False]
    """
    capitals = has_capitals(text)
    names = {without_mark(name).lower() for *_, name in table("names")}
    if not capitals and not {*text}.isdisjoint('"“`'):
        return True
    for match in _WORD.finditer(text):
        whole = match[0].lower()
        word = re.split("['’]", whole)[0]
        plain = capitals and (match[0].islower() or match[0].isupper())
        if word in known or {word, whole} & stopwords() or (plain and word not in names):
            continue
        inside = capitals and not starts_sentence(text, match.start())
        if inside or word in names or not wordnet().is_common(word):
            return True
    return False


def names_in(text: str, names: Collection[str]) -> Iterator[re.Match[str]]:
    """The places of these names in a text.

    In a text with capitals a name has one; a name that is an ordinary word, marked with ``*``, is
    none at the start of a sentence. In a text of one case marked names are none.

    Examples
    --------
    >>> [found[0] for found in names_in("Rose met Rose and rose", ["Rose*"])]
    ['Rose']
    >>> [found[0] for found in names_in("rose met anna", ["Rose*", "Anna"])]
    ['anna']
    """
    capitals = has_capitals(text)
    for match in any_of(map(without_mark, names)).finditer(text):
        word = match[0].title() + _MARK in names
        starts = word and starts_sentence(text, match.start())
        if (match[0][0].isupper() and not starts) if capitals else not word:
            yield match


_SPACE = r"[^\S\n]+"
"""No end of a line: a title and the text below it are no name."""
_INITIAL = rf"(?:[A-Za-z]\.{_SPACE}|[A-Z]{_SPACE})?"
_AFTER = re.compile(rf"{_SPACE}{_INITIAL}([^\W\d_][\w'-]*)")
_BEFORE = re.compile(rf"([^\W\d_][\w'-]*\.?){_SPACE}{_INITIAL}$")
_TITLES = frozenset({"mr.", "mrs.", "ms.", "dr."})
_SAINTS = frozenset({"st", "st.", "saint", "san", "santa"})
_STREETS = re.compile(
    r"\s+(?:street|st|road|avenue|square|park|field|airport|bay|city)\b", re.IGNORECASE
)


def persons_in(
    text: str, first_names: Collection[str], surnames: Collection[str]
) -> Iterator[tuple[str, str]]:
    """The first name and the surname of each person, once; either may be empty.

    A surname that follows a listed first name need not be listed: in a text with capitals it has
    one, in another it is no stopword and not in WordNet. A name after anything else that may be
    part of it, or before a word such as "Street", is left out wherever it stands, to make up no
    half-known person.

    Examples
    --------
    >>> list(persons_in("Emily Petroni met Lopez.", ["Emily"], ["Lopez"]))
    [('Emily', 'Petroni'), ('', 'Lopez')]
    >>> list(persons_in("emily rarely met gary lopez", ["Emily"], ["Lopez"]))
    [('emily', '')]
    >>> list(persons_in("St. Anna, and Anna", ["Anna"], []))
    []
    """
    parts: set[str] = set()
    people = dict.fromkeys(_mentions(text, first_names, surnames, parts))
    whole = {name for person in people if all(person) for name in person}
    for person in people:
        if (all(person) or not {*person} & whole) and parts.isdisjoint(map(str.lower, person)):
            yield person


def _mentions(
    text: str, first_names: Collection[str], surnames: Collection[str], parts: set[str]
) -> Iterator[tuple[str, str]]:
    """The names that stand for a person; those that are parts of another go to ``parts``."""
    known = {without_mark(name).lower() for name in (*first_names, *surnames)}
    capitals = has_capitals(text)
    end = 0
    for match in names_in(text, [*first_names, *surnames]):
        before = just_before(_BEFORE, text, match.start(), end)
        if match.start() < end:
            continue
        if _STREETS.match(text, match.end()) or (
            before
            and (before[1].lower() in _SAINTS or _may_be_a_name(before[1], capitals, strict=True))
        ):
            if capitals:
                parts.add(match[0].lower())
            continue
        after = _AFTER.match(text, match.end())
        if match[0].lower() not in {without_mark(name).lower() for name in first_names}:
            yield "", match[0]
        elif after and (after[1].lower() in known or _may_be_a_name(after[1], capitals)):
            end = after.end(1)
            yield match[0], after[1].removesuffix("'s")
        else:
            yield match[0], ""


def _may_be_a_name(word: str, capitals: bool, *, strict: bool = False) -> bool:
    """Whether a word beside a name may be part of it; strictly, any that is no stopword."""
    if word.lower().removesuffix("'s") in {*stopwords(), "s", *_TITLES}:
        return False
    if capitals:
        return word[0].isupper()
    return strict or not wordnet().is_common(word)


_OWNS = re.compile(r"['’]\s+\w")
"""The end of "James' car"."""


def replaced_everywhere(text: str, new: Mapping[str, str]) -> Change:
    """Every one of these names replaced wherever it stands, with the capitals that it has.

    In a text with capitals the same word without one is no name.

    Examples
    --------
    >>> replaced_everywhere("Ann's Ann", {"Ann": "Eve"})
    (Edit(start=0, end=3, text='Eve'), Edit(start=6, end=9, text='Eve'))
    >>> replaced_everywhere("for James' sake", {"James": "Eve"})
    (Edit(start=4, end=10, text="Eve's"),)
    >>> replaced_everywhere("Emma Stone threw a stone", {"Stone": "Diallo"})
    (Edit(start=5, end=10, text='Diallo'),)
    """
    capitals = has_capitals(text)
    by_word = {word.lower(): other for word, other in new.items() if word}
    edits: list[Edit] = []
    for match in any_of(by_word).finditer(text):
        if match[0][0].isupper() or not capitals:
            start, end, shown = *match.span(), like(match[0], by_word[match[0].lower()])
            quoted = text[max(0, start - 1) : start] in {"'", "‘"}
            if (
                not quoted
                and match[0][-1] in "sS"
                and shown[-1] not in "sS"
                and _OWNS.match(text, end)
            ):
                end, shown = end + 1, shown + text[end] + ("S" if shown.isupper() else "s")
            edits.append(Edit(start, end, shown))
    return tuple(edits)
