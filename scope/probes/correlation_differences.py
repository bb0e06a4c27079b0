"""By how much one set of scores follows people better than another, on the same pairs."""

from __future__ import annotations

import math

import numpy as np

from scope.probes.checks import Scores
from scope.probes.correlations import pearson, pearson_estimate
from scope.records.estimates import Estimate, Undefined


def pearson_difference(
    given: Scores, other: Scores, wanted: Scores, level: float = 0.95
) -> Estimate | Undefined:
    """Pearson's correlation of ``given`` with ``wanted`` less that of ``other``, with an interval.

    Both correlations share the pairs and people's scores, so they rise and fall together, and the
    interval is narrower than that of two independent ones. It is Zou's (2007), made of the two
    intervals by Fisher and of how far the errors of the two go together.

    Parameters
    ----------
    given, other, wanted
        Shape (pairs,), of the same pairs in the same order.
    level
        The interval's confidence level.

    Returns
    -------
    Estimate or Undefined
        From -2 to 2. Of scores beside themselves it is a point, 0.

    Examples
    --------
    >>> wanted = np.array([0.0, 1, 2, 3, 4, 5])
    >>> print(pearson_difference(wanted**2, np.array([1.0, 0, 2, 3, 5, 4]), wanted))
    0.074 [-0.188, 0.682]
    """
    first = pearson_estimate(given, wanted, level)
    second = pearson_estimate(other, wanted, level)
    if isinstance(first, Undefined):
        return first
    if isinstance(second, Undefined):
        return second
    value = first.value - second.value
    shared = _shared_error(first.value, second.value, pearson(given, other))
    below = _joined(first.value - first.low, second.high - second.value, shared)
    above = _joined(first.high - first.value, second.value - second.low, shared)
    if np.array_equal(given, other):
        below = above = 0.0
    return Estimate(
        value=value,
        low=value - below,
        high=value + above,
        n=first.n,
        level=level,
        method="Zou, two correlations on the same pairs",
    )


def _shared_error(first: float, second: float, between: float) -> float:
    """How the errors of two correlations with the same scores correlate, from -1 to 1.

    Parameters
    ----------
    first, second
        Each one's correlation with people's scores.
    between
        Their correlation with each other.
    """
    squares = first**2 + second**2
    room = (1 - first**2) * (1 - second**2)
    if not room:
        # A perfect correlation has no error, so that this number does not count.
        return 0.0
    raised = (between - first * second / 2) * (1 - squares - between**2) + between**3
    return float(np.clip(raised / room, -1.0, 1.0))


def _joined(one: float, other: float, shared: float) -> float:
    """The margin of a difference from the margins of its two sides."""
    return math.sqrt(max(0.0, one**2 + other**2 - 2 * shared * (one * other)))
