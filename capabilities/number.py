"""*number*: does the answer stay when a number gives way to another of like size?

Of the changes of *CheckList* (arXiv 2005.04118). TextAttack's ``WordSwapChangeNumber`` also takes
"phone" and "hand" for numbers, and makes years of any size; numbers are found and drawn here in a
way of our own, with its library num2words. Ratings, prices and years can decide what is right ("2
of 10", "4 stars"): an invariance found here says that the reference does not mind the amount, not
that it does not matter. A number in digits changes before what it counts, as a year or a price; a
value stays where the text hints at it elsewhere ("both", "the other"). Spelling alone, with
``change=spelling``, leaves the meaning as it is.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal

from perturbations.capability import EditingCapability, check_candidates, check_choice
from perturbations.edits import (
    Change,
    Edit,
    any_of,
    drawn,
    has_capitals,
    just_before,
    like,
    starts_sentence,
)
from perturbations.lexicon import stopwords
from scope.core.options import Limits

Kind = Literal["both", "value", "spelling"]

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\s?\.?"
)
_PART_OF_ONE = re.compile(
    r"\s?['’]?s\b|\s*(?:and\s+)?(?:hundred|thousand|million|billion|trillion|dozen|percent|point\s+\w|a\s+half)"
    r"|[\s-]+(?:stars?|thumbs?|or|to\s+\d+)\b|-[a-z]\b"
    rf"|(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    rf"(?:\b{_MONTH}\s*|\bor\s+|(?:hundred|thousand|million|billion)\s+(?:and\s+)?|\d\s*(?:to\s+)?|['’]\s?|\b(?:flight|flt|gate|row|"
    r"seat|route|boeing|airbus|number|no\.|version|channel|chapter|page|section|formula)\s*)$",
    re.IGNORECASE,
)
"""What stands before a part of a longer number, a day, a decade or a number that only names."""
_SIGN, _UNIT = re.compile(r"[$€£¥₹]\s?$"), re.compile(r"\s?[$€£¥₹°″+]")
"""Signs beside which a number stands in digits."""
_COUNTED = re.compile(r"\+?[\s-]+(hour|hr|min|day|year|people|men|women|children|[a-z]+[^\Ws]s)\b")
"""What is counted; a digit may else stand for a word ("2" for "to") or end a title."""
_YEAR_OR_WORD = re.compile(r"(?:19|20)\d\d|\D+")
_OTHERS = re.compile(
    r"(?i)\b(?:one|both|n?either|twins?|between|another|(?<!each )others?|years?.old)\b"
)
"""What another value may contradict."""
_LAST_WORD = re.compile(r"([^\W\d_]+)\s+$")


@dataclass(frozen=True, kw_only=True)
class Number(EditingCapability):
    """Changes the value of a whole number, in digits or words, or writes it the other way.

    Parameters
    ----------
    change
        ``value`` for another number, ``spelling`` for digits in words and words in digits, or
        ``both``.
    spread
        Greatest change of the value, as a share of the number; above 0, at most 1.
    candidates
        How many values to try for one number.
    max_characters
        Longest text that is searched.
    """

    name = "number"
    question = "Does the prediction stay the same when a number becomes another of like size?"
    nothing = "no whole number above one"
    groups = ("meaning",)
    example = ("It runs for 12 hours.", "It runs for twelve hours.")
    queries = 17
    accepted = (
        "0.96 [0.90, 0.98] of 100 (κ 1.00; impossible there, fixed term, complaint no longer holds)"
    )
    draws = True
    lexicons = ("stopwords",)

    change: Kind = "both"
    spread: float = 0.5
    candidates: int = 5

    def __post_init__(self) -> None:
        check_choice("change", self.change, Kind)
        check_candidates(self.candidates)
        Limits(above=0, most=1).check("the setting spread", self.spread)

    def changes(self, text: str, generator: random.Random) -> Iterator[Change]:
        """Each number with another value, and in the other spelling."""
        for match in numbers_in(text):
            if _PART_OF_ONE.match(text, match.end()) or just_before(_BEFORE, text, match.start()):
                continue
            of_a_sign = just_before(_SIGN, text, match.start()) or _UNIT.match(text, match.end())
            if not (of_a_sign or _is_an_amount(match)):
                continue
            for new in self._others(match, generator, spells=not of_a_sign):
                first = starts_sentence(text, match.start()) and not match[0].islower()
                first = first and has_capitals(text) and text[match.start() - 1] not in '"“('
                yield (Edit(*match.span(), new[:1].upper() + new[1:] if first else new),)

    def _others(
        self, match: re.Match[str], generator: random.Random, *, spells: bool
    ) -> Iterator[str]:
        """Other values as the original is written, then the original in the other spelling."""
        original = match[0]
        value = known_words().get(original.lower())
        number = int(original.replace(",", "")) if value is None else value
        if number < 2 or (value is None and as_digits(number, original) != original):
            return
        text = match.string.lower()
        bound = text.count(original.lower()) > 1 or _OTHERS.search(text)
        if self.change != "spelling" and not bound:
            for other in drawn(of_like_size(number, self.spread), self.candidates, generator):
                if value is None:
                    yield as_digits(other, original)
                elif other in spelled():
                    yield like(original, spelled()[other])
        if self.change != "value" and spells:
            if value is not None:
                yield str(number)
            elif number in spelled():
                yield spelled()[number]


def _is_an_amount(match: re.Match[str]) -> bool:
    """Whether a number counts something: a digit may stand for a word, any number be in a title.

    In a text without capitals, where titles have none, it follows a stopword.
    """
    text, words = match.string, stopwords()
    before = just_before(_LAST_WORD, text, match.start())
    if not (has_capitals(text) or (before and before[1] in words)):
        return False
    counted = _COUNTED.match(text, match.end())
    return bool(_YEAR_OR_WORD.fullmatch(match[0]) or (counted and counted[1] not in words))


GREATEST_SPELLED = 99
"""Greatest number that is written out in one word."""

_YEARS = range(1900, 2100)

DIGITS = re.compile(r"(?<![\w.,:/#@&%+-])(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?![\w:/#@%]|[.,-]\d)")
"""A whole number of at most 15 digits that is no part of a link, a time, a date or a code."""


@cache
def spelled() -> Mapping[int, str]:
    """The numbers of one word, as num2words writes them, from two on; "one" mostly is a pronoun.

    Examples
    --------
    >>> spelled()[25]
    'twenty-five'
    """
    from num2words import num2words

    return {number: num2words(number) for number in range(2, GREATEST_SPELLED + 1)}


@cache
def known_words() -> Mapping[str, int]:
    """The number of each word."""
    return {word: number for number, word in spelled().items()}


def numbers_in(text: str) -> Iterator[re.Match[str]]:
    """The numbers of a text, but for those beside another, which are parts of one.

    Examples
    --------
    >>> [found[0] for found in numbers_in("Two calls to 555 1234, twenty one seats, 12 rows")]
    ['Two', '12']
    """
    every = [*DIGITS.finditer(text), *any_of(["one", *known_words()]).finditer(text)]
    every.sort(key=re.Match.start)
    gaps = [text[first.end() : other.start()] for first, other in pairwise(every)]
    beside = [gap.isspace() for gap in gaps]
    for before, match, after in zip([False, *beside], every, [*beside, False], strict=False):
        if not before and not after and match[0].lower() != "one":
            yield match


def of_like_size(number: int, spread: float) -> list[int]:
    """Other numbers of as many digits, at most so far away as a share of the number, and as round.

    A number from 1900 to 2099 counts as a year and stays within ten years. 0 and 1 have none, and
    no number becomes one of them: they ask for another grammar.

    Examples
    --------
    >>> of_like_size(10, 0.5), of_like_size(3, 0.5), of_like_size(1999, 0.5)[:3]
    ([11, 12, 13, 14, 15], [2, 4], [1989, 1990, 1991])
    >>> of_like_size(200, 0.5)
    [100, 150, 250, 300]
    """
    if number < 2:
        return []
    if number in _YEARS:
        return [year for year in range(number - 10, number + 11) if year != number]
    step = next(step for step in _steps(number) if number % step == 0)
    reach = max(int(number * spread), 1)
    least = -(-(number - reach) // step) * step
    candidates = range(max(least, 2), number + reach + 1, step)
    if len(candidates) > 1000:
        candidates = candidates[:: len(candidates) // 1000]
    digits = len(str(number))
    return [
        candidate
        for candidate in candidates
        if candidate != number and len(str(candidate)) == digits
    ]


def _steps(number: int) -> list[int]:
    """How round a number may be, the roundest first; 200 changes by 50, 25 by 5."""
    size = 10 ** (len(str(number)) - 1)
    return (
        [size // 2, size // 10, size // 20, 1]
        if size >= 100
        else [*([5] if number > 20 else []), 1]
    )


def as_digits(number: int, original: str) -> str:
    """The number as the original is written, with commas or without.

    Examples
    --------
    >>> as_digits(2500, "1,200"), as_digits(2500, "1200")
    ('2,500', '2500')
    """
    return f"{number:,}" if "," in original else str(number)
