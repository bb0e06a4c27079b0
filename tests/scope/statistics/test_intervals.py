import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from scope.metrics.agreement import capa, capa_discrete, cohen_kappa, error_consistency
from scope.records import Undefined
from scope.statistics.intervals import (
    chance_corrected_estimate,
    mean_estimate,
    normal_quantile,
    sum_by_example,
)

slow = partial(pytest.param, marks=pytest.mark.slow)


def test_examples_are_summed_in_the_order_of_their_ids():
    examples = sum_by_example([1.0, 0.5, 0.25, 0.0], ["b", "a", "b", "c"], low=0, high=1)
    assert examples.sums.tolist() == [0.5, 1.25, 0.0]
    assert examples.sizes.tolist() == [1, 2, 1]
    assert examples.distinct == 3
    assert examples.mean == 1.75 / 4


def test_the_order_of_the_input_changes_no_bit():
    generator = np.random.default_rng(0)
    values, ids = generator.random(500), [f"{n % 7}" for n in range(500)]
    order = generator.permutation(500)
    there = sum_by_example(values, ids, low=0, high=1)
    again = sum_by_example(values[order], [ids[index] for index in order], low=0, high=1)
    assert there.sums.tolist() == again.sums.tolist()


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_the_quantile_equals_scipy(level):
    assert normal_quantile(level) == pytest.approx(stats.norm.ppf((1 + level) / 2), abs=1e-12)


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


@given(trials)
def test_a_mean_in_another_range_is_that_of_the_values_moved_there(pairs):
    values, ids = split(pairs)
    share = mean_estimate(values, ids)
    cosine = mean_estimate([2 * value - 1 for value in values], ids, low=-1.0)
    for name in ("value", "low", "high"):
        assert getattr(cosine, name) == pytest.approx(2 * getattr(share, name) - 1, abs=1e-9)
    assert (cosine.n, cosine.method) == (share.n, share.method)


@given(trials, st.floats(0.01, 0.99))
def test_the_interval_contains_the_mean_and_keeps_to_the_range(pairs, level):
    values, ids = split(pairs)
    estimate = mean_estimate(values, ids, level=level)
    assert estimate.value == pytest.approx(np.mean(values), abs=1e-12)
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert estimate.low < estimate.high


@pytest.mark.parametrize("likeness", [0.05, slow(0.3), slow(0.6), 0.95])
@pytest.mark.parametrize("truth", [slow(0.5), slow(0.9), 0.98])
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


def estimate(measured, **options):
    parts = measured.observed, measured.expected, measured.influence, measured.made_up
    return chance_corrected_estimate(*parts, **options)


def answers(generator, n, *, accuracies=(0.75, 0.7), copied=0.0, options=4):
    """Right options and two models' choices; the second copies a share from the first."""
    right = generator.integers(0, options, size=n)

    def model(accuracy):
        wrong = (right + generator.integers(1, options, size=n)) % options
        return np.where(generator.random(n) < accuracy, right, wrong)

    first, second = map(model, accuracies)
    return right, first, np.where(generator.random(n) < copied, first, second)


def sharp(generator, choices, options=4):
    """Probabilities of a model that is sure of most of its choices."""
    share = generator.beta(30, 1, size=(len(choices), 1))
    spread = generator.dirichlet(np.ones(options), size=len(choices))
    return share * np.eye(options)[choices] + (1 - share) * spread


def measured(metric, generator, n, copied, accuracies=(0.75, 0.7)):
    right, first, second = answers(generator, n, copied=copied, accuracies=accuracies)
    match metric:
        case "capa":
            return capa(sharp(generator, first), sharp(generator, second), right)
        case "capa_discrete":
            return capa_discrete(first, second, right, np.full(n, 4))
        case "error_consistency":
            return error_consistency(first, second, right)
        case "cohen_kappa":
            return cohen_kappa(first, second)


def test_with_chance_known_it_is_wilson_carried_over():
    # 70 of 100 alike, and no item moves the expected half: κ = (c − 1/2) / (1/2).
    agreement = np.repeat([1.0, 0.0], [70, 30])
    influence = (agreement - 0.7) / 0.5
    made_up = 2 * (0.3**2 + 0.7**2) / 0.5**2
    found = chance_corrected_estimate(0.7, 0.5, influence, made_up)
    oracle = stats.binomtest(70, 100).proportion_ci(0.95, method="wilson")
    assert found.value == pytest.approx(0.4, abs=1e-12)
    assert found.low == pytest.approx(2 * oracle.low - 1, abs=1e-9)
    assert found.high == pytest.approx(2 * oracle.high - 1, abs=1e-9)
    assert (found.n, found.level, found.method) == (100, 0.95, "Wilson, linearised")


def test_no_room_above_chance_is_undefined_for_the_reason_given():
    found = estimate(error_consistency([0, 1], [0, 1], [0, 1]), no_room="always right")
    assert found == Undefined(reason="always right", n=2)


@given(st.integers(0, 10_000), st.integers(1, 40), st.floats(0, 1))
def test_the_interval_has_a_width_contains_the_value_and_keeps_to_the_range(seed, n, copied):
    generator = np.random.default_rng(seed)
    for metric in ("capa", "capa_discrete", "error_consistency", "cohen_kappa"):
        number = measured(metric, generator, n, copied)
        found = estimate(number)
        if number.value is None:
            assert isinstance(found, Undefined)
        else:
            assert found.value == number.value
            assert -1 <= found.low <= found.value <= found.high <= 1
            assert found.low < found.high


@pytest.mark.parametrize("metric", ["capa", "capa_discrete", "error_consistency", "cohen_kappa"])
@pytest.mark.parametrize("copied", [slow(0.0), 0.3, slow(0.9), slow(1.0)])
def test_intervals_cover_the_truth(metric, copied):
    generator = np.random.default_rng(60)
    truth = measured(metric, generator, 300_000, copied).value
    covered = 0
    for n in [50, 200, 1000] * 150:
        found = estimate(measured(metric, generator, n, copied))
        covered += found.low - 1e-9 <= truth <= found.high + 1e-9
    # 0.95 less two and a half standard errors.
    assert covered / 450 >= 0.925


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, np.inf])
def test_a_value_outside_the_range_is_refused(value):
    with pytest.raises(ValueError, match=r"outside 0\.\.1"):
        sum_by_example([0.5, value], ["a", "b"], low=0, high=1)


def test_as_many_ids_as_values_are_needed():
    with pytest.raises(ValueError, match="for 1 example ids"):
        sum_by_example([0.5, 0.5], ["a"], low=0, high=1)


def test_values_all_equal_still_leave_doubt():
    estimate = mean_estimate([0.5] * 100, names(100))
    # As for the rule of three: 3 unseen values of 0 or 1 in 100 would move the mean by 0.015.
    assert estimate.high - estimate.value == pytest.approx(0.0137, abs=1e-4)
