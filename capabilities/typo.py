"""*typo*: does the answer stay when the letters inside words change places?

The paper's *robustness* capability (arXiv 2311.04166, section 4): people read such words without
effort. Every word of four letters or more that is no stopword is changed at once, first and last
letter kept, as in the published code; the paper's text can be read as changing one word. An
invariance found here says that the reference still answers alike, not that it answers rightly.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar

from perturbations.capability import InvarianceCapability, Parts
from scope.errors import SpecError
from scope.records import Setting


@dataclass(frozen=True, kw_only=True)
class Typo(InvarianceCapability):
    """Swaps two inner letters of every longer word; the best of some random tries is kept.

    Parameters
    ----------
    candidates
        How many random texts to try for one perturbation; 15 in the published code.
    min_letters
        Shortest word that is changed; 4 in the published code.
    """

    name: ClassVar[str] = "typo"
    question: ClassVar[str] = (
        "Does the prediction stay the same when letters inside words are swapped?"
    )

    candidates: int = 15
    min_letters: int = 4

    def __post_init__(self) -> None:
        if self.candidates < 1 or self.min_letters < 4:
            raise SpecError(
                f"{self.candidates} candidates, words from {self.min_letters} letters",
                expected="at least 1 candidate, and 4 letters to have two inside",
                mend="leave these settings out for the published ones, 15 and 4",
            )

    def settings(self) -> Mapping[str, Setting]:
        """The two numbers, and which stopwords are used."""
        from perturbations.lexicon import stopwords

        return {
            **asdict(self),
            "stopwords": f"{stopwords().source} {stopwords().fingerprint}",
        }

    def parts(self, generator: random.Random) -> Parts:
        """Random inner swaps all over the text."""
        from textattack.constraints.pre_transformation import (
            MinWordLength,
            RepeatModification,
            StopwordModification,
        )

        from perturbations.lexicon import stopwords
        from perturbations.search import BestCandidate
        from perturbations.transformations import InnerSwaps

        return Parts(
            transformation=InnerSwaps(generator, self.candidates),
            constraints=[
                MinWordLength(self.min_letters),
                StopwordModification(stopwords().words),
                RepeatModification(),
            ],
            search_method=BestCandidate(),
        )
