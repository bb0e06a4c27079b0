"""The error of a probe's scores: its mean, and the pairs with the largest error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from scope.probes.checks import Scores, checked_groups
from scope.records.estimates import Estimate, Undefined
from scope.statistics import mean_estimate


def mean_error_estimate(
    given: Scores,
    wanted: Scores,
    *,
    groups: NDArray[np.int64] | None = None,
    low: float = 0.0,
    high: float = 5.0,
    level: float = 0.95,
) -> Estimate | Undefined:
    """The mean absolute difference from human scores, in their unit, with its interval.

    Parameters
    ----------
    given, wanted
        Shape (pairs,), from ``low`` to ``high``.
    groups
        Shape (pairs,): one number for all pairs that share sentences, and so count as one example
        for the interval; None: each by itself.
    low, high
        The range of the scores, and so of an error from 0 to ``high - low``.
    level
        The interval's confidence level.

    Returns
    -------
    Estimate or Undefined
        As `scope.statistics.mean_estimate` has it, but that ``n`` counts pairs.

    Raises
    ------
    DataError
        When there is not one group a pair.
    ValueError
        When an error is greater than the range has room for.

    Examples
    --------
    >>> print(mean_error_estimate(np.array([1.0, 4.0]), np.array([2.0, 4.0])))
    0.500 [0.028, 3.442]
    """
    errors = np.abs(given - wanted)
    count = len(errors)
    numbered = np.arange(count) if groups is None else checked_groups(groups, count)
    found = mean_estimate(
        errors,
        list(map(str, numbered)),
        low=0.0,
        high=high - low,
        level=level,
        empty="there are no pairs",
    )
    return replace(found, n=count)


def misjudged(given: Scores, wanted: Scores, count: int) -> NDArray[np.intp]:
    """The places of the pairs whose scores are farthest from people's, the worst first.

    Parameters
    ----------
    given, wanted
        Shape (pairs,).
    count
        At most so many.

    Examples
    --------
    Of two that are as far off the earlier comes first:

    >>> misjudged(np.array([1.0, 5.0, 3.0]), np.array([2.0, 2.0, 2.0]), 2).tolist()
    [1, 0]
    """
    # Numbers that differ by the error of rounding alone are as far off.
    errors = np.abs(given - wanted).round(6)
    return np.argsort(-errors, kind="stable")[:count]
