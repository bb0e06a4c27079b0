"""The rank of one model among others: conformal p-values, exact for any number of controls.

The null hypothesis is that suspect and controls are exchangeable: given the reference and the
questions, every order of these models is equally likely, for any distribution of answers. Under a
statistic that treats all models alike, each rank of the suspect then has equal probability. See
Vovk, Gammerman and Shafer (2005), *Algorithmic Learning in a Random World*.

`prediction_test` is for models that are not exchangeable: would one more value of the same kind lie
so high, where values depend on each other and on a covariate?
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

NO_SPREAD = 1e-12
"""A smaller spread, relative to the values, is rounding error."""


def conformal_p_value(suspect: float, controls: ArrayLike) -> float:
    """Return the share of models that are at least as similar, the suspect counted among them.

    p = (1 + k) / (n + 1), where k of n controls reach the suspect's value. Under the null
    hypothesis P(p <= α) <= α for every α, with equality on the grid of 1 / (n + 1) where no two
    values are equal. Ties count against the suspect.

    Parameters
    ----------
    suspect
        How similar to the reference the suspect is; greater is more similar.
    controls
        The same of every control; shape (n,).

    Raises
    ------
    ValueError
        If a value is NaN: whether a model without a value counts is the caller's decision.

    Examples
    --------
    One of four controls reaches 0.7:

    >>> conformal_p_value(0.7, [0.7, 0.2, 0.4, 0.1])
    0.4
    """
    values = np.asarray(controls, dtype=np.float64)
    if math.isnan(suspect) or np.isnan(values).any():
        raise ValueError("a model without a value cannot be ranked")
    return (1 + int((values >= suspect).sum())) / (len(values) + 1)


def controls_needed(alpha: float) -> int:
    """Return the least number of controls with which a p-value can be as small as ``alpha``.

    Examples
    --------
    >>> controls_needed(0.05), controls_needed(0.01)
    (19, 99)
    """
    # 1 / alpha is off by a last bit for most alphas, and p-values are compared as they are.
    needed = max(0, math.ceil(1 / alpha) - 2)
    while 1 / (needed + 1) > alpha:
        needed += 1
    return needed


def threshold_rank(alpha: float, n: int) -> int | None:
    """Return how many of ``n`` controls may be as similar as a suspect with p <= ``alpha``.

    None if there are too few controls for such a p-value.

    Examples
    --------
    >>> threshold_rank(0.05, 19), threshold_rank(0.05, 39), threshold_rank(0.05, 18)
    (0, 1, None)
    """
    # From one above what rounding may have made too small, down to the first p-value that fits.
    rank = math.floor(alpha * (n + 1))
    while (rank + 1) / (n + 1) > alpha:
        rank -= 1
    return rank if rank >= 0 else None


def joint_statistic(values: ArrayLike) -> NDArray[np.float64]:
    """Return one number for each model: its mean over the kinds of evidence, in common units.

    Each kind is standardised over the whole pool, suspect and controls: minus the mean, divided by
    the standard deviation, and 0 if the models do not differ. Exchanging two models exchanges
    their two numbers and changes nothing else. Under the null hypothesis the ranks are therefore
    uniform for any dependence of the kinds, and `conformal_p_value` of these numbers is an exact
    permutation test: it is the share of the n + 1 ways to call one of the pool the suspect that
    give the suspect at least the number it has, and the order of the controls plays no part. (The
    pool must hold the suspect. Were the units taken from the controls alone, the suspect would be
    the only model not measured against itself, and beyond them more often than its share.)

    A missing value stays out: its kind is standardised over the models that have one, and the
    model's mean is taken over the kinds that it has. Which values are missing moves with the model
    like the values themselves, so the ranks stay exchangeable if that is as likely for the suspect
    as for a control. If it is not (an endpoint gives no probabilities, and all controls do), leave
    out the kinds that the suspect lacks before: a mean over fewer kinds varies more, which would
    raise the suspect too often, and does no harm among controls.

    Parameters
    ----------
    values
        One number for each kind and model, greater where more similar, NaN where there is none;
        shape (kinds, models).

    Returns
    -------
    array
        Shape (models,); NaN for a model without any value.

    Raises
    ------
    ValueError
        If a value is infinite: it would leave no order among the models.

    Examples
    --------
    The last model has the first kind only, and the third kind tells nothing:

    >>> joint_statistic([[1, 5, 3, 3], [0, 2, 1, float("nan")], [7, 7, 7, float("nan")]]).round(3)
    array([-0.88,  0.88,  0.  ,  0.  ])
    """
    table = np.asarray(values, dtype=np.float64)
    if np.isinf(table).any():
        raise ValueError("an infinite value has no common unit with others")
    known = ~np.isnan(table)
    scores = np.zeros_like(table)
    for row, has, score in zip(table, known, scores, strict=True):
        score[has] = _standardised(row[has])
    counts = known.sum(axis=0)
    means = np.full(table.shape[1], np.nan)
    np.divide(scores.sum(axis=0), counts, out=means, where=counts > 0)
    return means


def _standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    # Sorted: the last bits of a sum depend on the order of its terms, and it must leave no trace.
    ordered = np.sort(values)
    if not len(ordered) or ordered.std() <= NO_SPREAD * np.abs(ordered).max():
        return np.zeros_like(values)
    return np.asarray((values - ordered.mean()) / ordered.std(), dtype=np.float64)


PARAMETERS = 2
"""Level and slope are fitted: this many independent values leave no degrees of freedom."""


class PredictedPValue(NamedTuple):
    """The p-value of a value this high, and the effective number of the other values."""

    p_value: float
    independent: float


def effective_number(correlations: ArrayLike) -> float:
    """The effective number of independent values among correlated ones.

    Each value weighs the inverse of its correlations' sum, so that copies of one value weigh as
    much as it alone. The number is that of independent values whose mean varies as much as the
    weighted mean.

    Parameters
    ----------
    correlations
        Non-negative correlations of the values, 1 on the diagonal; shape (n, n).

    Examples
    --------
    Two copies and one other are two; three that correlate by half are one and a half:

    >>> effective_number([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    2.0
    >>> effective_number([[1, 0.5, 0.5], [0.5, 1, 0.5], [0.5, 0.5, 1]])
    1.5
    """
    table = np.asarray(correlations, dtype=np.float64)
    if not len(table):
        return 0.0
    weights = 1 / table.sum(axis=1)
    return float(weights.sum() ** 2 / (weights @ table @ weights))


def prediction_test(
    value: float, at: float, values: ArrayLike, places: ArrayLike, correlations: ArrayLike
) -> PredictedPValue:
    """Test whether a value lies above the line fitted to the other values.

    A line in the covariate is fitted to the values, weighted as in `effective_number`, and
    Student's t-test asks whether the value at its own place lies above it. The fitted line is the
    less certain the farther the place is from those of the others, so that nothing is claimed by
    extrapolation; and correlated values leave fewer degrees of freedom. The p-value is 1 where they
    leave none.

    Parameters
    ----------
    value, at
        The value in question and its covariate.
    values, places
        The same of all others; shape (n,).
    correlations
        Of every two of the others; shape (n, n).

    Examples
    --------
    Ten independent values around 0 that do not depend on the covariate; 3 is far from them, and
    less so where no other has been seen:

    >>> values, places = [-1, 1] * 5, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    >>> found = prediction_test(3, 3, values, places, np.eye(10))
    >>> round(found.p_value, 3), found.independent
    (0.017, 10.0)
    >>> round(prediction_test(3, 20, values, places, np.eye(10)).p_value, 2)
    0.26
    >>> prediction_test(3, 3, values, places, np.ones((10, 10))).p_value
    1.0
    """
    # The whole of scipy.stats takes seconds to import.
    from scipy.special import stdtr

    seen, x = np.asarray(values, dtype=np.float64), np.asarray(places, dtype=np.float64)
    table = np.asarray(correlations, dtype=np.float64)
    independent = effective_number(table)
    freedom = independent - PARAMETERS
    if freedom <= NO_SPREAD:
        return PredictedPValue(1.0, independent)
    weights = 1 / table.sum(axis=1)
    weights /= weights.sum()
    middle, level = float(weights @ x), float(weights @ seen)
    spread = float(weights @ (x - middle) ** 2)
    flat = spread <= NO_SPREAD
    slope = 0.0 if flat else float(weights @ ((x - middle) * (seen - level))) / spread
    rest = seen - level - slope * (x - middle)
    variance = float(weights @ rest**2) * independent / freedom
    far = 0.0 if flat else (at - middle) ** 2 / spread
    error = math.sqrt(variance * (1 + (1 + far) / independent))
    above = value - level - slope * (at - middle)
    if error <= NO_SPREAD * max(1.0, abs(level)):
        return PredictedPValue(0.0 if above > NO_SPREAD else 1.0, independent)
    return PredictedPValue(float(stdtr(freedom, -above / error)), independent)
