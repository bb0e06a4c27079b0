import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import sign_flip_reference
from scipy import stats

from scope.records import Estimate, Undefined
from scope.statistics.differences import absolute, paired_difference, sign_flip_p_value

rows = st.lists(
    st.tuples(st.integers(0, 9).map(str), st.floats(0, 1), st.floats(0, 1)),
    min_size=1,
    max_size=40,
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


def test_nothing_to_compare_is_undefined_for_the_reason_given():
    assert paired_difference([], [], [], empty="no pairs") == Undefined(reason="no pairs")


def test_identical_targets_differ_by_zero_give_or_take():
    estimate = paired_difference([1, 0, 1], [1, 0, 1], names(3))
    assert estimate.value == 0
    assert estimate.low == pytest.approx(-estimate.high)
    assert estimate.high > 0


def test_one_example_leaves_everything_open():
    estimate = paired_difference([1.0], [0.0], ["only"])
    assert (estimate.value, estimate.high, estimate.n) == (1, 1, 1)
    assert estimate.low < 0


@given(rows, st.randoms())
def test_the_order_of_the_input_changes_nothing(table, random):
    shuffled = random.sample(table, len(table))
    assert paired_difference(*split(table)) == paired_difference(*split(shuffled))
    there, again = (
        sign_flip_p_value(*split(each), np.random.default_rng(1), resamples=99)
        for each in (table, shuffled)
    )
    assert there == again


@given(rows, st.floats(0.01, 0.98))
def test_the_interval_contains_the_mean_and_widens_with_the_level(table, level):
    first, second, ids = split(table)
    narrow, wide = (
        paired_difference(first, second, ids, level=each) for each in (level, level + 0.01)
    )
    assert narrow.value == pytest.approx(np.mean(np.subtract(first, second)), abs=1e-12)
    assert -1 <= wide.low <= narrow.low <= narrow.value <= narrow.high <= wide.high <= 1
    assert narrow.low < narrow.high


@given(rows)
def test_exchanging_first_and_second_changes_the_sign(table):
    first, second, ids = split(table)
    there = paired_difference(first, second, ids)
    back = paired_difference(second, first, ids)
    assert (back.value, back.low, back.high) == pytest.approx(
        (-there.value, -there.high, -there.low), abs=1e-12
    )


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1), st.integers(2, 4))
def test_identical_trials_change_nothing(pairs, times):
    first, second = map(list, zip(*pairs, strict=True))
    ids = names(len(pairs))
    once = paired_difference(first, second, ids)
    often = paired_difference(first * times, second * times, ids * times)
    assert (often.low, often.high) == pytest.approx((once.low, once.high), abs=1e-9)
    assert often.n == once.n


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


def test_the_smallest_p_value_is_one_over_all_the_draws():
    ones, zeros = np.ones(200), np.zeros(200)
    generator = np.random.default_rng(0)
    assert sign_flip_p_value(ones, zeros, names(200), generator, resamples=999) == 1 / 1000
    assert sign_flip_p_value(zeros, ones, names(200), generator, resamples=1234) == 1 / 1235


def test_where_nothing_differs_the_p_value_is_one():
    generator = np.random.default_rng(0)
    assert sign_flip_p_value([1, 0], [1, 0], ["a", "b"], generator, resamples=99) == 1
    assert sign_flip_p_value([], [], [], generator, resamples=99) == 1


def test_trials_of_one_example_are_exchanged_together():
    # Fifty trials of one example are one observation: of its two exchanges, both are as far.
    generator = np.random.default_rng(0)
    assert sign_flip_p_value([1] * 50, [0] * 50, ["only"] * 50, generator, resamples=99) == 1


def test_the_same_generator_gives_the_same_p_value():
    first, second = np.random.default_rng(3).random((2, 30))
    p_values = {
        sign_flip_p_value(first, second, names(30), np.random.default_rng(8), resamples=700)
        for _ in range(2)
    }
    assert len(p_values) == 1


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


@pytest.mark.parametrize("function", [paired_difference, lambda *a: sign_flip_p_value(*a, None)])
def test_unequal_lengths_are_refused(function):
    with pytest.raises(ValueError, match="shape"):
        function([1, 0], [1], ["a", "b"])


def test_a_p_value_of_shares_takes_resamples():
    with pytest.raises(ValueError, match="at least one"):
        sign_flip_p_value([1], [0], ["a"], np.random.default_rng(0), resamples=0)


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


def test_the_distance_of_nothing_is_undefined():
    nothing = Undefined(reason="no gold labels")
    assert absolute(nothing) == nothing
