"""Do the values of texts differ between slices of them? A permutation test."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

_AT_ONCE = 500
_ENOUGH = 100
"""So many resamples as far apart as the data settle that the p-value is not small."""


def heterogeneity_p_value(
    values: ArrayLike,
    slices: Sequence[str],
    generator: np.random.Generator,
    *,
    resamples: int = 9999,
) -> float:
    """Return how often chance alone would set the slices' means as far apart.

    Were all slices alike, each text's value could as well lie in another one. How far apart they
    are is the sum of squares between them. Of m random permutations k are as far apart, and
    p = (k + 1) / (m + 1); m is ``resamples``, or fewer once k reaches 100.

    Parameters
    ----------
    values
        Shape (n,), one a text.
    slices
        The slice of each text.

    Raises
    ------
    ValueError
        If the lengths differ.

    Examples
    --------
    Of the six ways to lay two ones and two zeros into two slices, two are as far apart:

    >>> generator = np.random.default_rng(0)
    >>> round(heterogeneity_p_value([1, 1, 0, 0], ["a", "a", "b", "b"], generator), 1)
    0.3
    """
    numbers, names = np.asarray(values, dtype=np.float64), np.asarray(slices, dtype=str)
    if numbers.shape != names.shape:
        raise ValueError(f"values of shape {numbers.shape} for {len(slices)} slices")
    # Sorted by value too: the generator's order goes to texts by their values.
    order = np.lexsort((numbers, names))
    _, starts, sizes = np.unique(names[order], return_index=True, return_counts=True)

    def apart(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((np.add.reduceat(rows, starts, axis=1) ** 2 / sizes).sum(axis=1))

    seen = numbers[order][None]
    # Equal sums must count as equal although their terms were added in another order.
    observed = float(apart(seen)[0]) - 1e-9
    as_far = done = 0
    while done < resamples and as_far < _ENOUGH:
        count = min(_AT_ONCE, resamples - done)
        drawn = generator.permuted(np.repeat(seen, count, axis=0), axis=1)
        as_far += int((apart(drawn) >= observed).sum())
        done += count
    return (as_far + 1) / (done + 1)
