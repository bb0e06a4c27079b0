"""*place*: does the answer stay when a city, country or nationality gives way to another?

Of the changes of *CheckList* (arXiv 2005.04118). TextAttack's ``WordSwapChangeLocation`` asks a
tagger that has to be downloaded, and its list names countries as treaties do ("Lao PDR"); here a
place is one of a small list of our own. What a text says of a place may hold of that place alone:
an invariance found here says that the reference does not mind where, not that nobody should.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from perturbations.editing_capability import EditingCapability
from perturbations.edits import (
    Change,
    by_word,
    drawn,
    has_capitals,
    just_before,
    like,
    with_article,
)
from perturbations.proper_names import follows_a_name, names_in, without_mark
from perturbations.settings import check_candidates, check_choice
from perturbations.word_tables import table

Region = Literal["same", "other", "any"]

_PART = re.compile(
    r"\b(?:new|latin|native|african|asian|(?:north|south|east|west|centr)\w*|great|little|st\.?|saint)[\s-]+$",
    re.IGNORECASE,
)
_OF_A_NAME = re.compile(r"(?:[^\S\n]|-)+[A-Z][a-z]")
_NOUN = re.compile(r"\s+\w")


@dataclass(frozen=True, kw_only=True)
class Place(EditingCapability):
    """Replaces a place by one of its kind, wherever it stands in the text.

    Parameters
    ----------
    region
        Whether the new place is in the ``same`` part of the world, in an ``other`` or in ``any``.
        The only place of its part has none of the same.
    candidates
        How many places to try for one.
    max_characters
        Longest text that is searched.
    """

    name: ClassVar[str] = "place"
    question: ClassVar[str] = "Does the prediction stay the same when a place becomes another?"
    nothing: ClassVar[str] = "no place of the list"
    groups: ClassVar[tuple[str, ...]] = ("fairness",)
    example: ClassVar[tuple[str, str]] = ("Seen on an Irish train.", "Seen on a British train.")
    draws: ClassVar[bool] = True
    tables: ClassVar[tuple[str, ...]] = ("places",)
    lexicons: ClassVar[tuple[str, ...]] = ("stopwords",)

    region: Region = "same"
    candidates: int = 5

    def __post_init__(self) -> None:
        check_choice("region", self.region, Region)
        check_candidates(self.candidates)

    def changes(self, text: str, generator: random.Random) -> Iterator[Change]:
        """Each place of the text, replaced wherever it stands."""
        known = {name: (kind, region) for kind, region, name in table("places")}
        of = {without_mark(name).lower(): row for name, row in known.items()}
        for word, edits in by_word(text, _single(text, known)):
            for new in drawn(
                self._others(text.lower(), of[word], known), self.candidates, generator
            ):
                # Names of two words in a text with capitals keep theirs.
                shown = [new if has_capitals(text) and not edit.text.isupper()
                         else like(edit.text, new) for edit in edits]  # fmt: skip
                changed = (edit._replace(text=one) for edit, one in zip(edits, shown, strict=True))
                yield tuple(part for edit in changed for part in with_article(text, edit))

    def _others(
        self, text: str, row: tuple[str, str], known: dict[str, tuple[str, str]]
    ) -> Iterator[str]:
        kind, region = row
        for other, (other_kind, other_region) in known.items():
            suits = {"any": True, "same": other_region == region, "other": other_region != region}
            if (
                other_kind == kind
                and suits[self.region]
                and without_mark(other).lower() not in text
            ):
                yield without_mark(other)


def _single(text: str, known: Mapping[str, tuple[str, str]]) -> Iterator[re.Match[str]]:
    """Those that are no part of a longer name: "New England", "Chicago Bulls", "Jack London"."""
    alone = {without_mark(one).lower() for one, (kind, _) in known.items() if kind == "nationality"}
    for found in names_in(text, known):
        parts = (
            has_capitals(text) and _OF_A_NAME.match(text, found.end()),
            follows_a_name(text, found.start()),
            just_before(_PART, text, found.start()),
            # A person or a language: "a German", "in German".
            found[0].lower() in alone and not _NOUN.match(text, found.end()),
        )
        if not any(parts):
            yield found
