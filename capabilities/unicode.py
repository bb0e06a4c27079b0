"""*unicode*: does the answer stay when characters look the same and are others?

Text that was copied from a page, or written to get past a filter, holds letters of another script
that look like Latin ones, and characters that are not seen at all (*Bad Characters*, arXiv
2106.09898). People read the same text. The letters here are Cyrillic ones that most fonts draw
alike, as in Unicode's list of intentional look-alikes; TextAttack's ``WordSwapHomoglyphSwap`` reads
that list, and cannot be made: its file is missing from the package of 0.3.11. The invisible
characters are those of its ``WordSwapInvisibleCharacters``.

A model whose tokenizer drops or folds such characters keeps every prediction: that is no merit of
what it has learned. An invariance found here says nothing of other characters.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

from perturbations.capability import InvarianceCapability, Parts, check_choice, check_whole
from perturbations.lexicon import not_latin

Kind = Literal["homoglyph", "invisible"]
Words = Literal["one", "all"]

LOOK_ALIKE = dict(zip("acdehijopqswxyABCEHIJKMOPSTX", "асԁеһіјорԛѕԝхуАВСЕНІЈКМОРЅТХ", strict=True))
MOST_CANDIDATES = 1000


@dataclass(frozen=True, kw_only=True)
class Unicode(InvarianceCapability):
    """Exchanges a letter of one word, or of each, or hides a character in it.

    Links, handles, hashtags, e-mail addresses and words with a digit stay as they are.

    Parameters
    ----------
    kind
        ``homoglyph``, a Cyrillic letter in place of a Latin one, or ``invisible``, a character of
        no width inside the word.
    words
        ``one`` word of the text, or ``all``.
    candidates
        How many random texts to try for one perturbation.
    max_characters
        Longest text that is searched.
    """

    name = "unicode"
    question = "Does the prediction stay the same when characters are exchanged that look the same?"
    groups = ("robustness", "format")
    example = ("a wonderful film", "a wоnderful film")
    queries = 38
    accepted = "1.00 [0.96, 1.00] of 100"

    kind: Kind = "homoglyph"
    words: Words = "one"
    candidates: int = 15

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, Kind)
        check_choice("words", self.words, Words)
        check_whole("candidates", self.candidates, 1, MOST_CANDIDATES)

    def not_applicable(self, text: str) -> str | None:
        """Look-alikes are known of Latin letters."""
        return not_latin(text)

    def parts(self, generator: random.Random) -> Parts:
        """Random changes of one word or of all."""
        from textattack.constraints.pre_transformation import RepeatModification
        from textattack.transformations import WordSwapInvisibleCharacters

        from perturbations.search import BestCandidate
        from perturbations.transformations import (
            ChangedWords,
            NoTokens,
            WordReplacements,
            drawn_from,
        )

        invisible = self.kind == "invisible"
        swap = WordSwapInvisibleCharacters() if invisible else WordReplacements(look_alikes)
        most = 1 if self.words == "one" else None
        return Parts(
            ChangedWords(drawn_from({swap: 1}), generator, self.candidates, most),
            [RepeatModification(), NoTokens()],
            BestCandidate(),
        )


def look_alikes(word: str) -> list[str]:
    """The word with one letter exchanged, for each that has a look-alike.

    Examples
    --------
    >>> [ascii(one) for one in look_alikes("film")]
    ["'f\\\\u0456lm'"]
    """
    return [
        word[:place] + LOOK_ALIKE[letter] + word[place + 1 :]
        for place, letter in enumerate(word)
        if letter in LOOK_ALIKE
    ]
