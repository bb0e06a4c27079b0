"""The arrays that metrics take: probabilities, labels, rows of tokens and of options.

A violation is a bug of the caller, never of the user's data, which are checked where they come in.
So everything here raises `ValueError`.

A language model names its most probable next tokens, other ones for every text. Its answers are
compared over the union of these tokens; the last column, the rest, holds the mass of all others.
"""

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.records import Prediction

ProbabilityRows = NDArray[np.float64]
"""Shape (n, labels): one row of probabilities per text."""

Labels = NDArray[np.intp]
"""Shape (n,): the index of one label per text."""

Values = NDArray[np.float64]
"""Shape (n,): one value per example or pair."""

SUM_TOLERANCE = 1e-4
"""How far from 1 a row may sum: single-precision answers are rounded, and so are saved ones."""

HALF_PRECISION = 5e-3
"""How far from 1 a row of float16 or bfloat16 may sum; it is divided by its sum."""


def checked_probabilities(name: str, probabilities: ArrayLike) -> ProbabilityRows:
    """Return the rows in double precision, or raise `ValueError` with the first bad row.

    No rows at all may come as an empty list, which has lost its number of labels.
    """
    rows = np.asarray(probabilities, dtype=np.float64)
    if rows.shape == (0,):
        rows = rows.reshape(0, 1)
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise ValueError(f"{name}: the shape is {rows.shape}, not (texts, labels)")
    rows = normalized(rows)
    in_range = (rows >= -SUM_TOLERANCE) & (rows <= 1 + SUM_TOLERANCE)
    good = np.abs(np.where(in_range, rows, np.nan).sum(axis=1) - 1) <= SUM_TOLERANCE
    if not good.all():
        first = int(np.argmin(good))
        raise ValueError(f"{name}: row {first} is {rows[first].tolist()}, no probabilities")
    return rows


def normalized(probabilities: ArrayLike, *, part: bool = False) -> NDArray[np.float64]:
    """Return the probabilities in double precision, with the rounding of half precision undone.

    Rows whose sum is up to `HALF_PRECISION` from 1 are divided by it, but not those within
    `SUM_TOLERANCE`, nor, of a ``part`` of all probabilities, those that sum to less than 1.

    Examples
    --------
    >>> normalized([[0.25, 0.749], [0.25, 0.74999], [0.25, 0.7]]).round(6).tolist()
    [[0.25025, 0.74975], [0.25, 0.74999], [0.25, 0.7]]
    """
    rows = np.asarray(probabilities, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = rows.sum(axis=-1, keepdims=True)
    misses = sums - 1 if part else np.abs(sums - 1)
    divided = (misses > SUM_TOLERANCE) & (misses <= HALF_PRECISION)
    return np.asarray(rows / np.where(divided, sums, 1))


def is_distribution(values: Sequence[Any], count: int, *, part: bool = False) -> bool:
    """Return whether these are ``count`` probabilities that sum to 1, at least in half precision.

    A ``part`` of all probabilities may sum to less.

    Examples
    --------
    >>> is_distribution([0.25, 0.749], 2), is_distribution([0.25, 0.7], 2), is_distribution([1], 2)
    (True, False, False)
    """
    least = 0 if part else 1 - HALF_PRECISION
    numbers = all(issubclass(type(value), Real) and 0 <= value <= 2 for value in values)
    return len(values) == count and numbers and least <= math.fsum(values) <= 1 + HALF_PRECISION


NO_ANSWER = -1
"""Stands for a choice that a model failed to make: it is wrong, and equals no other choice."""


def checked_labels(name: str, labels: ArrayLike, least: int = 0) -> Labels:
    """Return the label indices, from ``least`` on; raise `ValueError` if they are invalid."""
    indices: NDArray[Any] = np.asarray(labels)
    if indices.ndim != 1:
        raise ValueError(f"{name}: the shape is {indices.shape}, not (texts,)")
    if indices.size == 0:
        return indices.astype(np.intp)
    if not np.issubdtype(indices.dtype, np.integer) or indices.min() < least:
        raise ValueError(
            f"{name}: label indices are whole numbers from {least} on, not {indices[:3]}"
        )
    return indices.astype(np.intp)


def require_same_shape(**arrays: NDArray[Any]) -> None:
    """Raise `ValueError` unless all the arrays have one shape."""
    if len({array.shape for array in arrays.values()}) > 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"the shapes differ: {shapes}")


def most_probable(rows: ProbabilityRows) -> Labels:
    """Return the most probable label of every row; the first of equals."""
    labels: Labels = np.argmax(rows, axis=1)
    return labels


def open_rows(predictions: Sequence[Prediction]) -> ProbabilityRows:
    """Return one row a prediction over the union of their tokens, and the rest.

    A token that a prediction does not name counts 0 there: its mass stands in the rest. Columns
    are sorted by token, so that of equally probable tokens the first is the same in any company.

    Parameters
    ----------
    predictions
        Each with tokens.

    Returns
    -------
    ProbabilityRows
        Shape (predictions, tokens + 1); every row sums to 1.

    Examples
    --------
    >>> one = Prediction(tokens=(" sea", " end"), probabilities=(0.5, 0.25))
    >>> other = Prediction(tokens=(" sea", " war"), probabilities=(0.75, 0.25))
    >>> open_rows([one, other]).tolist()  # end, sea, war, rest
    [[0.25, 0.5, 0.0, 0.25], [0.0, 0.75, 0.25, 0.0]]
    """
    tokens = sorted({token for prediction in predictions for token in prediction.tokens})
    column = {token: place for place, token in enumerate(tokens)}
    rows = np.zeros((len(predictions), len(tokens) + 1))
    for row, prediction in zip(rows, predictions, strict=True):
        row[[column[token] for token in prediction.tokens]] = prediction.probabilities
        row[-1] = max(0.0, 1 - math.fsum(prediction.probabilities))
    return rows


def widened(rows: ProbabilityRows, columns: int) -> ProbabilityRows:
    """Return rows of `open_rows` with tokens that nobody names put in before the rest.

    Examples
    --------
    >>> widened(np.array([[0.75, 0.25]]), 4).tolist()
    [[0.75, 0.0, 0.0, 0.25]]
    """
    unnamed = np.zeros((len(rows), columns - rows.shape[1]))
    return np.hstack([rows[:, :-1], unnamed, rows[:, -1:]])


def checked_option_rows(
    name: str, probabilities: ArrayLike, options: ArrayLike | None
) -> tuple[ProbabilityRows, Labels]:
    """Return the rows, each summing to 1 but for rounding, and their numbers of options.

    Parameters
    ----------
    probabilities
        Shape (n, most options): probabilities, 0 behind the last option of an item; all 0 where a
        model failed to answer.
    options
        Shape (n,): the number of options of each item; all of them if None.

    Raises
    ------
    ValueError
        If a row holds no probabilities of as many options, with the first that does not.

    Examples
    --------
    >>> rows, counts = checked_option_rows("any", [[0.5, 0.5, 0], [0.2, 0.2, 0.6]], [2, 3])
    >>> counts.tolist()
    [2, 3]
    """
    table = np.asarray(probabilities, dtype=np.float64)
    answered = table.any(axis=-1, keepdims=True) if table.ndim == 2 else True
    # A row without an answer is checked as if the first option were certain.
    rows = checked_probabilities(name, np.where(answered, table, np.arange(table.shape[-1]) == 0))
    if options is None:
        return _summing_to_one(rows) * answered, np.full(len(rows), rows.shape[1], dtype=np.intp)
    counts = checked_labels("options", options)
    if counts.shape != rows.shape[:1]:
        raise ValueError(f"{name}: {len(rows)} rows for {len(counts)} numbers of options")
    behind = np.arange(rows.shape[1]) >= counts[:, np.newaxis]
    if (rows[behind] != 0).any():
        first = int(np.argmax((behind & (rows != 0)).any(axis=1)))
        raise ValueError(f"{name}: row {first} gives more than {counts[first]} options a chance")
    return _summing_to_one(rows) * answered, counts


def _summing_to_one(rows: ProbabilityRows) -> ProbabilityRows:
    # The rounding that is allowed could otherwise lead out of a metric's range.
    whole = np.clip(rows, 0.0, None)
    return np.asarray(whole / whole.sum(axis=1, keepdims=True), dtype=np.float64)
