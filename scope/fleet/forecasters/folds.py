"""Questions in folds: what is fitted without a question may be tried on it."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from scope.errors import SpecError
from scope.fleet.layout import QuestionLayout, Table

_STREAM = 0xF01D


def question_numbers(table: Table, layout: QuestionLayout) -> NDArray[np.int64]:
    """Which question each row is, from 0 in order of first appearance.

    Rows whose vectors are the same to the byte are one question: a text that stands under several
    ids. Where there are no vectors every row is a question of its own.

    Examples
    --------
    >>> table = np.array([[0.5], [0.25], [0.5]], dtype=np.float32)
    >>> question_numbers(table, QuestionLayout(vector=1)).tolist()
    [0, 1, 0]
    """
    if not layout.vector:
        return np.arange(len(table))
    numbers: dict[bytes, int] = {}
    rows = np.ascontiguousarray(layout.vectors_of(table), dtype=np.float32)
    digests = (hashlib.blake2b(row.data, digest_size=16).digest() for row in rows)
    found = [numbers.setdefault(digest, len(numbers)) for digest in digests]
    return np.array(found, dtype=np.int64)


def question_folds(numbers: NDArray[np.int64], folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each row, from 0: drawn at random, all rows of one question in the same.

    The folds' numbers of different questions are one apart at most.

    Parameters
    ----------
    numbers
        Which question each row is, as `question_numbers` gives it.
    folds, seed
        How many folds, and what decides on the draw.

    Raises
    ------
    SpecError
        When there are fewer than two folds, or more than different questions.

    Examples
    --------
    >>> sorted(question_folds(np.arange(5), 2, seed=0).tolist())
    [0, 0, 0, 1, 1]
    """
    questions = int(numbers.max(initial=-1)) + 1
    if not 2 <= folds <= questions:
        different = "" if questions == len(numbers) else "different "
        raise SpecError(
            f"{folds} folds of {questions} {different}questions",
            expected="two folds or more, and a question or more in each",
            fix="add questions, or ask for fewer folds" if folds > 1 else "ask for folds=2",
        )
    drawn: NDArray[np.int64] = np.random.default_rng([seed, _STREAM]).permutation(questions)
    return (drawn % folds)[numbers]
