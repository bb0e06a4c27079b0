"""*name*: does the answer stay when a person gets another name?

Of the changes of *CheckList* (arXiv 2005.04118). TextAttack's ``WordSwapChangeName`` asks a tagger
that has to be downloaded; here a name is one of a small list of our own, by gender and origin. A
first name and the surname after it change together, whether or not the list holds the surname, to
make up no half-known person. A name beside a hint at a title or a kind ("James Bond mode") stays,
and half a name in a text without capitals. First names that the list does not hold go unchanged:
an invariance found here is one of common names. It does not say that the reference treats people
of all origins alike unless ``origin=other`` is asked for, and then of the groups of the list alone.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from perturbations.capability import EditingCapability, check_candidates, check_choice
from perturbations.edits import (
    Change,
    any_of,
    drawn,
    has_capitals,
    just_before,
    persons_in,
    replaced_everywhere,
    without_mark,
)
from perturbations.lexicon import table

Gender = Literal["same", "other", "any"]
Origin = Literal["any", "same", "other"]

_SURNAMES_OF = {"black_american": "english"}


@dataclass(frozen=True, kw_only=True)
class Name(EditingCapability):
    """Replaces a first name or a surname, wherever it stands in the text.

    Parameters
    ----------
    gender
        Whether the new first name is of the ``same`` gender, of the ``other`` or of ``any``.
        Pronouns stay, so that another gender can contradict them.
    origin
        Whether the new name is of the ``same`` origin, of an ``other`` or of ``any``.
    candidates
        How many names to try for one person.
    max_characters
        Longest text that is searched.
    """

    name = "name"
    question = "Does the prediction stay the same when a person has another name?"
    nothing = "no personal name of the list"
    groups = ("fairness",)
    example = (
        "Emily laughed, and so did Emily's father.",
        "Olga laughed, and so did Olga's father.",
    )
    queries = 18
    accepted = (
        "0.90 [0.80, 0.95] of 61 (κ 0.90; a title or brand, half a name replaced, possessive lost)"
    )
    draws = True
    tables = ("names",)
    lexicons = ("stopwords", "wordnet")

    gender: Gender = "same"
    origin: Origin = "any"
    candidates: int = 5

    def __post_init__(self) -> None:
        check_choice("gender", self.gender, Gender)
        check_choice("origin", self.origin, Origin)
        check_candidates(self.candidates)

    def changes(self, text: str, generator: random.Random) -> Iterator[Change]:
        """Each person of the text with another name, wherever it stands."""
        known = {name: (kind, gender, origin) for kind, gender, origin, name in table("names")}
        first_names = [name for name, (kind, *_) in known.items() if kind == "first"]
        surnames = [name for name, (kind, *_) in known.items() if kind == "last"]
        rows = {without_mark(name).lower(): row for name, row in known.items()}
        for first, last in persons_in(text, first_names, surnames):
            if _may_be_more(text, first, last):
                continue
            row = rows[(first or last).lower()]
            absent = (name for name in (first_names if first else surnames)
                      if without_mark(name).lower() not in text.lower())  # fmt: skip
            fits = [name for name in absent if self._fits(known[name], row)]
            for name in drawn(fits, self.candidates, generator):
                origin = _SURNAMES_OF.get(known[name][2], known[name][2])
                suits = [surname for surname in surnames if known[surname][2] == origin]
                new = {first: without_mark(name), last: without_mark(generator.choice(suits))}
                yield replaced_everywhere(text, new if first else {last: without_mark(name)})

    def _fits(self, other: tuple[str, str, str], row: tuple[str, str, str]) -> bool:
        alike = [mine == its for mine, its in zip(other[1:], row[1:], strict=True)]
        asked = ("any" if row[0] == "last" else self.gender, self.origin)
        return all(
            choice == "any" or same == (choice == "same")
            for choice, same in zip(asked, alike, strict=True)
        )


_BEFORE = re.compile(
    r"(?i)(?:\b(?:an?|the|any|no|being|about|meets|like|version of) |[\"'‘“`]\s*)$"
)
_AFTER = re.compile(r"(?i)(?:['’]s)? (?:mode|book|movie|film|novel|version|style|meets|is|was)\b")
"""What stands beside a title, or a name that stands for a kind: "in James Bond mode"."""


def _may_be_more(text: str, first: str, last: str) -> bool:
    """Whether a name may be a title or an allusion; in a text without capitals, half a name is."""
    places = any_of([f"{first} {last}".strip()]).finditer(text)
    return (not has_capitals(text) and (not first or len(last) < 2)) or any(
        just_before(_BEFORE, text, place.start()) or _AFTER.match(text, place.end())
        for place in places
    )
