"""Splits questions into training and test questions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scope.errors import SpecError
from scope.fleet.matrix import CorrectnessMatrix
from scope.jobs.fleet.answers import same_texts, text_digest
from scope.jobs.fleet.requests import TEST_SHARE
from scope.printing import counted

_STREAM = 0xE8A3
"""Spawn key of this split's random generator."""


def held_out_rows(texts: Sequence[str], share: float, seed: int) -> NDArray[np.bool_]:
    """Mask of the held-out questions: a random share of them.

    Questions with the same text stay together, to prevent leakage; if they do not fit the share,
    somewhat fewer are held out.

    Parameters
    ----------
    texts
        One per question; empty ones are different questions.

    Raises
    ------
    SpecError
        If none would be held out, or none would remain.

    Examples
    --------
    >>> int(held_out_rows([f"{number} + 1?" for number in range(10)], 0.2, seed=0).sum())
    2
    >>> held_out_rows(["Who?", "Why?", " Who? "], 0.7, seed=0).tolist()
    [False, True, False]
    """
    numbers: dict[str, int] = {}
    names = (text_digest(text) or f"row {row}" for row, text in enumerate(texts))
    kinds = np.array([numbers.setdefault(name, len(numbers)) for name in names])
    sizes = np.bincount(kinds)
    drawn = np.random.default_rng([seed, _STREAM]).permutation(len(sizes))
    count = round(share * len(texts)) if 0 < share < 1 else 0
    taken, room = [], count
    for kind in drawn.tolist():
        if sizes[kind] <= room:
            taken.append(kind)
            room -= sizes[kind]
    if not 0 < len(taken) < len(sizes):
        raise SpecError(
            f"a share of {share:g} of {len(texts)} questions to hold out",
            expected="a share between 0 and 1, with questions in both parts",
            fix=f"write for example --test-share {TEST_SHARE}",
        )
    return np.isin(kinds, taken)


def require_enough_left(matrix: CorrectnessMatrix, held_out: NDArray[np.bool_], folds: int) -> None:
    """Check that enough questions remain for cross-validation.

    Raises
    ------
    SpecError
        If there are too few.
    """
    left = len(set(same_texts(matrix.take(~held_out))))
    if left < folds:
        raise SpecError(
            f"{counted(left, 'training question')} and {int(held_out.sum())} held out",
            expected=f"{folds} or more training questions with distinct texts",
            fix="hold out fewer with --test-share, or add questions",
        )
