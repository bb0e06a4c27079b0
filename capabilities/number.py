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
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from perturbations.editing_capability import EditingCapability
from perturbations.edits import Change, Edit, drawn, has_capitals, just_before, like
from perturbations.lexicon import stopwords
from perturbations.numbers import as_digits, known_words, numbers_in, of_like_size, spelled
from perturbations.proper_names import starts_sentence
from perturbations.settings import check_candidates, check_choice, check_share

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

    name: ClassVar[str] = "number"
    question: ClassVar[str] = (
        "Does the prediction stay the same when a number becomes another of like size?"
    )
    nothing: ClassVar[str] = "no whole number above one"
    groups: ClassVar[tuple[str, ...]] = ("meaning",)
    example: ClassVar[tuple[str, str]] = ("It runs for 12 hours.", "It runs for twelve hours.")
    draws: ClassVar[bool] = True
    lexicons: ClassVar[tuple[str, ...]] = ("stopwords",)

    change: Kind = "both"
    spread: float = 0.5
    candidates: int = 5

    def __post_init__(self) -> None:
        check_choice("change", self.change, Kind)
        check_candidates(self.candidates)
        check_share("spread", self.spread)

    def changes(self, text: str, generator: random.Random) -> Iterator[Change]:
        """Each number with another value, and in the other spelling."""
        for found in numbers_in(text):
            if _PART_OF_ONE.match(text, found.end()) or just_before(_BEFORE, text, found.start()):
                continue
            of_a_sign = just_before(_SIGN, text, found.start()) or _UNIT.match(text, found.end())
            if not (of_a_sign or _is_an_amount(found)):
                continue
            for one in self._others(found, generator, spells=not of_a_sign):
                first = starts_sentence(text, found.start()) and not found[0].islower()
                first = first and has_capitals(text) and text[found.start() - 1] not in '"“('
                yield (Edit(*found.span(), one[:1].upper() + one[1:] if first else one),)

    def _others(
        self, found: re.Match[str], generator: random.Random, *, spells: bool
    ) -> Iterator[str]:
        """Other values as the original is written, then the original in the other spelling."""
        original = found[0]
        value = known_words().get(original.lower())
        number = int(original.replace(",", "")) if value is None else value
        if number < 2 or (value is None and as_digits(number, original) != original):
            return
        text = found.string.lower()
        bound = text.count(original.lower()) > 1 or _OTHERS.search(text)
        if self.change != "spelling" and not bound:
            for one in drawn(of_like_size(number, self.spread), self.candidates, generator):
                if value is None:
                    yield as_digits(one, original)
                elif one in spelled():
                    yield like(original, spelled()[one])
        if self.change != "value" and spells:
            if value is not None:
                yield str(number)
            elif number in spelled():
                yield spelled()[number]


def _is_an_amount(found: re.Match[str]) -> bool:
    """Whether a number counts something: a digit may stand for a word, any number be in a title.

    In a text without capitals, where titles have none, it follows a stopword.
    """
    text, words = found.string, stopwords().words
    before = just_before(_LAST_WORD, text, found.start())
    if not (has_capitals(text) or (before and before[1] in words)):
        return False
    counted = _COUNTED.match(text, found.end())
    return bool(_YEAR_OR_WORD.fullmatch(found[0]) or (counted and counted[1] not in words))
