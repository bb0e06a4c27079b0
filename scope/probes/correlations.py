"""How well scores follow people's: Pearson's and Spearman's correlation, with intervals."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

from scope.probes.checks import Scores
from scope.records.estimates import Estimate, Undefined

_FEWEST = 4
"""Fisher's interval divides by the number of pairs less 3."""


def pearson(given: Scores, wanted: Scores) -> float:
    """Pearson's correlation, from -1 to 1; NaN where one side is constant.

    Examples
    --------
    >>> round(pearson(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])), 6)
    0.5
    """
    first, second = _centred(given), _centred(wanted)
    size = math.sqrt(float(first @ first) * float(second @ second))
    return float(np.clip(first @ second / size, -1.0, 1.0)) if size else math.nan


def pearson_estimate(given: Scores, wanted: Scores, level: float = 0.95) -> Estimate | Undefined:
    """Pearson's correlation with Fisher's interval.

    The interval is symmetric in ``atanh`` of the correlation, whose standard error is
    ``1 / sqrt(pairs - 3)``: right for pairs that are independent and normal, a little narrow
    where scores pile up at an end.

    Examples
    --------
    >>> print(pearson_estimate(np.arange(5.0), np.array([0.0, 2, 1, 4, 3])))
    0.800 [-0.280, 0.986]
    """
    return _estimate(pearson(given, wanted), len(given), 1.0, level, "Fisher's z")


def spearman_estimate(given: Scores, wanted: Scores, level: float = 0.95) -> Estimate | Undefined:
    """Spearman's rank correlation with the interval of Bonett and Wright (2000).

    As Fisher's, with the variance of ``atanh`` enlarged to ``(1 + r ** 2 / 2) / (pairs - 3)``.

    Examples
    --------
    >>> print(spearman_estimate(np.arange(5.0) ** 3, np.array([0.0, 2, 1, 4, 3])))
    0.800 [-0.457, 0.991]
    """
    value = pearson(rankdata(given), rankdata(wanted))
    return _estimate(value, len(given), 1 + value**2 / 2, level, "Fisher's z, Bonett and Wright")


def _estimate(
    value: float, pairs: int, variance: float, level: float, method: str
) -> Estimate | Undefined:
    if math.isnan(value):
        return Undefined(reason="one side is constant", n=pairs)
    if pairs < _FEWEST:
        return Undefined(reason=f"fewer than {_FEWEST} pairs", n=pairs)
    half = float(norm.ppf((1 + level) / 2)) * math.sqrt(variance / (pairs - 3))
    # Of a perfect correlation the logarithm is infinite, and so the interval a point.
    middle = math.atanh(value) if abs(value) < 1 else math.copysign(math.inf, value)
    return Estimate(
        value=value,
        low=min(value, math.tanh(middle - half)),
        high=max(value, math.tanh(middle + half)),
        n=pairs,
        level=level,
        method=method,
    )


def _centred(values: Scores) -> NDArray[np.float64]:
    """Less the mean; nothing but 0 of a constant, whatever the error of its mean."""
    if (values == values[0]).all():
        return np.zeros(len(values))
    centred: NDArray[np.float64] = values - values.mean()
    return centred
