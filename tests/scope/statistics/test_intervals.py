import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scope.records import Undefined
from scope.statistics.intervals import mean_estimate

one_trial_each = st.lists(st.floats(0, 1), min_size=1, max_size=30)
trials = st.lists(st.tuples(st.integers(0, 9).map(str), st.floats(0, 1)), min_size=1, max_size=40)


def split(pairs):
    return [value for _, value in pairs], [example for example, _ in pairs]


def names(count):
    return [f"example {index}" for index in range(count)]


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize(("right", "count"), [(0, 5), (1, 1), (3, 7), (50, 100), (872, 872)])
def test_one_trial_an_example_is_exactly_wilson(right, count, level):
    estimate = mean_estimate([1] * right + [0] * (count - right), names(count), level=level)
    oracle = stats.binomtest(right, count).proportion_ci(level, method="wilson")
    assert estimate.value == pytest.approx(right / count, abs=1e-12)
    assert estimate.low == pytest.approx(oracle.low, abs=1e-9)
    assert estimate.high == pytest.approx(oracle.high, abs=1e-9)
    assert (estimate.n, estimate.level) == (count, level)
    assert estimate.method == "Wilson, clustered by example"


def test_two_trials_an_example_by_hand():
    # Examples a: 1 1, b: 1 0, c: 0 0. Mean 1/2; with it, the sums lie 1, 0 and -1 from 2 * 1/2.
    # The made-up examples add 2^2 * 1/2 = 2 between and 2 * 1/2 = 1 within:
    # effective size 6 * (6/4 + 1) / (2 + 2) = 3.75.
    estimate = mean_estimate([1, 1, 1, 0, 0, 0], list("aabbcc"))
    z, n = stats.norm.ppf(0.975), 3.75
    half = z / (1 + z**2 / n) * math.sqrt(0.25 / n + z**2 / (4 * n**2))
    assert estimate.value == 0.5
    assert estimate.low == pytest.approx(0.5 - half, abs=1e-12)
    assert estimate.high == pytest.approx(0.5 + half, abs=1e-12)
    assert estimate.n == 3


def test_nothing_to_average_is_undefined_for_the_reason_given():
    assert mean_estimate([], [], empty="nobody moved") == Undefined(reason="nobody moved")


def test_identical_models_are_as_sure_as_their_number_of_examples():
    estimate = mean_estimate([1.0] * 300, names(100) * 3)
    oracle = stats.binomtest(100, 100).proportion_ci(0.95, method="wilson")
    assert (estimate.value, estimate.high, estimate.n) == (1, 1, 100)
    assert estimate.low == pytest.approx(oracle.low, abs=1e-9)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_one_example_counts_once_however_often_it_was_tried(value):
    estimate = mean_estimate([value] * 50, ["only"] * 50)
    oracle = stats.binomtest(int(value), 1).proportion_ci(0.95, method="wilson")
    assert (estimate.low, estimate.high) == pytest.approx((oracle.low, oracle.high), abs=1e-9)
    assert estimate.n == 1


def test_values_that_vary_less_than_zeros_and_ones_are_known_better():
    zeros_and_ones = mean_estimate([0, 1] * 50, names(100))
    nearly_equal = mean_estimate([0.45, 0.55] * 50, names(100))
    assert nearly_equal.high - nearly_equal.low < (zeros_and_ones.high - zeros_and_ones.low) / 3


def test_values_all_equal_still_leave_doubt():
    estimate = mean_estimate([0.5] * 100, names(100))
    # As for the rule of three: 3 unseen values of 0 or 1 in 100 would move the mean by 0.015.
    assert estimate.high - estimate.value == pytest.approx(0.0137, abs=1e-4)


@given(trials)
def test_a_mean_in_another_range_is_that_of_the_values_moved_there(pairs):
    values, ids = split(pairs)
    share = mean_estimate(values, ids)
    cosine = mean_estimate([2 * value - 1 for value in values], ids, low=-1.0)
    for name in ("value", "low", "high"):
        assert getattr(cosine, name) == pytest.approx(2 * getattr(share, name) - 1, abs=1e-9)
    assert (cosine.n, cosine.method) == (share.n, share.method)


@pytest.mark.parametrize("value", [-1.0, 1.0])
def test_cosines_at_an_end_of_their_range_leave_doubt_on_the_other_side(value):
    estimate = mean_estimate([value] * 100, names(100), low=-1.0)
    assert estimate.value == value
    assert -1 <= estimate.low < estimate.high <= 1


def test_values_outside_their_range_are_refused():
    with pytest.raises(ValueError, match="outside"):
        mean_estimate([-0.1], ["a"])
    with pytest.raises(ValueError, match="outside"):
        mean_estimate([-1.1], ["a"], low=-1.0)


@given(trials, st.randoms())
def test_the_order_of_the_input_changes_nothing(pairs, random):
    shuffled = random.sample(pairs, len(pairs))
    assert mean_estimate(*split(pairs)) == mean_estimate(*split(shuffled))


@given(trials, st.floats(0.01, 0.99))
def test_the_interval_contains_the_mean_and_keeps_to_the_range(pairs, level):
    values, ids = split(pairs)
    estimate = mean_estimate(values, ids, level=level)
    assert estimate.value == pytest.approx(np.mean(values), abs=1e-12)
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert estimate.low < estimate.high


@given(trials, st.floats(0.01, 0.98))
def test_a_higher_level_gives_a_wider_interval(pairs, level):
    narrow, wide = (mean_estimate(*split(pairs), level=each) for each in (level, level + 0.01))
    # But for the last bit, where both bounds are the mean itself.
    assert wide.low <= narrow.low + 1e-12
    assert narrow.high <= wide.high + 1e-12


@given(one_trial_each, st.integers(2, 5))
def test_identical_trials_change_nothing(values, times):
    once = mean_estimate(values, names(len(values)))
    often = mean_estimate(values * times, names(len(values)) * times)
    assert often.value == pytest.approx(once.value, abs=1e-9)
    assert (often.low, often.high) == pytest.approx((once.low, once.high), abs=1e-9)
    assert often.n == once.n


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_zeros_and_ones_mirror_each_other(answers):
    ids = [str(index // 3) for index in range(len(answers))]
    of_ones = mean_estimate([float(answer) for answer in answers], ids)
    of_zeros = mean_estimate([float(not answer) for answer in answers], ids)
    assert of_zeros.low == pytest.approx(1 - of_ones.high, abs=1e-9)
    assert of_zeros.high == pytest.approx(1 - of_ones.low, abs=1e-9)


@pytest.mark.parametrize("likeness", [0.05, 0.3, 0.6, 0.95])
@pytest.mark.parametrize("truth", [0.5, 0.9, 0.98])
def test_intervals_cover_the_truth_when_trials_resemble_each_other(truth, likeness):
    # Each example has its own chance of success, beta-distributed, so that two of its trials
    # correlate by `likeness`.
    generator, ids = np.random.default_rng(20), np.repeat(names(100), 3).tolist()
    scale = 1 / likeness - 1
    covered = 0
    for _ in range(500):
        chances = generator.beta(truth * scale, (1 - truth) * scale, size=100)
        values = generator.binomial(1, np.repeat(chances, 3))
        estimate = mean_estimate(values, ids)
        covered += estimate.low <= truth <= estimate.high
    assert covered / 500 >= 0.93


@pytest.mark.parametrize(("lost", "credit"), [(0.05, 0.9), (0.2, 0.97), (0.2, 0.5)])
def test_intervals_cover_the_truth_of_graded_values_with_rare_zeros(lost, credit):
    generator, ids = np.random.default_rng(21), np.repeat(names(100), 3).tolist()
    covered, truth = 0, (1 - lost) * credit
    for _ in range(500):
        own = np.repeat(generator.random(100), 3)
        chance = np.where(generator.random(300) < 0.5, own, generator.random(300))
        estimate = mean_estimate(np.where(chance < lost, 0.0, credit), ids)
        covered += estimate.low <= truth <= estimate.high
    assert covered / 500 >= 0.93
