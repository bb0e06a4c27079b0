"""Means over questions, of all and by category: one value a question, NaN where none is known.

The question is what is drawn at random, so all answers to one stay together: its value is the mean
over the models whose answer is known, and every question weighs alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.records import Estimate, Undefined
from scope.statistics import mean_estimate, paired_difference

Shares = NDArray[np.float64]
"""Shape (questions,): a share from 0 to 1, NaN where none of the answers needed is known."""

NO_ANSWERS = "none of these questions has a known answer that counts here"


class Part(NamedTuple):
    """Some of the questions, by row: those of a category, or all where it is None."""

    category: str | None
    rows: NDArray[np.int64]


def question_parts(categories: Sequence[str | None]) -> tuple[Part, ...]:
    """All questions, then those of each category, in alphabetical order.

    Examples
    --------
    >>> [(name, rows.tolist()) for name, rows in question_parts(["gsm8k", None, "arc", "gsm8k"])]
    [(None, [0, 1, 2, 3]), ('arc', [2]), ('gsm8k', [0, 3])]
    """
    every = Part(None, np.arange(len(categories)))
    rows: dict[str, list[int]] = {}
    for row, category in enumerate(categories):
        if category is not None:
            rows.setdefault(category, []).append(row)
    return (every, *(Part(name, np.array(rows[name])) for name in sorted(rows)))


def means_of_known(values: NDArray[np.floating], known: NDArray[np.bool_]) -> Shares:
    """The mean of each row over what is known in it, NaN where nothing is.

    Examples
    --------
    >>> known = np.array([[True, False, True], [False, False, False]])
    >>> means_of_known(np.array([[1.0, 9.0, 0.0], [9.0, 9.0, 9.0]]), known).tolist()
    [0.5, nan]
    """
    sums = np.where(known, values, 0.0).sum(axis=1, dtype=np.float64)
    counts = known.sum(axis=1)
    means: Shares = np.full(len(sums), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def known_mean(values: Shares, ids: Sequence[str]) -> Estimate | Undefined:
    """The mean over the questions with a value; ``n`` counts them.

    Examples
    --------
    >>> estimate = known_mean(np.array([1.0, np.nan, 0.0]), ["a", "b", "c"])
    >>> estimate.value, estimate.n
    (0.5, 2)
    """
    rows = np.flatnonzero(~np.isnan(values))
    return mean_estimate(values[rows], names_at(rows, ids), empty=NO_ANSWERS)


def known_gain(first: Shares, second: Shares, ids: Sequence[str]) -> Estimate | Undefined:
    """The mean of first minus second over the questions where both have a value.

    Examples
    --------
    >>> estimate = known_gain(np.array([1.0, 1.0]), np.array([0.0, np.nan]), ["a", "b"])
    >>> estimate.value, estimate.n
    (1.0, 1)
    """
    rows = np.flatnonzero(~np.isnan(first + second))
    return paired_difference(first[rows], second[rows], names_at(rows, ids), empty=NO_ANSWERS)


def names_at(rows: NDArray[np.int64], names: Sequence[str]) -> list[str]:
    """The names at some places.

    Examples
    --------
    >>> names_at(np.array([2, 0]), ("a", "b", "c"))
    ['c', 'a']
    """
    return [names[row] for row in rows.tolist()]
