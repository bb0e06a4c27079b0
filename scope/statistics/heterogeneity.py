"""Do the values of texts differ between parts of them? A permutation test."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

_AT_ONCE = 500
_ENOUGH = 100
"""So many resamples as far apart as the data settle that the p-value is not small."""


def heterogeneity_p_value(
    parts: Sequence[ArrayLike], generator: np.random.Generator, *, resamples: int = 9999
) -> float:
    """Return how often chance alone would set the means of the parts as far apart.

    Were all parts alike, each value could as well lie in another one. How far apart they are is the
    sum of squares between them. Of m random permutations k are as far apart, and
    p = (k + 1) / (m + 1); m is ``resamples``, or fewer once k reaches 100.

    Parameters
    ----------
    parts
        The values of each part, one a text; none is empty.
    generator
        Source of the permutations.

    Examples
    --------
    Of the six ways to lay two ones and two zeros into two parts, two are as far apart:

    >>> generator = np.random.default_rng(0)
    >>> round(heterogeneity_p_value([[1, 1], [0, 0]], generator), 1)
    0.3
    """
    sizes = np.array([len(np.atleast_1d(one)) for one in parts])
    # Sorted: the generator's order goes to texts by their values.
    seen = np.concatenate([np.sort(np.asarray(one, dtype=np.float64)) for one in parts])[None]

    def apart(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = np.add.reduceat(rows, np.cumsum(sizes) - sizes, axis=1)
        return np.asarray((sums**2 / sizes).sum(axis=1))

    # Equal sums must count as equal although their terms were added in another order.
    observed = float(apart(seen)[0]) - 1e-9
    as_far = done = 0
    while done < resamples and as_far < _ENOUGH:
        count = min(_AT_ONCE, resamples - done)
        drawn = generator.permuted(np.repeat(seen, count, axis=0), axis=1)
        as_far += int((apart(drawn) >= observed).sum())
        done += count
    return (as_far + 1) / (done + 1)
