"""The number of examples that settles a gate is the one that settles it."""

import pytest

from scope.decision.enough import examples_needed
from scope.records import Estimate
from scope.statistics import mean_estimate, paired_difference


def ids(n):
    return [str(place) for place in range(n)]


def share(n, every=0):
    """A share of which all is right, or every so many is wrong."""
    wrong = range(every - 1, n, every) if every else ()
    return mean_estimate([float(place not in wrong) for place in range(n)], ids(n), empty="")


def difference(n, every=0):
    """A difference of 0: the two never differ, or every so many once this way and once that."""
    first = [float(every > 0 and place % every == 1) for place in range(n)]
    second = [float(every > 0 and place % every == 2) for place in range(n)]
    return paired_difference(first, second, ids(n))


@pytest.mark.parametrize(
    ("make", "seen", "bound"),
    [
        (share, 60, 0.99),
        (share, 60, 0.95),
        (lambda n: share(n, every=10), 100, 0.88),
        (difference, 60, -0.02),
        (lambda n: difference(n, every=20), 100, -0.02),
    ],
)
def test_so_many_examples_take_the_lower_end_to_the_bound(make, seen, bound):
    estimate = make(seen)
    assert estimate.low < bound
    enough = examples_needed(bound, estimate, estimate.low)
    assert make(round(1.2 * enough)).low >= bound
    assert make(round(0.8 * enough)).low < bound


def test_of_other_intervals_the_width_falls_with_the_root():
    found = Estimate(value=0.5, low=0.25, high=0.75, n=10, method="bootstrap")
    assert examples_needed(0.375, found, found.low) == 40
    assert examples_needed(0.625, found, found.high) == 40
