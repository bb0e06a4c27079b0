"""How a text may be changed, and which changes are admitted beyond TextAttack's own constraints."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from perturbations.textattack_gate import load_textattack

load_textattack()

from textattack.constraints import Constraint, PreTransformationConstraint  # noqa: E402
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


class MaxWordLength(PreTransformationConstraint):
    """Leaves words of more than so many characters as they are."""

    def __init__(self, longest: int) -> None:
        self._longest = longest

    def _get_modifiable_indices(self, current_text: AttackedText) -> set[int]:
        return {
            place for place, word in enumerate(current_text.words) if len(word) <= self._longest
        }


class MeaningKept(Constraint):
    """Admits texts whose sentence vector stays near the original's.

    Parameters
    ----------
    encode
        From a list of texts to one vector of length 1 a text.
    min_similarity
        Least cosine with the original text, from -1 to 1.

    Attributes
    ----------
    refused
        Whether any text has been refused.
    """

    def __init__(self, encode: Callable[[list[str]], Sequence[Any]], min_similarity: float) -> None:
        super().__init__(compare_against_original=True)
        self._encode = encode
        self._min_similarity = min_similarity
        self.refused = False

    def _check_constraint_many(
        self, transformed_texts: list[AttackedText], reference_text: AttackedText
    ) -> list[AttackedText]:
        if not transformed_texts:
            return []
        vectors = np.asarray(
            self._encode([reference_text.text, *(text.text for text in transformed_texts)])
        )
        cosines = np.round(vectors[1:] @ vectors[0], 6)
        admitted = cosines >= self._min_similarity
        self.refused = self.refused or not admitted.all()
        return [text for text, keep in zip(transformed_texts, admitted, strict=True) if keep]

    def _check_constraint(
        self, transformed_text: AttackedText, reference_text: AttackedText
    ) -> bool:
        return bool(self._check_constraint_many([transformed_text], reference_text))
