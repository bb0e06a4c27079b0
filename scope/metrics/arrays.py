"""The arrays that metrics take, and what must hold of them.

A violation is a bug of the caller, never of the user's data: those are checked where they come
in. So everything here raises `ValueError`.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

ProbabilityRows = NDArray[np.float64]
"""Shape (n, labels): one row of probabilities per text."""

Labels = NDArray[np.intp]
"""Shape (n,): the index of one label per text."""

Values = NDArray[np.float64]
"""Shape (n,): one value per example or pair."""

SUM_TOLERANCE = 1e-4
"""How far from 1 a row may sum: single-precision answers are rounded, and so are saved ones."""


def checked_probabilities(name: str, probabilities: ArrayLike) -> ProbabilityRows:
    """Return the rows in double precision, or raise `ValueError` with the first bad row.

    No rows at all may come as an empty list, which has lost its number of labels.
    """
    rows = np.asarray(probabilities, dtype=np.float64)
    if rows.shape == (0,):
        rows = rows.reshape(0, 1)
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise ValueError(f"{name}: the shape is {rows.shape}, not (texts, labels)")
    in_range = (rows >= -SUM_TOLERANCE) & (rows <= 1 + SUM_TOLERANCE)
    good = np.abs(np.where(in_range, rows, np.nan).sum(axis=1) - 1) <= SUM_TOLERANCE
    if not good.all():
        first = int(np.argmin(good))
        raise ValueError(f"{name}: row {first} is {rows[first].tolist()}, no probabilities")
    return rows


def checked_labels(name: str, labels: ArrayLike) -> Labels:
    """Return the label indices, or raise `ValueError` where they are none."""
    found: NDArray[Any] = np.asarray(labels)
    if found.ndim != 1:
        raise ValueError(f"{name}: the shape is {found.shape}, not (texts,)")
    if found.size == 0:
        return found.astype(np.intp)
    if not np.issubdtype(found.dtype, np.integer) or found.min() < 0:
        raise ValueError(f"{name}: label indices are whole numbers from 0 on, not {found[:3]}")
    return found.astype(np.intp)


def require_same_shape(**arrays: NDArray[Any]) -> None:
    """Raise `ValueError` unless all the arrays have one shape."""
    if len({array.shape for array in arrays.values()}) > 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"the shapes differ: {shapes}")


def predicted_labels(probabilities: ArrayLike) -> Labels:
    """Return the most probable label of every row; the first of equals.

    Parameters
    ----------
    probabilities
        Shape (n, labels).

    Examples
    --------
    >>> predicted_labels([[0.2, 0.8], [0.5, 0.5]]).tolist()
    [1, 0]
    """
    rows = checked_probabilities("probabilities", probabilities)
    return most_probable(rows)


def most_probable(rows: ProbabilityRows) -> Labels:
    """Return `predicted_labels` of rows that were checked before."""
    labels: Labels = np.argmax(rows, axis=1)
    return labels
