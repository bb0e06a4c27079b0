"""The difference of two correlations with human scores, on the same pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scope.probes.checks import Scores
from scope.probes.correlation_values import pearson_without
from scope.probes.correlations import pearson_estimate
from scope.probes.jackknife import METHOD, groups_of, half_width
from scope.records.estimates import Estimate, Undefined


def pearson_difference(
    given: Scores,
    other: Scores,
    wanted: Scores,
    groups: NDArray[np.int64] | None = None,
    level: float = 0.95,
) -> Estimate | Undefined:
    """Pearson's correlation of ``given`` with ``wanted`` less that of ``other``, with an interval.

    Both correlations share the pairs and human scores, so they rise and fall together, and the
    interval is narrower than that of two independent ones: each group of pairs leaves both at
    once.

    Parameters
    ----------
    given, other, wanted
        Shape (pairs,), of the same pairs in the same order.
    groups
        Shape (pairs,): one number for all pairs that share sentences; None: each by itself.
    level
        The interval's confidence level.

    Returns
    -------
    Estimate or Undefined
        From -2 to 2, and symmetric as far as these leave room. Of scores beside themselves it is
        a point, 0.

    Raises
    ------
    DataError
        When there is not one group a pair.

    Examples
    --------
    >>> wanted = np.array([0.0, 1, 2, 3, 4, 5])
    >>> print(pearson_difference(wanted**2, np.array([1.0, 0, 2, 3, 5, 4]), wanted))
    0.074 [-0.016, 0.164]
    """
    numbered = groups_of(groups, len(given))
    if isinstance(numbered, Undefined):
        return numbered
    first = pearson_estimate(given, wanted, groups, level)
    if isinstance(first, Undefined):
        return first
    second = pearson_estimate(other, wanted, groups, level)
    if isinstance(second, Undefined):
        return second
    value = first.value - second.value
    without = pearson_without(given, wanted, numbered)
    half = half_width(without - pearson_without(other, wanted, numbered), level)
    return Estimate(
        value=value,
        low=max(-2.0, value - half),
        high=min(2.0, value + half),
        n=len(given),
        level=level,
        method=METHOD,
    )
