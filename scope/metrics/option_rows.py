"""Rows of probabilities of items that need not have as many options as each other."""

import numpy as np
from numpy.typing import ArrayLike

from scope.metrics.arrays import Labels, ProbabilityRows, checked_labels, checked_probabilities


def checked_option_rows(
    name: str, probabilities: ArrayLike, options: ArrayLike | None
) -> tuple[ProbabilityRows, Labels]:
    """Return the rows, each summing to 1 but for rounding, and their numbers of options.

    Parameters
    ----------
    probabilities
        Shape (n, most options): probabilities, 0 behind the last option of an item.
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
    rows = checked_probabilities(name, probabilities)
    if options is None:
        return _summing_to_one(rows), np.full(len(rows), rows.shape[1], dtype=np.intp)
    counts = checked_labels("options", options)
    if counts.shape != rows.shape[:1]:
        raise ValueError(f"{name}: {len(rows)} rows for {len(counts)} numbers of options")
    behind = np.arange(rows.shape[1]) >= counts[:, np.newaxis]
    if (rows[behind] != 0).any():
        first = int(np.argmax((behind & (rows != 0)).any(axis=1)))
        raise ValueError(f"{name}: row {first} gives more than {counts[first]} options a chance")
    return _summing_to_one(rows), counts


def _summing_to_one(rows: ProbabilityRows) -> ProbabilityRows:
    # What is allowed to be off by rounding would otherwise lead out of a metric's range.
    whole = np.clip(rows, 0.0, None)
    return np.asarray(whole / whole.sum(axis=1, keepdims=True), dtype=np.float64)
