"""The number of examples that would make an inconclusive interval conclusive."""

from __future__ import annotations

import math

from scope.records import Estimate
from scope.statistics.clusters import normal_quantile


def examples_needed(bound: float, estimate: Estimate, sure: float) -> int:
    """Approximate number of examples at which the deciding end of an interval reaches a bound.

    The value is assumed to stay the same. The width of an interval decreases with the root of n,
    with two exceptions. At the end of a share's interval (Wilson), p (1 - p) / n is the square of
    its distance from the value, with the bound as p. If two models never differ, the interval of
    their difference comes from two added examples alone, and its width decreases with n.

    Parameters
    ----------
    bound
        The bound; the value is beyond it.
    estimate
        The number.
    sure
        The deciding end of its interval.

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
    """Whether an interval is that of a paired difference in which no pair differs."""
    if estimate.value != 0 or not estimate.method.startswith("Bonett-Price"):
        return False
    return abs(sure) <= normal_quantile(estimate.level) * math.sqrt(2) / estimate.n
