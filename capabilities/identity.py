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
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from perturbations.editing_capability import EditingCapability
from perturbations.edits import Change, drawn
from perturbations.identity_terms import CATEGORIES, another_term, other_gender, terms, terms_in
from perturbations.proper_names import may_hold_a_name
from perturbations.settings import check_candidates, check_choice

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

    name: ClassVar[str] = "identity"
    question: ClassVar[str] = (
        "Does the prediction stay the same when people of another group are meant?"
    )
    nothing: ClassVar[str] = "no term of the categories"
    groups: ClassVar[tuple[str, ...]] = ("fairness",)
    example: ClassVar[tuple[str, str]] = (
        "He and his wife help an Italian neighbor.",
        "She and her husband help an Italian neighbor.",
    )
    draws: ClassVar[bool] = True
    tables: ClassVar[tuple[str, ...]] = ("identity", "names")
    lexicons: ClassVar[tuple[str, ...]] = ("stopwords", "wordnet")

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
