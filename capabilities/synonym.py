"""*synonym*: does the answer stay when a word gives way to another of the same meaning?

The paper's *linguistic taxonomy* capability (arXiv 2311.04166, section 4). WordNet offers every
synonym of every sense, so a swap can shift the meaning: an invariance found here says that the
reference does not mind the swap, not that nobody should. A target that minds it where the reference
does not is not wrong; it is different.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from perturbations.capability import InvarianceCapability, Parts
from scope.errors import SpecError
from scope.records import Setting

Preset = Literal["paper", "strong"]


MAX_WORDS = 0.3
"""Share of the words that the preset strong swaps by default; no paper names one."""


@dataclass(frozen=True, kw_only=True)
class Synonym(InvarianceCapability):
    """Swaps words for WordNet synonyms, no stopword and no word twice.

    Parameters
    ----------
    preset
        ``paper`` stops at the first swap that the reference ignores; ``strong`` goes on through
        the ranking of the words.
    max_words
        Greatest share of the words that ``strong`` may swap; above 0, at most 1.
    max_characters
        Longest text that is searched.
    """

    name: ClassVar[str] = "synonym"
    question: ClassVar[str] = (
        "Does the prediction stay the same when words are replaced by synonyms?"
    )
    groups: ClassVar[tuple[str, ...]] = ("meaning",)
    example: ClassVar[tuple[str, str]] = ("a boat on the sea", "a boat on the ocean")

    preset: Preset = "paper"
    max_words: float = MAX_WORDS
    # Candidates and the length of each grow with the text: at this length they take some 900 MB.
    max_characters: int = 5_000

    def __post_init__(self) -> None:
        if self.preset == "paper" and self.max_words != MAX_WORDS:
            raise SpecError(
                f"a share of {self.max_words} of the words for the preset paper, which swaps one",
                expected="max_words with preset=strong",
                fix="add --setting preset=strong, or leave max_words out",
            )
        if self.preset not in get_args(Preset):
            raise SpecError(
                f"a preset called `{self.preset}`",
                expected=f"one of: {', '.join(get_args(Preset))}",
                fix="write for example --setting preset=paper",
            )
        if not 0 < self.max_words <= 1:
            raise SpecError(
                f"a share of {self.max_words} of the words",
                expected="a share above 0, at most 1",
                fix="write for example --setting max_words=0.3",
            )

    def settings(self) -> Mapping[str, Setting]:
        """The preset, the share where it counts, and the longest text; WordNet and stopwords."""
        from perturbations.lexicon import stopwords, wordnet

        share = {} if self.preset == "paper" else {"max_words": self.max_words}
        return {
            "preset": self.preset,
            **share,
            "max_characters": self.max_characters,
            "wordnet": f"{wordnet().source} {wordnet().fingerprint}",
            "stopwords": f"{stopwords().source} {stopwords().fingerprint}",
        }

    def parts(self, generator: random.Random) -> Parts:
        """Synonym swaps in the order of weighted saliency."""
        from textattack.constraints.pre_transformation import (
            MaxModificationRate,
            RepeatModification,
            StopwordModification,
        )

        from perturbations.lexicon import stopwords, wordnet
        from perturbations.search import GreedyInvariantSwap
        from perturbations.transformations import WordSynonyms

        paper = self.preset == "paper"
        share = [] if paper else [MaxModificationRate(float(self.max_words))]
        return Parts(
            transformation=WordSynonyms(wordnet().synonyms),
            constraints=[RepeatModification(), StopwordModification(stopwords().words), *share],
            search_method=GreedyInvariantSwap(stop_at_first=paper),
        )
