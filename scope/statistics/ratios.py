"""A chance-corrected agreement κ = (c_obs − c_exp) / (1 − c_exp) with its interval.

κ is no mean: both agreements are estimated from the same items. Its variance is that of its
influence function, and the interval is Wilson's for c_obs, with the number of 0-or-1 values that
would be as sure, carried over to κ; see docs/decisions/0006-intervals-of-kappa.md.
"""

import numpy as np
from numpy.typing import ArrayLike

from scope.records import Estimate, Undefined
from scope.statistics.clusters import normal_quantile
from scope.statistics.intervals import wilson


def chance_corrected_estimate(
    observed: float,
    expected: float,
    influence: ArrayLike,
    made_up: float,
    *,
    level: float = 0.95,
    empty: str = "there is nothing to compare",
    no_room: str = "chance alone would agree everywhere",
) -> Estimate | Undefined:
    """Return κ, how sure it is, and the number of items.

    Parameters
    ----------
    observed, expected
        The agreement seen, the mean over the items, and the one expected by chance, in 0..1.
    influence
        Shape (n,): how far each item moves κ, to first order; one item a unit, mean 0.
    made_up
        The sum of the same squared over four made-up items, two with full agreement and two with
        none, so that the interval has a width even where all items agree.
    level
        The interval's confidence level.
    empty, no_room
        The reasons to give where there are no items, and where ``expected`` is 1.

    Returns
    -------
    Estimate or Undefined
        In -1..1. The interval is asymmetric, wider towards 0, and never has zero width.

    Raises
    ------
    ValueError
        If an agreement lies outside 0..1.

    Examples
    --------
    100 items on all of which both agree, where chance would give a half. The two made-up items of
    disagreement would each move κ by 2:

    >>> print(chance_corrected_estimate(1.0, 0.5, [0.0] * 100, made_up=2 * 2.0**2))
    1.000 [0.926, 1.000]
    """
    z = normal_quantile(level)
    moves = np.asarray(influence, dtype=np.float64)
    n = len(moves)
    if not (0 <= observed <= 1 and 0 <= expected <= 1):
        raise ValueError(f"agreements {observed} and {expected} do not lie in 0..1")
    if not n:
        return Undefined(reason=empty)
    room = 1 - expected
    if not made_up or not room:
        return Undefined(reason=no_room, n=n)
    squares = room**2 * (float((moves**2).sum()) + made_up)
    low, high = wilson(observed, _effective_number_of_agreements(observed, n, squares), z)
    value = min(max((observed - expected) / room, -1.0), 1.0)
    return Estimate(
        value=value,
        low=max(-1.0, min((low - expected) / room, value)),
        high=min(1.0, max((high - expected) / room, value)),
        n=n,
        level=level,
        method="Wilson, linearised",
    )


def _effective_number_of_agreements(observed: float, n: int, squares: float) -> float:
    """Return how many independent 0-or-1 agreements, with chance known, would be as sure.

    Were chance known and every agreement 0 or 1, an item's squares would add up to
    n · c (1 − c) and those of the four made-up ones to the rest; then the size is n.
    """
    independent = n * observed * (1 - observed) + 2 * (observed**2 + (1 - observed) ** 2)
    return max(1.0, n * independent / squares)
