"""*typo*: does the answer stay when the letters inside words change places?

The paper's *robustness* capability (arXiv 2311.04166, section 4): people read such words without
effort. By default two neighbouring letters are swapped in half of the words of four letters or more
that are no stopwords, first and last letter kept; handles, hashtags, links, e-mail addresses and
words with a digit stay. On 100 tweets, half is the least of the shares .1, .2, .35, .5 and 1 at
which the informedness of the demo's student, 0.50, and of its independent model, 0.08, differ
(p = 0.03). Some 1 % of the swaps make another word ("united", "untied"). The published code
changes every such word at once, tokens among them; the paper's text can be read as changing one.

An invariance found here says that the reference reads past these errors, not past every error, and
that it still answers alike, not that it answers correctly.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from perturbations.capability import InvarianceCapability, Parts, check_choice, check_has_effect
from perturbations.lexicon import lexicon_version, stopwords
from scope.core.options import Limits
from scope.errors import SpecError
from scope.records import Setting

Preset = Literal["valid", "paper"]

MOST_CANDIDATES = 1000
MOST_LETTERS = 1000
"""Bounds on the settings, for time and memory."""


@dataclass(frozen=True, kw_only=True)
class Typo(InvarianceCapability):
    """Swaps two inner letters of some longer words; the best of some random tries is kept.

    Parameters
    ----------
    preset
        ``valid`` swaps neighbouring letters in a share of the words, and leaves handles, hashtags,
        links, e-mail addresses and words with a digit as they are; ``paper`` swaps any two inner
        letters in every word, as the published code.
    share
        Share of the words that may change which ``valid`` changes, at least one word; above 0, at
        most 1.
    candidates
        How many random texts to try for one perturbation; 15 in the published code.
    min_letters
        Shortest word that is changed; 4 in the published code.
    max_letters
        Longest word that is changed. Longer ones, such as encoded files, are no words that anyone
        reads; they stay as they are, and are counted.
    max_characters
        Longest text that is searched.
    """

    name = "typo"
    question = "Does the prediction stay the same when letters inside words are swapped?"
    groups = ("robustness",)
    example = ("a wonderful film", "a wondreful film")
    queries = 43
    accepted = "0.94 [0.88, 0.97] of 118 (κ 0.82; another acronym, code or word)"

    preset: Preset = "valid"
    share: float = 0.5
    candidates: int = 15
    min_letters: int = 4
    max_letters: int = 100

    def __post_init__(self) -> None:
        letters_fit = 4 <= self.min_letters <= self.max_letters <= MOST_LETTERS
        if not (1 <= self.candidates <= MOST_CANDIDATES and letters_fit):
            raise SpecError(
                f"{self.candidates} candidates, words from {self.min_letters} to "
                f"{self.max_letters} letters",
                expected=f"1 to {MOST_CANDIDATES} candidates, and words from 4 letters, to have "
                f"two inside, to at most {MOST_LETTERS}",
                fix="omit these settings for the defaults, 15, 4 and 100",
            )
        check_choice("preset", self.preset, Preset)
        Limits(above=0, most=1).check("the setting share", self.share)
        check_has_effect(self, "share", "preset=valid", self.preset == "valid")

    def settings(self) -> Mapping[str, Setting]:
        """The preset, the share where it counts, the numbers, and which stopwords are used."""

        known = {**super().settings(), "share": float(self.share)}
        if self.preset == "paper":
            del known["share"]
        return {**known, "stopwords": lexicon_version("stopwords")}

    def left_alone(self, text: str) -> int:
        """How many words are too long to be changed.

        Examples
        --------
        >>> Typo().left_alone(f"a picture: {'iVBORw0KGgo' * 40}")
        1
        """
        return sum(len(word) > self.max_letters for word in re.findall(r"[\w'*@-]+", text))

    def parts(self, generator: random.Random) -> Parts:
        """Random inner swaps in a share of the words, or in all."""
        from textattack.constraints.pre_transformation import (
            MinWordLength,
            RepeatModification,
            StopwordModification,
        )
        from textattack.transformations import WordSwapNeighboringCharacterSwap

        from perturbations.search import BestCandidate
        from perturbations.transformations import (
            ChangedWords,
            MaxWordLength,
            NoTokens,
            drawn_from,
            swap_inner_letters,
        )

        valid = self.preset == "valid"
        neighbours = WordSwapNeighboringCharacterSwap(
            random_one=False, skip_first_char=True, skip_last_char=True
        )
        change = drawn_from({neighbours: 1}) if valid else swap_inner_letters
        share = self.share if valid else None
        return Parts(
            transformation=ChangedWords(change, generator, self.candidates, share=share),
            constraints=[
                MinWordLength(self.min_letters),
                MaxWordLength(self.max_letters),
                StopwordModification(stopwords()),
                RepeatModification(),
                *([NoTokens()] if valid else []),
            ],
            search_method=BestCandidate(),
        )
