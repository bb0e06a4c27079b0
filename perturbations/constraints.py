"""Which changes are admitted, beyond what TextAttack has ready."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from perturbations.textattack_gate import load_textattack

load_textattack()

from textattack.constraints import Constraint, PreTransformationConstraint  # noqa: E402
from textattack.shared import AttackedText  # noqa: E402


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
    """

    def __init__(self, encode: Callable[[list[str]], Sequence[Any]], min_similarity: float) -> None:
        super().__init__(compare_against_original=True)
        self._encode = encode
        self._min_similarity = min_similarity

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
        return [text for text, keep in zip(transformed_texts, admitted, strict=True) if keep]

    def _check_constraint(
        self, transformed_text: AttackedText, reference_text: AttackedText
    ) -> bool:
        return bool(self._check_constraint_many([transformed_text], reference_text))
