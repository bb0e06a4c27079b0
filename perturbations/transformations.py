"""How a text may be changed: the candidates a search chooses from."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from perturbations.textattack_gate import load_textattack

load_textattack()

from textattack.shared import AttackedText  # noqa: E402
from textattack.transformations import WordSwap  # noqa: E402


class WordSynonyms(WordSwap):
    """One word replaced by a synonym.

    TextAttack's own ``WordSwapWordNet`` gives the same words, but in an order that changes with
    the hash seed, and it downloads a corpus when it is made.

    Parameters
    ----------
    synonyms
        From a word to its synonyms, in a fixed order.
    """

    def __init__(self, synonyms: Callable[[str], Sequence[str]]) -> None:
        super().__init__()
        self._synonyms = synonyms

    def _get_replacement_words(self, word: str) -> Sequence[str]:
        return self._synonyms(word)


class InnerSwaps(WordSwap):
    """Whole texts in which every word that may be changed has two inner letters swapped.

    The paper's text speaks of one word, its published code changes every word; so does this. A
    word whose inner letters are all the same stays as it is.

    Parameters
    ----------
    generator
        Decides which letters; candidates follow from its state alone.
    candidates
        How many texts to offer; 15 in the published code.
    """

    def __init__(self, generator: random.Random, candidates: int = 15) -> None:
        super().__init__()
        self._generator = generator
        self._candidates = candidates

    @property
    def deterministic(self) -> bool:
        """False: another call gives other candidates, so TextAttack must not cache them."""
        return False

    def _get_transformations(
        self, current_text: AttackedText, indices_to_modify: Iterable[int]
    ) -> list[AttackedText]:
        indices = sorted(indices_to_modify)
        words = [current_text.words[index] for index in indices]
        if not indices:
            return []
        drawn = (
            tuple(swap_inner_letters(word, self._generator) for word in words)
            for _ in range(self._candidates)
        )
        return [
            current_text.replace_words_at_indices(indices, changed)
            for changed in dict.fromkeys(drawn)
            if changed != tuple(words)
        ]


def swap_inner_letters(word: str, generator: random.Random) -> str:
    """The word with two different letters swapped, never its first or last.

    Examples
    --------
    >>> swap_inner_letters("form", random.Random(0))
    'from'
    >>> swap_inner_letters("good", random.Random(0))
    'good'
    """
    inner = range(1, len(word) - 1)
    alike = Counter(word[1:-1])
    # Each pair is as likely as any other: the first by how many differ from it, then one of them.
    different = [len(inner) - alike[word[place]] for place in inner]
    if not any(different):
        return word
    first = generator.choices(inner, different)[0]
    second = generator.choice([place for place in inner if word[place] != word[first]])
    letters = list(word)
    letters[first], letters[second] = letters[second], letters[first]
    return "".join(letters)
