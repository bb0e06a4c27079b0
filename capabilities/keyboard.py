"""*keyboard*: does the answer stay when somebody mistypes a word?

A finger leaves a letter out, types two in the wrong order, types one twice or hits the next key.
The shares are those of 35,909 distinct misspellings that have one such error, of 64,121 in the
lists of codespell, Wikipedia and Norvig: 52.1 % left out, 25.9 % in the wrong order, 12.6 % twice,
9.4 % the next key. The lists name each misspelling once, however often people make it. 2 % of the
errors are in the first letter and 1.5 % in words of four letters or fewer: both stay as they are,
since a short word soon becomes another word. The neighbours are those of an English keyboard.

An invariance found here says that the reference overlooks the error that it was found with, not
that it reads past every error: the search takes the one of least effect.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from perturbations.capability import InvarianceCapability, Parts, check_whole
from perturbations.lexicon import not_latin

OMISSION, TRANSPOSITION, DOUBLING, NEIGHBOUR = 0.521, 0.259, 0.126, 0.094
"""How common each error is among the four."""

MOST_CANDIDATES = 1000
MOST_WORDS = 100


@dataclass(frozen=True, kw_only=True)
class Keyboard(InvarianceCapability):
    """Mistypes one or a few words; the best of some random tries is kept.

    Links, handles, hashtags, e-mail addresses and words with a digit stay as they are.

    Parameters
    ----------
    max_words
        Greatest number of words that are mistyped in a text, one error each.
    min_letters
        Shortest word that is mistyped.
    candidates
        How many random texts to try for one perturbation.
    max_characters
        Longest text that is searched.
    """

    name = "keyboard"
    question = "Does the prediction stay the same when words are mistyped?"
    groups = ("robustness",)
    example = ("a wonderful film", "a wonderfl film")
    queries = 85
    accepted = "0.92 [0.85, 0.96] of 100 (κ 1.00; another word, another number, a name)"

    max_words: int = 2
    min_letters: int = 5
    candidates: int = 30

    def __post_init__(self) -> None:
        check_whole("max_words", self.max_words, 1, MOST_WORDS)
        check_whole("min_letters", self.min_letters, 2, MOST_WORDS)
        check_whole("candidates", self.candidates, 1, MOST_CANDIDATES)

    def not_applicable(self, text: str) -> str | None:
        """The keyboard has Latin letters."""
        return not_latin(text)

    def parts(self, generator: random.Random) -> Parts:
        """Random errors in some words, by TextAttack's word swaps."""
        from textattack.constraints.pre_transformation import MinWordLength, RepeatModification
        from textattack.transformations import (
            WordSwapNeighboringCharacterSwap,
            WordSwapQWERTY,
            WordSwapRandomCharacterDeletion,
        )

        from perturbations.search import BestCandidate
        from perturbations.transformations import (
            ChangedWords,
            NoTokens,
            WordReplacements,
            drawn_from,
        )

        every = {"random_one": False, "skip_first_char": True}
        errors = {
            WordSwapRandomCharacterDeletion(**every): OMISSION,
            WordSwapNeighboringCharacterSwap(**every): TRANSPOSITION,
            WordReplacements(doubled): DOUBLING,
            WordSwapQWERTY(**every): NEIGHBOUR,
        }
        return Parts(
            ChangedWords(drawn_from(errors), generator, self.candidates, self.max_words),
            [MinWordLength(self.min_letters), RepeatModification(), NoTokens()],
            BestCandidate(),
        )


def doubled(word: str) -> list[str]:
    """The word with each of its letters but the first typed twice.

    Examples
    --------
    >>> doubled("film")
    ['fiilm', 'fillm', 'filmm']
    """
    return [word[:place] + word[place - 1 :] for place in range(2, len(word) + 1)]
