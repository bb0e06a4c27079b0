"""Standardises the excess of each pair of models, by all pairs and by each model's own pairs.

The spread of the excess over independent pairs differs between models. With one common scale, a
model with a large spread seems to stand out; with its own scale, a model with a near copy in its
row has a large spread because of that copy. The scale here is the geometric mean of both:

    d(A) = sqrt(sd(A) · common)        sd(A): of A's excesses with all others
                                       common: root mean square of all models' sd
    U(A, B) = (excess(A, B) - mean of all) · (1 / d(A) + 1 / d(B)) / 2

U is symmetric, dimensionless, around 0 for independent models, and unbounded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scope.evidence.arrays import Square

_LEAST_SHARE = 0.1
"""Lower bound of a row's sd, as a share of the common one: few pairs may agree by accident."""
_NO_SPREAD = 1e-12
"""A smaller spread is rounding error of equal pairs."""


class Standardised(NamedTuple):
    """``values`` = (excess - ``mean``) · ``factors``, shape (models, models); NaN as the excess."""

    values: Square
    mean: float
    factors: Square


def standardise(excess: Square) -> Standardised:
    """Standardise the excess of every pair.

    Parameters
    ----------
    excess
        Symmetric, NaN for undefined pairs; the diagonal is ignored.

    Returns
    -------
    Standardised
        0 if all pairs are equal, as the single pair of two models is. A model with only one pair
        has the common sd.

    Examples
    --------
    The mean is 1; the first two models' sd is 1.5, the third's 0, which counts as a tenth of the
    common sqrt(1.5), so that d is 1.355 for the first two and 0.387 for the third.

    >>> excess = np.array([[np.nan, 3.0, 0.0], [3.0, np.nan, 0.0], [0.0, 0.0, np.nan]])
    >>> standardise(excess).values.round(3)
    array([[   nan,  1.476, -1.66 ],
           [ 1.476,    nan, -1.66 ],
           [-1.66 , -1.66 ,    nan]])
    """
    values = np.where(np.eye(len(excess), dtype=np.bool_), np.nan, excess)
    known = ~np.isnan(values)
    if not known.any():
        return Standardised(values, float("nan"), np.zeros_like(values))
    mean = float(values[known].mean())
    sizes = known.sum(axis=1)
    filled = np.where(known, values, 0.0)
    own_means = filled.sum(axis=1) / np.maximum(sizes, 1)
    squares = np.where(known, (filled - own_means[:, None]) ** 2, 0.0).sum(axis=1)
    variances = squares / np.maximum(sizes, 1)
    with_spread = sizes > 1
    common = float(np.sqrt(variances[with_spread].mean())) if with_spread.any() else 0.0
    if common < _NO_SPREAD:
        factors = np.zeros_like(values)
    else:
        own = np.where(with_spread, np.maximum(np.sqrt(variances), _LEAST_SHARE * common), common)
        scale = 1 / np.sqrt(own * common)
        factors = (scale[:, None] + scale[None, :]) / 2
    return Standardised((values - mean) * factors, mean, factors)
