"""*name*: does the answer stay when a person gets another name?

Of the changes of *CheckList* (arXiv 2005.04118). TextAttack's ``WordSwapChangeName`` asks a tagger
that has to be downloaded; here a name is one of a small list of our own, by gender and origin. A
person with a known first name and a surname that is not on the list keeps both, to make up no
half-known person; in a text without capitals a name is left alone beside any word that is neither
a stopword nor on the list. Names that the list does not hold go unchanged: an invariance found here is one
of common names. It does not say that the reference treats people of all origins alike unless
``origin=other`` is asked for, and then of the groups of the list alone.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from perturbations.edits import (
    Change,
    EditingCapability,
    drawn,
    everywhere,
    has_capitals,
    like,
    refuse_candidates,
    refuse_choice,
    table,
)
from perturbations.lexicon import stopwords
from perturbations.proper_names import names_in, without_mark

Gender = Literal["same", "other", "any"]
Origin = Literal["any", "same", "other"]

_AFTER = re.compile(r"\s+(?:[A-Z]\.?\s+)?(\w[\w'-]*)")
_BEFORE = re.compile(r"(\w[\w'-]*\.?)\s+(?:[A-Z]\.?\s+)?$")
_SAINTS = frozenset({"st", "st.", "saint", "san", "santa"})


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

    name: ClassVar[str] = "name"
    question: ClassVar[str] = "Does the prediction stay the same when a person has another name?"
    nothing: ClassVar[str] = "no personal name of the list"
    example: ClassVar[tuple[str, str]] = (
        "Emily laughed, and so did Emily's father.",
        "Olga laughed, and so did Olga's father.",
    )
    draws: ClassVar[bool] = True

    gender: Gender = "same"
    origin: Origin = "any"
    candidates: int = 5

    def __post_init__(self) -> None:
        refuse_choice("gender", self.gender, get_args(Gender))
        refuse_choice("origin", self.origin, get_args(Origin))
        refuse_candidates(self.candidates)

    def changes(self, text: str, generator: random.Random) -> Iterator[Change]:
        """Each name of the text, replaced wherever it stands."""
        known = {name: (kind, gender, origin) for kind, gender, origin, name in table("names")}
        of = {without_mark(name).lower(): (name, row) for name, row in known.items()}
        places = [one for one in names_in(text, known) if not _has_unknown_part(one, of)]
        for word, edits in everywhere(text, places):
            for new in drawn(self._others(*of[word], known), self.candidates, generator):
                yield tuple(edit._replace(text=like(edit.text, new)) for edit in edits)

    def _others(
        self, name: str, row: tuple[str, str, str], known: dict[str, tuple[str, str, str]]
    ) -> Iterator[str]:
        kind, gender, origin = row
        for other, (other_kind, other_gender, other_origin) in known.items():
            fits = {"any": True, "same": other_gender == gender, "other": other_gender != gender}
            if kind == "last":
                fits["other"] = True
            suits = {"any": True, "same": other_origin == origin, "other": other_origin != origin}
            if other != name and other_kind == kind and fits[self.gender] and suits[self.origin]:
                yield without_mark(other)


def _has_unknown_part(found: re.Match[str], known: Mapping[str, object]) -> bool:
    """Whether the name is part of a longer one that the list does not hold, or of a place."""
    text = found.string
    after = _AFTER.match(text, found.end())
    before = _BEFORE.search(text, 0, found.start())
    around = [one[1] for one in (before, after) if one is not None]
    if before is not None and before[1].lower() in _SAINTS:
        return True
    if has_capitals(text):
        # The first word of a sentence has a capital without being a name.
        return any(
            re.fullmatch("[A-Z][a-z]+", one) and one.lower() not in {*known, *stopwords().words}
            for one in around
        )
    return any(one.lower() not in {*known, *stopwords().words, "s"} for one in around)
