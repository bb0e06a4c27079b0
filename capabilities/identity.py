"""*identity*: does the answer stay when a text speaks of people of another group?

The paper's *fairness* capability (arXiv 2311.04166), whose parts it does not publish: the terms,
their categories and the rules are ours. All terms of gender change together, pronouns among them;
a term of origin, religion, age or disability gives way to another of its kind wherever it stands,
mostly before a noun for people: "an old man", not "an old film". A text that may hold a name is
left, and a term beside another of its category. A text can hold of one group alone ("the first
woman to ..."): an invariance found here says that the reference does not mind the group in this
text, not that it is fair, and a model that minds is not thereby shown to be unfair.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from perturbations.capability import EditingCapability, check_candidates, check_choice
from perturbations.edits import (
    Change,
    Edit,
    any_of,
    drawn,
    has_capitals,
    just_before,
    like,
    may_hold_a_name,
    with_article,
)
from perturbations.lexicon import table

ALL = "all"


@dataclass(frozen=True, kw_only=True)
class Identity(EditingCapability):
    """Swaps terms of gender, origin, religion, age or disability within their category.

    Parameters
    ----------
    category
        ``gender``, ``origin``, ``religion``, ``age`` or ``disability``, or ``all`` of them.
    candidates
        How many terms to try for one; the other gender is one.
    max_characters
        Longest text that is searched.
    """

    name = "identity"
    question = "Does the prediction stay the same when people of another group are meant?"
    nothing = "no term of the categories"
    groups = ("fairness",)
    example = (
        "He and his wife help an Italian neighbor.",
        "She and her husband help an Italian neighbor.",
    )
    queries = 8
    accepted = (
        "0.94 [0.86, 0.98] of 71 (κ 0.85; pronoun against a name, contradicts the context, "
        "same group)"
    )
    draws = True
    tables = ("identity", "names")
    lexicons = ("stopwords", "wordnet")

    category: str = ALL
    candidates: int = 5

    def __post_init__(self) -> None:
        check_choice("category", self.category, (ALL, *CATEGORIES))
        check_candidates(self.candidates)

    def changes(self, text: str, generator: random.Random) -> Iterator[Change]:
        """The other gender throughout, then each other term replaced wherever it stands."""
        if may_hold_a_name(text, terms()):
            return
        if self.category in (ALL, "gender") and (change := other_gender(text)):
            yield change
        for term, places in terms_in(text):
            if self.category in (ALL, term.category):
                for other in drawn(term.others(text), self.candidates, generator):
                    yield another_term(text, places, term, other)


CATEGORIES = ("gender", "origin", "religion", "age", "disability")

_NONE = "-"

_NO_NOUN = frozenset((
    "a", "an", "the", "to", "in", "on", "at", "by", "for", "from", "with", "and", "or", "but",
    "as", "that", "this", "is", "was", "are", "were", "when", "if", "who", "into", "about",
    "up", "down", "out", "over", "again", "so", "because", "than", "after", "before",
    "while", "not",
))  # fmt: skip
"""Words after "his" or "her" that these do not belong to: "a friend of his in town"."""

_HER_ALONE = frozenset((
    *_NO_NOUN, "back", "off", "away", "through", "without", "alone", "too", "here", "there", "now",
    "how", "what", "why", "where", "which", "these", "those", "i", "you", "he", "she", "it", "we",
    "they", "my", "your", "his", "her", "its", "our", "their", "everything", "something",
    "anything", "nothing", "yesterday", "today", "tomorrow", "tonight", "go", "know", "be", "do",
))  # fmt: skip
"""Words before which "her" stands for a person: "told her everything"."""

_DETERMINER = re.compile(
    r"(?i)\b(?:an?|the|this|these|those|my|your|h(?:is|er)|our|their|one|two|some)"
    r"\s+(?:[\w-]+\s+)?$"
)
_GOES_ON = re.compile(r"(?i)\s+(?:in|from|of|on|with)\b")
_NEXT_WORD = re.compile(r"\s+([\w-]+)")
_OR_ANOTHER = re.compile(r"\s+or\s+(?:his|her)(?=\s)", re.IGNORECASE)
_OF_TWO_WORDS = re.compile(
    r"(?i)\b(?:native|latin|african|asian|central|(?:north|south|east|west)(?:ern)?|years?)\s+$"
)

_TELLS = re.compile(
    r"(?i)\b(?:pregnan\w+|(?:breast|beard|mou?stache|shav)\w*|bras?|bikinis?|dress(?:es)?|skirts?"
    r"|lipstick|heroines?|kings?|queens?|prince\w*|mrs?|ms|\w*dogs?|cats?|horses?|pupp(?:y|ies)"
    r"|birds?|animals?|(?:oh|hey|yo)\s+man|man\s+(?:enough|i|it|you))\b"
)
"""What may contradict another gender, animals, whose pronouns are of no person, and "oh man"."""
_CONTRAST = re.compile(r"\b(?:non[- ]|between\b)", re.IGNORECASE)
_ASKS_A_VERB = re.compile(r"\b(?:makes?|made|making|lets?|letting|help\w*)\s$", re.IGNORECASE)


class Term(NamedTuple):
    """A term in one number; ``slot`` says by which it may be replaced."""

    category: str
    slot: str
    needs_person: bool
    is_plural: bool
    text: str

    def others(self, text: str) -> list[str]:
        """What may take its place, but for what the text holds already."""
        return [
            other.text
            for other in terms().values()
            if (other.category, other.slot) == (self.category, self.slot)
            and other.is_plural == self.is_plural
            and other.text.lower() not in text.lower()
        ]


@cache
def terms() -> Mapping[str, Term]:
    """Every term in both numbers, by its text in lower case."""
    terms_by_word: dict[str, Term] = {}
    for category, slot, needs, singular, plural in table("identity"):
        for is_plural, text in enumerate((singular, plural)):
            if text != _NONE:
                needs_person = needs == "person" and not is_plural
                terms_by_word.setdefault(
                    text.lower(), Term(category, slot, needs_person, bool(is_plural), text)
                )
    return terms_by_word


@cache
def persons(slot: str = "") -> frozenset[str]:
    """Nouns for people, all or of one slot; pronouns and titles have no plural."""
    rows = [row for row in table("identity") if row[0] in ("person", "gender") and row[-1] != _NONE]
    return frozenset(noun for row in rows if slot in row[1] for noun in row[-2:])


def before_a_person(place: re.Match[str], slot: str = "", *, needed: bool = True) -> bool:
    """Whether a word stands before a noun for people, if needed, and is no part of two words."""
    next_word = _NEXT_WORD.match(place.string, place.end())
    person = next_word is not None and next_word[1].lower() in persons(slot)
    whole = just_before(_OF_TWO_WORDS, place.string, place.start()) is None
    return whole and (person or not needed)


def terms_in(text: str) -> Iterator[tuple[Term, Sequence[re.Match[str]]]]:
    """The terms of a text, those of gender left out, with their places.

    Of several in a category none: one may contradict another.
    """
    for category in CATEGORIES[1:]:
        places = list(_pattern(category).finditer(text))
        present = {terms()[place[0].lower()] for place in places}
        if len(present) == 1 and all(map(_is_of_a_person, places)) and not _CONTRAST.search(text):
            yield present.pop(), places


def _is_of_a_person(place: re.Match[str]) -> bool:
    term = terms()[place[0].lower()]
    capital = term.text[0].isupper() and has_capitals(place.string)
    slot = "any_age" if term.category == "age" else ""
    fits = before_a_person(place, slot, needed=term.needs_person)
    fits = fits and not _may_be_in_a_title(place)
    return fits and (place[0][0].isupper() or not capital)


@cache
def _pattern(category: str) -> re.Pattern[str]:
    return any_of(text for text, term in terms().items() if term.category == category)


def another_term(text: str, places: Sequence[re.Match[str]], term: Term, other: str) -> Change:
    """The places of a term with another in it, and the articles before them."""
    capital = has_capitals(text) and not text.isupper()
    edits: list[Edit] = []
    for place in places:
        shown = other if capital and other[0].isupper() else like(place[0], other)
        if capital and not other[0].isupper() and term.text[0].isupper():
            shown = other  # a capital that the former term had as a name
        edits += with_article(text, Edit(*place.span(), shown))
    return tuple(edits)


def other_gender(text: str) -> Change:
    """Every term of gender with its counterpart; nothing where there is none.

    Nothing either where the text tells the gender otherwise, by a beard, or speaks of animals, and
    for pronouns alone in a text without capitals: they may be of somebody whom it names.

    Examples
    --------
    >>> from perturbations.edits import edited
    >>> edited("I saw her and her brother", other_gender("I saw her and her brother"))
    'I saw him and his sister'
    """
    edits: list[Edit] = []
    places = list(_genders().finditer(text))
    nouns = [match for match in places if match[0].lower() in persons()]
    if (
        _TELLS.search(text)
        or any(map(_may_be_in_a_title, nouns))
        or any(_may_be_whose_or_whom(text, match) for match in places)
        or not (nouns or has_capitals(text))
    ):
        return ()
    for match in places:
        new = _pronoun(match) or _counterparts()[match[0].lower()]
        edits += with_article(text, Edit(*match.span(), like(match[0], new)))
    return tuple(edits)


def _may_be_in_a_title(place: re.Match[str]) -> bool:
    """Whether a text has no capitals and a noun no determiner, or is as in "the men in black"."""
    determined = just_before(_DETERMINER, place.string, place.start())
    goes_on = _GOES_ON.match(place.string, place.end())
    return not has_capitals(place.string) and (determined is None or goes_on is not None)


def _may_be_whose_or_whom(text: str, match: re.Match[str]) -> bool:
    """Whether "her" may be either: "made her laugh" and "made her film"."""
    owns = match[0].lower() == "her" and _pronoun(match) == "his"
    return owns and just_before(_ASKS_A_VERB, text, match.start()) is not None


@cache
def _genders() -> re.Pattern[str]:
    return any_of([*_counterparts(), "him", "his", "her", "hers"])


@cache
def _counterparts() -> Mapping[str, str]:
    of_gender = [term for term in terms().values() if term.category == "gender"]
    return {
        first.text: other.text
        for first in of_gender
        for other in of_gender
        if (first.slot, first.is_plural) == (other.slot, other.is_plural) and first != other
    }


def _pronoun(match: re.Match[str]) -> str | None:
    another = _OR_ANOTHER.match(match.string, match.end())
    next_word = _NEXT_WORD.match(match.string, another.end() if another else match.end())
    alone = _NO_NOUN if match[0].lower() == "his" else _HER_ALONE
    owns = next_word is not None and next_word[1].lower() not in alone
    return {
        "him": "her",
        "hers": "his",
        "his": "her" if owns else "hers",
        "her": "his" if owns else "him",
    }.get(match[0].lower())
