import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from reference import holm_reference, sign_flip_reference
from scipy import stats

from scope.records import Estimate, Undefined
from scope.statistics.paired import (
    absolute,
    benjamini_hochberg,
    holm,
    paired_difference,
    paired_p_values,
    sign_flip_p_value,
    sum_estimate,
)

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


@given(differences, st.randoms())
def test_the_order_of_the_units_changes_nothing(units, random):
    shuffled = random.sample(units, len(units))
    there, again = (
        paired_p_values(each, np.random.default_rng(1), resamples=99) for each in (units, shuffled)
    )
    assert there == again


def test_both_p_values_are_uniform_where_signs_are_random():
    generator = np.random.default_rng(12)
    found = np.array(
        [paired_p_values(generator.normal(size=40), generator, resamples=199) for _ in range(500)]
    )
    for bound in (0.05, 0.25, 0.5):
        slack = 3 * (bound * (1 - bound) / 500) ** 0.5
        assert (found <= bound).mean(axis=0) == pytest.approx([bound, bound], abs=slack)


def test_the_sum_is_the_mean_on_another_scale():
    units = np.array([2.0, -1.0, 0.0, 4.0])
    mean = paired_difference(units / 4, np.zeros(4), list("abcd"))
    found = sum_estimate(units)
    assert found.value == pytest.approx(5)
    assert (found.low, found.high) == pytest.approx((16 * mean.low, 16 * mean.high))
    assert (found.n, found.level) == (4, 0.95)


rows = st.lists(
    st.tuples(st.integers(0, 9).map(str), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=40
)


def split(table):
    ids, first, second = zip(*table, strict=True)
    return list(first), list(second), list(ids)


def names(count):
    return [f"example {index}" for index in range(count)]


def test_one_trial_an_example_is_bonett_and_price():
    # 12 examples only the first has right, 5 only the second, of 40.
    first = [1] * 12 + [0] * 5 + [1] * 23
    second = [0] * 12 + [1] * 5 + [1] * 23
    estimate = paired_difference(first, second, names(40))
    only_first, only_second = 13 / 42, 6 / 42
    centre = only_first - only_second
    error = math.sqrt((only_first + only_second - centre**2) / 42)
    z = stats.norm.ppf(0.975)
    assert estimate.value == pytest.approx(7 / 40)
    assert estimate.low == pytest.approx(centre - z * error, abs=1e-12)
    assert estimate.high == pytest.approx(centre + z * error, abs=1e-12)
    assert (estimate.n, estimate.level) == (40, 0.95)
    assert estimate.method == "Bonett-Price, clustered by example"


def test_two_trials_an_example_by_hand():
    # Differences a: 1 1, b: 1 0; made up: 1 1 and -1 -1. Centre 3/8, and the sums lie
    # 2 - 3/4, 1 - 3/4, 2 - 3/4 and -2 - 3/4 from it.
    estimate = paired_difference([1, 1, 1, 1], [0, 0, 0, 1], list("aabb"))
    error = math.sqrt(2 * 1.25**2 + 0.25**2 + 2.75**2) / 8
    z = stats.norm.ppf(0.975)
    assert estimate.value == 0.75
    assert estimate.low == pytest.approx(3 / 8 - z * error, abs=1e-12)
    assert estimate.high == 1
    assert estimate.n == 2


@given(rows, st.randoms())
def test_the_order_of_the_input_changes_nothing(table, random):
    shuffled = random.sample(table, len(table))
    assert paired_difference(*split(table)) == paired_difference(*split(shuffled))
    there, again = (
        sign_flip_p_value(*split(each), np.random.default_rng(1), resamples=99)
        for each in (table, shuffled)
    )
    assert there == again


@given(rows)
def test_the_interval_contains_the_mean(table):
    first, second, ids = split(table)
    mean = paired_difference(first, second, ids)
    assert mean.value == pytest.approx(np.mean(np.subtract(first, second)), abs=1e-12)
    assert -1 <= mean.low <= mean.value <= mean.high <= 1
    assert mean.low < mean.high


def test_intervals_cover_the_true_difference_when_trials_resemble_each_other():
    generator, ids = np.random.default_rng(22), np.repeat(names(100), 3).tolist()
    covered = 0
    for _ in range(500):
        # Right 0.8 of the time, and 0.82: the mean of two uniform numbers is below 0.7.
        own = np.repeat(generator.random((2, 100)), 3, axis=1)
        difficulty = np.where(generator.random((2, 300)) < 0.6, own, generator.random((2, 300)))
        first, second = (difficulty[0] < 0.8), (difficulty[[0, 1], :].mean(axis=0) < 0.7)
        truth = 0.8 - 0.82
        estimate = paired_difference(first, second, ids)
        covered += estimate.low <= truth <= estimate.high
    assert covered / 500 >= 0.93


@pytest.mark.parametrize("seed", range(5))
def test_the_p_value_approaches_that_of_all_exchanges(seed):
    generator = np.random.default_rng(seed)
    first, second = generator.random((2, 24)).round(1) * [[1], [0.7]]
    ids = [str(index % 8) for index in range(24)]
    exact = sign_flip_reference.exact_p_value(first.tolist(), second.tolist(), ids)
    assert sign_flip_p_value(first, second, ids, generator) == pytest.approx(exact, abs=0.02)


def test_p_values_are_uniform_where_both_are_alike():
    generator = np.random.default_rng(12)
    ids = np.repeat(names(30), 3).tolist()
    p_values = []
    for _ in range(500):
        own = np.repeat(generator.random((2, 30)), 3, axis=1)
        first, second = (own + generator.random((2, 90))) / 2
        p_values.append(sign_flip_p_value(first, second, ids, generator, resamples=199))
    for bound, slack in [(0.05, 0.03), (0.25, 0.06), (0.5, 0.07), (0.75, 0.06)]:
        assert np.mean(np.array(p_values) <= bound) == pytest.approx(bound, abs=slack)


def signed(value, low, high):
    return Estimate(value=value, low=low, high=high, n=7, level=0.9, method="some")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (signed(0.3, 0.1, 0.5), signed(0.3, 0.1, 0.5)),
        (signed(-0.3, -0.5, -0.1), signed(0.3, 0.1, 0.5)),
        (signed(0.1, -0.2, 0.4), signed(0.1, 0.0, 0.4)),
        (signed(-0.1, -0.4, 0.2), signed(0.1, 0.0, 0.4)),
        (signed(0.0, -0.1, 0.1), signed(0.0, 0.0, 0.1)),
        (signed(-0.2, -0.4, 0.0), signed(0.2, 0.0, 0.4)),
    ],
)
def test_the_distance_from_zero_keeps_everything_but_the_sign(before, after):
    assert absolute(before) == after


p_values = st.lists(st.floats(0, 1), max_size=12)


def test_four_p_values_by_hand():
    # 4 * 0.005, 3 * 0.01, then 2 * 0.03 = 0.06, which 1 * 0.04 may not fall below.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


@given(p_values, st.sampled_from([0.01, 0.05, 0.2]))
def test_what_falls_below_a_level_is_what_the_steps_reject(raw, level):
    adjusted = holm(raw)
    decided = zip(holm_reference.rejected(raw, level), adjusted, strict=True)
    for rejected, p_value in decided:
        assert rejected == (p_value <= level) or p_value == pytest.approx(level)


@pytest.mark.parametrize("wrong", [-0.01, 1.01, float("nan")])
def test_what_is_no_probability_is_refused(wrong):
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.5, wrong])


def test_benjamini_hochberg_is_that_of_scipy():
    p_values = np.random.default_rng(0).random(30).round(1)
    assert benjamini_hochberg(p_values) == pytest.approx(stats.false_discovery_control(p_values))


def test_no_units_have_no_sum():
    assert sum_estimate([]) == Undefined(reason="there is nothing to compare")


def test_the_distance_of_nothing_is_undefined():
    nothing = Undefined(reason="no gold labels")
    assert absolute(nothing) == nothing
