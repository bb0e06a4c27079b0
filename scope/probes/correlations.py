"""Pearson's and Spearman's correlation with human scores, with intervals."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from scope.probes.checks import Scores
from scope.probes.correlation_values import pearson, pearson_without, spearman_without
from scope.probes.jackknife import METHOD, groups_of, half_width
from scope.records.estimates import Estimate, Undefined

_ALL = 1 - 1e-12
"""A correlation beyond this is perfect but for rounding; ``atanh`` of 1 would be infinite."""


def pearson_estimate(
    given: Scores, wanted: Scores, groups: NDArray[np.int64] | None = None, level: float = 0.95
) -> Estimate | Undefined:
    """Pearson's correlation with a jackknife's interval.

    The interval is symmetric in ``atanh`` of the correlation; its width is that of
    `scope.probes.jackknife.half_width`.

    Parameters
    ----------
    given, wanted
        Shape (pairs,), of the same pairs in the same order.
    groups
        Shape (pairs,): one number for all pairs that share sentences, and so are not independent;
        None: each pair by itself.
    level
        The interval's confidence level.

    Raises
    ------
    DataError
        When there is not one group a pair.

    Examples
    --------
    >>> given, wanted = np.arange(6.0), np.array([0.0, 2, 1, 4, 3, 5])
    >>> print(pearson_estimate(given, wanted))
    0.886 [0.156, 0.990]
    """
    numbered = groups_of(groups, len(given))
    if isinstance(numbered, Undefined):
        return numbered
    value, without = pearson(given, wanted), pearson_without(given, wanted, numbered)
    return _estimate(value, without, len(given), level)


def spearman_estimate(
    given: Scores, wanted: Scores, groups: NDArray[np.int64] | None = None, level: float = 0.95
) -> Estimate | Undefined:
    """Spearman's rank correlation; all else is as for `pearson_estimate`.

    Raises
    ------
    DataError
        When there is not one group a pair.

    Examples
    --------
    >>> print(spearman_estimate(np.arange(6.0) ** 3, np.array([0.0, 2, 1, 4, 3, 5])))
    0.886 [0.371, 0.984]
    """
    numbered = groups_of(groups, len(given))
    if isinstance(numbered, Undefined):
        return numbered
    value = pearson(rankdata(given), rankdata(wanted))
    return _estimate(value, spearman_without(given, wanted, numbered), len(given), level)


def _estimate(value: float, without: Scores, pairs: int, level: float) -> Estimate | Undefined:
    if math.isnan(value):
        return Undefined(reason="one side is constant", n=pairs)
    if np.isnan(without).any():
        return Undefined(reason="one side is constant without one group of pairs", n=pairs)
    middle = math.atanh(np.clip(value, -_ALL, _ALL))
    half = half_width(np.arctanh(np.clip(without, -_ALL, _ALL)), level)
    return Estimate(
        value=value,
        low=min(value, math.tanh(middle - half)),
        high=max(value, math.tanh(middle + half)),
        n=pairs,
        level=level,
        method=METHOD,
    )
