"""How many examples would settle what an interval leaves open."""

from __future__ import annotations

import math

from scope.records import Estimate
from scope.statistics.clusters import normal_quantile


def examples_needed(bound: float, estimate: Estimate, sure: float) -> int:
    """About how many examples take the deciding end of an interval to a bound, if the value stays.

    The width of an interval falls with the root of n. Two kinds are different. The end of a share's
    interval (Wilson) lies where p (1 - p) / n is the square of its distance from the value, so that
    p counts, which is the bound in the end. Where two models never differ, the interval of their
    difference comes from two made-up examples alone, and its width falls with n.

    Parameters
    ----------
    bound
        What the end must reach; the value lies beyond it.
    estimate
        The number.
    sure
        The end of its interval that decides.

    Examples
    --------
    >>> share = Estimate(value=1.0, low=0.93983, high=1.0, n=60, method="Wilson")
    >>> examples_needed(0.99, share, share.low), examples_needed(0.95, share, share.low)
    (381, 73)
    """
    ratio = abs(estimate.value - sure) / abs(estimate.value - bound)
    if _never_differ(estimate, sure):
        return math.ceil(estimate.n * ratio)
    spread = 1.0
    if estimate.method.startswith("Wilson") and 0 < sure < 1:
        spread = bound * (1 - bound) / (sure * (1 - sure))
    return math.ceil(estimate.n * ratio**2 * spread)


def _never_differ(estimate: Estimate, sure: float) -> bool:
    """Whether an interval is as narrow as that of a paired difference without any difference."""
    if estimate.value != 0 or not estimate.method.startswith("Bonett-Price"):
        return False
    return abs(sure) <= normal_quantile(estimate.level) * math.sqrt(2) / estimate.n
