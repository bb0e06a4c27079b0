import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.records import Undefined
from scope.statistics.differences import paired_difference, sign_flip_p_value
from scope.statistics.paired import paired_p_values, sum_estimate

differences = st.lists(st.integers(-20, 20).map(lambda one: one / 3), min_size=1, max_size=30)


def all_signs(units):
    """Both p-values from every choice of signs: the slow oracle."""
    signs = itertools.product((-1, 1), repeat=len(units))
    sums = np.array([np.dot(one, units) for one in signs])
    seen = sum(units)
    return np.mean(sums >= seen - 1e-9), np.mean(sums <= seen + 1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_p_values_approach_those_of_all_signs(seed):
    generator = np.random.default_rng(seed)
    units = (5 * generator.normal(0.4, 1, size=10)).round()
    assert paired_p_values(units, generator) == pytest.approx(all_signs(units), abs=0.02)


def test_two_units_by_hand():
    # Signs give 3, 1, -1 and -3; three of the four are at least -1.
    more, less = paired_p_values([-2, 1], np.random.default_rng(0), resamples=20_000)
    assert (more, less) == pytest.approx((3 / 4, 2 / 4), abs=0.01)


def test_a_difference_everywhere_gives_the_smallest_p_value_on_its_side_only():
    generator = np.random.default_rng(0)
    assert paired_p_values(np.ones(200), generator, resamples=1234) == (1 / 1235, 1.0)
    assert paired_p_values(-np.ones(200), generator, resamples=999) == (1.0, 1 / 1000)


def test_where_nothing_differs_both_p_values_are_one():
    generator = np.random.default_rng(0)
    assert paired_p_values(np.zeros(9), generator, resamples=99) == (1, 1)
    assert paired_p_values([], generator, resamples=99) == (1, 1)


@given(differences, st.randoms())
def test_the_order_of_the_units_changes_nothing(units, random):
    shuffled = random.sample(units, len(units))
    there, again = (
        paired_p_values(each, np.random.default_rng(1), resamples=99) for each in (units, shuffled)
    )
    assert there == again


@given(differences, st.floats(0.1, 1000))
def test_the_scale_changes_nothing(units, factor):
    there, again = (
        paired_p_values(each, np.random.default_rng(1), resamples=99)
        for each in (units, factor * np.array(units))
    )
    assert there == again


@given(differences)
def test_the_two_sides_share_only_sums_as_great_as_the_one_seen(units):
    more, less = paired_p_values(units, np.random.default_rng(2), resamples=99)
    assert 1 / 100 <= min(more, less) <= max(more, less) <= 1
    assert more + less >= 1 + 1 / 100 - 1e-12


@pytest.mark.parametrize("shift", [0.3, -0.3])
def test_the_smaller_side_is_about_half_the_two_sided_p_value(shift):
    units = np.clip(np.random.default_rng(5).normal(shift, 0.8, size=60), -1, 1)
    ids = [str(index) for index in range(60)]
    both = sign_flip_p_value(units, np.zeros(60), ids, np.random.default_rng(6))
    p_values = paired_p_values(units, np.random.default_rng(7))
    assert min(p_values) == pytest.approx(both / 2, abs=0.01)
    assert (p_values.more < p_values.less) == (shift > 0)


def test_both_p_values_are_uniform_where_signs_are_random():
    generator = np.random.default_rng(12)
    found = np.array(
        [paired_p_values(generator.normal(size=40), generator, resamples=199) for _ in range(500)]
    )
    for bound in (0.05, 0.25, 0.5):
        slack = 3 * (bound * (1 - bound) / 500) ** 0.5
        assert (found <= bound).mean(axis=0) == pytest.approx([bound, bound], abs=slack)


@pytest.mark.parametrize("wrong", [[[1.0]], [float("nan")], [float("inf")]])
def test_differences_are_finite_and_one_a_unit(wrong):
    with pytest.raises(ValueError, match="one a unit"):
        paired_p_values(wrong, np.random.default_rng(0))
    with pytest.raises(ValueError, match="one a unit"):
        sum_estimate(wrong)


def test_a_p_value_takes_resamples():
    with pytest.raises(ValueError, match="at least one"):
        paired_p_values([1.0], np.random.default_rng(0), resamples=0)


def test_the_sum_is_the_mean_on_another_scale():
    units = np.array([2.0, -1.0, 0.0, 4.0])
    mean = paired_difference(units / 4, np.zeros(4), list("abcd"), level=0.9)
    found = sum_estimate(units, level=0.9)
    assert found.value == pytest.approx(5)
    assert (found.low, found.high) == pytest.approx((16 * mean.low, 16 * mean.high))
    assert (found.n, found.level) == (4, 0.9)


def test_where_nothing_differs_the_sum_is_zero_give_or_take():
    found = sum_estimate([0.0, 0.0, 0.0])
    assert found.value == 0
    assert found.high == pytest.approx(-found.low)
    assert found.high > 0


def test_no_units_have_no_sum_for_the_reason_given():
    assert sum_estimate([], empty="no units") == Undefined(reason="no units")


@given(differences, st.floats(0.1, 1000))
def test_the_interval_holds_the_sum_and_keeps_its_scale(units, factor):
    found, scaled = sum_estimate(units), sum_estimate(factor * np.array(units))
    assert found.low <= found.value <= found.high
    assert found.value == pytest.approx(sum(units), abs=1e-9)
    if any(units):
        ends = (factor * found.low, factor * found.high)
        assert (scaled.low, scaled.high) == pytest.approx(ends, rel=1e-9, abs=1e-9)
