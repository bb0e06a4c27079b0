"""Values grouped by their original example, the unit of random sampling.

An example's trials are not independent: a text whose label one swap does not change is likely
unchanged by the next. Every interval and test here therefore uses one sum per example.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Sums = NDArray[np.float64]
"""Shape (examples,): one sum or count per distinct example."""


class ExampleSums(NamedTuple):
    """For each distinct example, in the order of their ids: sum and number of its values."""

    sums: Sums
    sizes: Sums

    @property
    def distinct(self) -> int:
        """The number of distinct examples."""
        return len(self.sums)

    @property
    def mean(self) -> float:
        """The mean over all values: an example is weighted by its number of trials."""
        return float(self.sums.sum() / self.sizes.sum())


def sum_by_example(
    values: ArrayLike, example_ids: Sequence[str], *, low: float, high: float
) -> ExampleSums:
    """Gather values in ``low..high`` by example; the result does not depend on the input order.

    Parameters
    ----------
    values
        Shape (n,).
    example_ids
        The example of each value, once for each of its trials.

    Raises
    ------
    ValueError
        If the lengths differ or a value is outside the range.

    Examples
    --------
    >>> sum_by_example([1, 0, 1], ["b", "a", "b"], low=0, high=1).sums.tolist()
    [0.0, 2.0]
    """
    flat = np.asarray(values, dtype=np.float64)
    if flat.shape != (len(example_ids),):
        raise ValueError(f"values of shape {flat.shape} for {len(example_ids)} example ids")
    if not ((flat >= low) & (flat <= high)).all():
        raise ValueError(f"a value is outside {low}..{high}: {flat.min()} to {flat.max()}")
    position = {example: index for index, example in enumerate(sorted(set(example_ids)))}
    owners = np.array([position[example] for example in example_ids], dtype=np.intp)
    # Sorted by value too: a sum's last bits depend on the order of its terms.
    order = np.lexsort((flat, owners))
    sums = np.bincount(owners[order], weights=flat[order], minlength=len(position))
    sizes = np.bincount(owners, minlength=len(position))
    return ExampleSums(sums.astype(np.float64), sizes.astype(np.float64))


def normal_quantile(level: float) -> float:
    """Return z such that a standard normal variable is in -z..z with probability ``level``.

    Raises
    ------
    ValueError
        If the level is not between 0 and 1.

    Examples
    --------
    >>> round(normal_quantile(0.95), 3)
    1.96
    """
    if not 0 < level < 1:
        raise ValueError(f"a confidence level is between 0 and 1, not {level}")
    return NormalDist().inv_cdf((1 + level) / 2)
