import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from scope.errors import DataError
from scope.probes.mistakes import mean_error_estimate, misjudged
from scope.records.estimates import Undefined
from scope.statistics import mean_estimate


def test_the_mean_error_has_the_unit_of_the_scores():
    given, wanted = np.array([0.0, 0.2, 0.9]), np.array([0.1, 0.5, 0.4])
    found = mean_error_estimate(given, wanted, low=0.1, high=1.1, level=0.9)
    expected = mean_estimate([0.1, 0.3, 0.5], list("abc"), level=0.9)
    assert (found.value, found.low, found.high) == pytest.approx((0.3, expected.low, expected.high))
    assert (found.n, found.level) == (3, 0.9)
    scaled = mean_error_estimate(5 * given, 5 * wanted, level=0.9)
    assert scaled.high == pytest.approx(5 * found.high)


def test_pairs_of_a_group_are_one_example_and_still_as_many_pairs():
    given, wanted = np.array([0.0, 0.2, 0.9, 0.4]), np.array([0.1, 0.5, 0.4, 0.4])
    found = mean_error_estimate(given, wanted, groups=np.array([9, 4, 9, 7]), high=1)
    expected = mean_estimate([0.1, 0.3, 0.5, 0.0], list("abac"))
    assert (found.value, found.low, found.high) == pytest.approx(
        (expected.value, expected.low, expected.high)
    )
    assert (found.n, expected.n) == (4, 3)
    with pytest.raises(DataError, match="for 4 pairs"):
        mean_error_estimate(given, wanted, groups=np.arange(3))


def test_errors_the_range_has_no_room_for_are_refused_and_no_pair_has_no_error():
    with pytest.raises(ValueError, match="a value is outside"):
        mean_error_estimate(np.array([4.0]), np.array([0.0]), low=0, high=1)
    nothing = np.array([])
    assert mean_error_estimate(nothing, nothing) == Undefined(reason="there are no pairs")


def test_of_many_samples_the_interval_covers_the_mean_error_as_often_as_it_says():
    generator = np.random.default_rng(0)
    covered = 0
    for _ in range(500):
        wanted = generator.uniform(2, 3, 200)
        found = mean_error_estimate(wanted + generator.uniform(-2, 2, 200), wanted)
        covered += found.low <= 1 <= found.high
    assert 0.93 <= covered / 500 <= 0.98


@drawn(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=20), st.integers(0, 25))
def test_the_worst_pairs_come_first_and_of_equals_the_earlier(pairs, count):
    given, wanted = np.array(pairs, dtype=float).reshape(-1, 2).T
    expected = sorted(range(len(pairs)), key=lambda at: (-abs(pairs[at][0] - pairs[at][1]), at))
    assert misjudged(given, wanted, count).tolist() == expected[:count]


def test_the_error_of_rounding_makes_no_pair_the_worse():
    given, wanted = np.array([0.3, 0.1 + 0.2]), np.array([0.0, 0.0])
    assert misjudged(given, wanted, 2).tolist() == [0, 1]
