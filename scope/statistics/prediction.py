"""Would one more value of the same kind lie so high? A prediction test among dependent values."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.statistics.conformal import NO_SPREAD

PARAMETERS = 2
"""Level and slope are fitted, so that so many independent values leave nothing to err by."""


class PredictedPValue(NamedTuple):
    """The p-value of a value as high, and as how many independent ones the others count."""

    p_value: float
    independent: float


def effective_number(correlations: ArrayLike) -> float:
    """As how many independent values correlated ones count.

    Each value weighs the inverse of its correlations' sum, so that copies of one value weigh as
    much as it alone. The number is that of independent values whose mean varies as much as the
    weighted mean.

    Parameters
    ----------
    correlations
        Of every two values, 1 on the diagonal, none negative; shape (n, n).

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
    """Whether a value is higher than a line through the others leads one to expect.

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

    Raises
    ------
    ValueError
        If the shapes do not fit together or a number is not finite.

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

    seen, x, table = _checked(value, at, values, places, correlations)
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


def _checked(
    value: float, at: float, values: ArrayLike, places: ArrayLike, correlations: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    seen, x = np.asarray(values, dtype=np.float64), np.asarray(places, dtype=np.float64)
    table = np.asarray(correlations, dtype=np.float64)
    if seen.ndim != 1 or x.shape != seen.shape or table.shape != (len(seen), len(seen)):
        raise ValueError(f"values, places and correlations: {seen.shape}, {x.shape}, {table.shape}")
    if not all(np.isfinite(one).all() for one in (seen, x, table, np.array([value, at]))):
        raise ValueError("a prediction test takes finite numbers")
    return seen, x, table
