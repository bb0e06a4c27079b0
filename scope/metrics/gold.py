"""Answers against the right ones: where several count as right, the best match counts."""

from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np

from scope.metrics.arrays import Values


def best_against_gold(
    values: Callable[[Sequence[str], Sequence[str]], Values],
    answers: Sequence[str],
    gold: Sequence[Sequence[str]],
) -> Values:
    """Return for each answer the greatest value that it has with any of its right answers.

    Parameters
    ----------
    values
        A metric on two lists of texts, such as `word_f1_values`.
    answers
        One text an item.
    gold
        The right answers of each item, at least one.

    Raises
    ------
    ValueError
        If there are not as many items in both, or one has no right answer.

    Examples
    --------
    >>> from scope.metrics.overlap import word_f1_values
    >>> best_against_gold(word_f1_values, ["in Paris", "Rome"], [["Paris", "in Paris"], [""]])
    array([1., 0.])
    """
    if len(answers) != len(gold) or not all(gold):
        raise ValueError(f"{len(answers)} answers, {sum(map(bool, gold))} items with right answers")
    if not answers:
        return np.zeros(0)
    sizes = [len(right) for right in gold]
    repeated = [answer for answer, size in zip(answers, sizes, strict=True) for _ in range(size)]
    found = values(repeated, list(chain.from_iterable(gold)))
    starts = np.cumsum([0, *sizes[:-1]])
    return np.asarray(np.maximum.reduceat(found, starts), dtype=np.float64)
