"""Numbers over several models, against slow references and by hand."""

import math
from itertools import permutations

import numpy as np
import pytest
from reference.matrix_reference import group_interval
from scipy.stats import t as student

from scope.records import Undefined
from scope.statistics.between_models import correlation_estimate, mean_over_models


@pytest.mark.parametrize("low", [0.0, -1.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_mean_of_a_group_is_that_of_the_slow_reference(seed, low):
    generator = np.random.default_rng(seed)
    values = generator.uniform(low, 1.0, size=(int(generator.integers(2, 6)), 20))
    ids = [f"e{place}" for place in generator.integers(0, 9, size=20)]
    found = mean_over_models(values, ids, low=low)
    expected = group_interval(values.tolist(), ids, low=low)
    assert (found.value, found.low, found.high) == pytest.approx(expected)
    assert found.n == len(set(ids))


def test_the_order_of_models_and_of_examples_does_not_change_a_bit():
    generator = np.random.default_rng(0)
    values, ids = generator.uniform(size=(4, 12)), [f"e{place % 5}" for place in range(12)]
    turned = mean_over_models(values[::-1, ::-1], ids[::-1])
    assert turned == mean_over_models(values, ids)


def test_a_group_of_one_and_one_without_values_are_undefined():
    assert isinstance(mean_over_models([[1.0, 0.0]], ["a", "b"]), Undefined)
    assert isinstance(mean_over_models([[], []], []), Undefined)


def every_pair(models):
    return list(permutations("abcdefghijkl"[:models], 2))


def test_the_correlation_is_numpys_and_its_interval_is_the_jackknife_over_models():
    pairs = every_pair(5)
    first, second = np.random.default_rng(1).normal(size=(2, 20))
    found = correlation_estimate(first, second, pairs)
    assert found.value == pytest.approx(np.corrcoef(first, second)[0, 1])
    without = []
    for model in "abcde":
        kept = [place for place, pair in enumerate(pairs) if model not in pair]
        without.append(math.atanh(np.corrcoef(first[kept], second[kept])[0, 1]))
    half = student.ppf(0.975, 4) * math.sqrt(4 * np.var(without))
    assert math.atanh(found.high) == pytest.approx(math.atanh(found.value) + half)
    assert math.atanh(found.low) == pytest.approx(math.atanh(found.value) - half)
    assert found.n == 20


def test_models_that_move_all_their_pairs_exclude_a_true_zero_in_few_cases():
    pairs, excluded = every_pair(6), 0
    for seed in range(200):
        generator = np.random.default_rng(seed)
        sides = []
        for _ in range(2):
            effect = dict(zip("abcdef", generator.normal(size=6) * 2, strict=True))
            noise = generator.normal(size=30)
            sides.append([effect[one] + effect[two] for one, two in pairs] + noise)
        found = correlation_estimate(*sides, pairs)
        excluded += found.low > 0 or found.high < 0
    assert excluded <= 14


def test_the_order_of_the_pairs_does_not_change_a_bit():
    pairs = every_pair(4)
    first, second = np.random.default_rng(2).normal(size=(2, 12))
    turned = correlation_estimate(first[::-1], second[::-1], pairs[::-1])
    assert turned == correlation_estimate(first, second, pairs)


@pytest.mark.parametrize(("first", "models"), [(range(6), 3), ([1] * 12, 4)])
def test_few_models_and_constant_sides_have_no_correlation(first, models):
    found = correlation_estimate(first, range(len(first)), every_pair(models))
    assert isinstance(found, Undefined)
    assert found.n == len(first)


def test_models_that_agree_have_the_uncertainty_of_the_examples():
    found = mean_over_models([[1, 1, 0, 1]] * 9, ["a", "b", "c", "d"])
    # (1/4)^2 three times and (3/4)^2, and the made-up (1/4)^2 + (3/4)^2, over 4^2.
    error = math.sqrt((3 / 16 + 9 / 16 + 1 / 16 + 9 / 16) / 16)
    assert found.low == pytest.approx(max(0.0, 0.75 - 2.776445 * error), abs=1e-5)


@pytest.mark.parametrize("slope", [2, -2])
def test_pairs_on_one_line_leave_no_interval(slope):
    values = range(12)
    found = correlation_estimate(values, [slope * value for value in values], every_pair(4))
    assert "on one line" in found.reason
    assert found.n == 12


def test_a_correlation_that_one_model_alone_makes_is_undefined():
    pairs = [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")]
    found = correlation_estimate([1, 2, 3, 4, 4, 4], [1, 3, 2, 4, 6, 5], pairs)
    assert "no correlation is defined" in found.reason
