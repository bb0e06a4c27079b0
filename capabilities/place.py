"""*place*: does the answer stay when a city, country or nationality gives way to another?

Of the changes of *CheckList* (arXiv 2005.04118). TextAttack's ``WordSwapChangeLocation`` asks a
tagger that has to be downloaded, and its list names countries as treaties do ("Lao PDR"); here a
place is one of a small list of our own. It changes where it is likely no part of a title or an
idiom: a city or country after a preposition, a nationality before a noun for people, and beside
another place only a city beside a city. What a text says of a place may hold of that place alone:
an invariance found here says that the reference does not mind where, not that nobody should.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from capabilities.identity import before_a_person
from perturbations.capability import EditingCapability, check_candidates, check_choice
from perturbations.edits import (
    Change,
    by_word,
    drawn,
    has_capitals,
    just_before,
    like,
    may_hold_a_name,
    names_in,
    with_article,
    without_mark,
)
from perturbations.lexicon import stopwords, table, wordnet

Region = Literal["same", "other", "any"]

_WHERE = re.compile(r"(?i)\b(?:in|from|to|at|near|for|around|across|through|out\s+of)\s+$")
_NEXT = re.compile(r"(?: ?, ?| +)([^\W\d_]+)| *[^\s\w.,!?;:]|,? +\d")
"""A word after a place, or what hints at a code, as in "Pittsburgh (PIT)"."""
_CODE = re.compile(r"#\w|\b[A-Z]{3}\b")
"""A hashtag or an airport may name the place again."""


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

    name = "place"
    question = "Does the prediction stay the same when a place becomes another?"
    nothing = "no place of the list"
    groups = ("fairness",)
    example = ("Seen by an Irish man.", "Seen by a British man.")
    queries = 18
    accepted = "1.00 [0.93, 1.00] of 51; one flipped"
    draws = True
    tables = ("places", "names", "identity")
    lexicons = ("stopwords", "wordnet")

    region: Region = "same"
    candidates: int = 5

    def __post_init__(self) -> None:
        check_choice("region", self.region, Region)
        check_candidates(self.candidates)

    def changes(self, text: str, generator: random.Random) -> Iterator[Change]:
        """Each place of the text, replaced wherever it stands."""
        known = {name: (kind, region) for kind, region, name in table("places")}
        of = {without_mark(name).lower(): row for name, row in known.items()}
        for word, edits in by_word(text, _sure(text, known, of)):
            for new in drawn(
                self._others(text.lower(), of[word], known), self.candidates, generator
            ):
                # Names of two words in a text with capitals keep theirs.
                shown = [new if has_capitals(text) and not edit.text.isupper()
                         else like(edit.text, new) for edit in edits]  # fmt: skip
                changed = (
                    edit._replace(text=new_name)
                    for edit, new_name in zip(edits, shown, strict=True)
                )
                yield tuple(part for edit in changed for part in with_article(text, edit))

    def _others(
        self, text: str, row: tuple[str, str], known: dict[str, tuple[str, str]]
    ) -> Iterator[str]:
        kind, region = row
        for other, (other_kind, other_region) in known.items():
            suits = {"any": True, "same": other_region == region, "other": other_region != region}
            name = without_mark(other)
            if other_kind == kind and suits[self.region] and name.lower() not in text:
                yield name


def _sure(
    text: str, known: Collection[str], of: Mapping[str, tuple[str, str]]
) -> list[re.Match[str]]:
    """The only place of a text or its cities, if likely no part of a name or title: else none.

    A city or country stands after a preposition and before a stopword, an adverb or the end of a
    clause, a nationality before a noun for people. Of a text without capitals, or for a
    nationality, the text may hold no name.
    """
    matches = list(names_in(text, known))
    words = {match[0].lower() for match in matches}
    kinds = {of[word][0] for word in words}
    if _CODE.search(text) or (len(words) > 1 and kinds != {"city"}):
        return []
    of_people = kinds == {"nationality"}
    if (of_people or not has_capitals(text)) and may_hold_a_name(text, of):
        return []
    return matches if all(map(before_a_person if of_people else _is_where, matches)) else []


def _is_where(match: re.Match[str]) -> bool:
    after = _NEXT.match(match.string, match.end())
    word = (after[1] or "") if after else ""
    ends = after is None or word in stopwords()
    adverb = word.islower() and "adv" in wordnet().parts_of_speech(word)
    return (ends or adverb) and just_before(_WHERE, match.string, match.start()) is not None
