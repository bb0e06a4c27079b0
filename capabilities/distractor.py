"""*distractor*: does the answer stay when something beside the point is added?

A sentence on another matter, a handle or a link after the text or before it, as they stand around
tweets and copied passages; in *CheckList* (arXiv 2005.04118) handles and links are added. A reader
answers by the rest. The sentences are ours, six plain words each that praise and blame nothing;
handles and links are nobody's. One that shares a longer word with the text is not added. Before a
text that begins amidst a sentence or reacts to something, an added sentence may seem to be what it
is about: by default nothing is added there. An invariance found here says that the reference
overlooks these words, not that it would overlook a sentence on the same matter. Where the whole
text is asked about, such as its topic, another answer may be correct.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from perturbations.capability import InvarianceCapability, Parts, check_choice
from perturbations.lexicon import not_english

What = Literal["sentence", "handle", "link"]
Where = Literal["any", "before", "after"]

# As many words each, so that any is as large a change as any other.
ADDED: dict[str, tuple[str, ...]] = {
    "sentence": (
        "The museum displays old farming tools.",
        "Copper is heavier than most wood.",
        "My cousin collects stamps and coins.",
        "The library lends maps and atlases.",
        "Maps usually show north on top.",
        "The dictionary lists words by letter.",
        "Beans grow in rows or pots.",
        "Bread contains flour, water and salt.",
        "Granite contains quartz and other minerals.",
        "The lighthouse stands on a rock.",
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

    name = "distractor"
    question = "Does the prediction stay the same when something irrelevant is added to the text?"
    groups = ("robustness",)
    example = ("A wonderful film.", "A wonderful film. The museum displays old farming tools.")
    queries = 35
    accepted = "0.99 [0.95, 1.00] of 100 (κ 1.00; bears on the scene)"

    what: What = "sentence"
    where: Where = "after"

    def __post_init__(self) -> None:
        check_choice("what", self.what, What)
        check_choice("where", self.where, Where)

    def not_applicable(self, text: str) -> str | None:
        """The sentences are English, and not of what the text is of."""
        if self.what == "sentence" and (reason := not_english(text)):
            return reason
        return None if any(self.extended(text)) else "a word of each sentence is in the text"

    def parts(self, generator: random.Random) -> Parts:
        """Everything that may be added, before and after; nothing is drawn."""
        from perturbations.search import BestCandidate
        from perturbations.transformations import Rewrites

        return Parts(Rewrites(self.extended), [], BestCandidate())

    def extended(self, text: str) -> Iterator[str]:
        """The text with each of the additions; a sentence in small letters where the text is."""
        for added in ADDED[self.what]:
            words = re.findall(r"[a-z]{5,}", added.lower()) if self.what == "sentence" else []
            if any(word in text.lower() for word in words):
                continue
            addition = added.lower() if text.islower() else added
            if self.where != "after":
                yield f"{addition} {text}"
            if self.where != "before":
                last = text.rstrip("\"'”’)] \t\n")[-1:]
                ended = self.what != "sentence" or not last.isalnum()
                yield f"{text.rstrip()}{'' if ended else '.'} {addition}"
