"""*distractor*: does the answer stay when something beside the point is added?

A sentence on another matter, a handle or a link before or after the text, as they stand around
tweets and copied passages; in *CheckList* (arXiv 2005.04118) handles and links are added. A reader
answers by the rest. The sentences are ours, six plain words each that praise and blame nothing;
handles and links are nobody's. An invariance found here says that the reference overlooks these
words, not that it would overlook a sentence on the same matter. Where the
whole text is asked about, such as its topic, another answer may be correct.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from perturbations.capability import InvarianceCapability, Parts
from perturbations.languages import not_english
from perturbations.settings import check_choice

What = Literal["sentence", "handle", "link"]
Where = Literal["any", "before", "after"]

# As many words each, so that any is as large a change as any other.
ADDED: dict[str, tuple[str, ...]] = {
    "sentence": (
        "The museum opens at nine today.",
        "The train stops here every hour.",
        "My cousin lives in the city.",
        "The library is near the station.",
        "The meeting starts at ten tomorrow.",
        "The office is on this floor.",
        "A bus goes to the airport.",
        "The school has two hundred pupils.",
        "The river runs through the town.",
        "We have tickets for row seven.",
    ),
    "handle": tuple(f"@user{number}" for number in range(2041, 2051)),
    "link": tuple(f"https://example.com/{number}" for number in range(2041, 2051)),
}


@dataclass(frozen=True, kw_only=True)
class Distractor(InvarianceCapability):
    """Adds a sentence on another matter, a handle or a link.

    Parameters
    ----------
    what
        ``sentence``, ``handle`` or ``link``.
    where
        ``before`` or ``after`` the text, or ``any`` of the two.
    max_characters
        Longest text that is searched.
    """

    name: ClassVar[str] = "distractor"
    question: ClassVar[str] = (
        "Does the prediction stay the same when something irrelevant is added to the text?"
    )
    groups: ClassVar[tuple[str, ...]] = ("robustness",)
    example: ClassVar[tuple[str, str]] = (
        "A wonderful film.",
        "A wonderful film. The museum opens at nine today.",
    )

    what: What = "sentence"
    where: Where = "any"

    def __post_init__(self) -> None:
        check_choice("what", self.what, What)
        check_choice("where", self.where, Where)

    def not_applicable(self, text: str) -> str | None:
        """The sentences are English."""
        return not_english(text) if self.what == "sentence" else None

    def parts(self, generator: random.Random) -> Parts:
        """Everything that may be added, before and after; nothing is drawn."""
        from perturbations.search import BestCandidate
        from perturbations.transformations import Rewrites

        return Parts(Rewrites(self.extended), [], BestCandidate())

    def extended(self, text: str) -> Iterator[str]:
        """The text with each of the additions; a sentence in small letters where the text is."""
        for added in ADDED[self.what]:
            one = added.lower() if text.islower() else added
            if self.where != "after":
                yield f"{one} {text}"
            if self.where != "before":
                last = text.rstrip("\"'”’)] \t\n")[-1:]
                ended = self.what != "sentence" or not last.isalnum()
                yield f"{text.rstrip()}{'' if ended else '.'} {one}"
