import math

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy.stats import pearsonr, spearmanr
from shared_errors import grouped

from scope.jobs.probe.latents import (
    pearson_difference,
    pearson_estimate,
    pearson_without,
    spearman_difference,
    spearman_estimate,
    spearman_without,
)
from scope.records.estimates import Undefined


@pytest.mark.parametrize(
    ("without", "oracle"), [(pearson_without, pearsonr), (spearman_without, spearmanr)]
)
@given(seed=st.integers(0, 2**32 - 1), pairs=st.integers(3, 30), many=st.integers(2, 30))
def test_each_is_scipys_on_the_pairs_that_are_left(without, oracle, seed, pairs, many):
    """With many ties, and groups of all sizes."""
    generator = np.random.default_rng(seed)
    given, wanted = generator.integers(0, 4, (2, pairs)) * 1.0
    groups = np.unique(generator.integers(0, many, pairs), return_inverse=True)[1]
    assume(groups.any())
    for group, found in enumerate(without(given, wanted, groups)):
        kept = groups != group
        if kept.sum() > 1 and np.ptp(given[kept]) and np.ptp(wanted[kept]):
            assert found == pytest.approx(oracle(given[kept], wanted[kept])[0], abs=1e-9)
        else:
            assert math.isnan(found)


GIVEN, WANTED = np.random.default_rng(0).normal(size=(2, 40)).round(1)
WANTED = WANTED + GIVEN
ESTIMATES = [(pearson_estimate, pearsonr), (spearman_estimate, spearmanr)]


STUDENT = {39: 2.022691, 9: 2.262157, 7: 2.364624, 4: 2.776445}
"""Student's t of as many degrees, as tables have it."""


def jackknife(statistic, groups):
    """A statistic of all pairs, and half of its interval, with each group left out."""
    count = groups.max() + 1
    without = np.array([statistic(groups != group) for group in range(count)])
    error = math.sqrt((count - 1) / count * ((without - without.mean()) ** 2).sum())
    return statistic(groups >= 0), STUDENT[count - 1] * error


@pytest.mark.parametrize("groups", [None, np.arange(40) // 4])
@pytest.mark.parametrize(("estimate", "oracle"), ESTIMATES)
def test_the_interval_is_that_of_the_formula_with_each_group_left_out(estimate, oracle, groups):
    found = estimate(GIVEN, WANTED, groups)
    value, half = jackknife(
        lambda kept: math.atanh(oracle(GIVEN[kept], WANTED[kept])[0]),
        np.arange(40) if groups is None else groups,
    )
    ends = tuple(map(math.tanh, (value, value - half, value + half)))
    assert (found.value, found.low, found.high) == pytest.approx(ends, rel=1e-5)
    assert (found.n, found.level) == (40, 0.95)
    assert found.method == "jackknife over groups of pairs"


@pytest.mark.parametrize(("estimate", "_"), ESTIMATES)
def test_what_cannot_be_told_has_a_reason(estimate, _):
    constant = np.full(5, 0.1)
    assert estimate(constant, WANTED[:5]) == Undefined(reason="one side is constant", n=5)
    assert estimate(GIVEN[:3], WANTED[:3]) == Undefined(reason="fewer than 4 pairs", n=3)
    constant[2] = 3.0
    assert estimate(constant, WANTED[:5]) == Undefined(
        reason="one side is constant without one group of pairs", n=5
    )
    few = Undefined(reason="fewer than 4 groups of pairs", n=40)
    assert estimate(GIVEN, WANTED, np.arange(40) // 14) == few


@pytest.mark.parametrize(("sign", "value"), [(1, 1.0), (-1, -1.0)])
@pytest.mark.parametrize(("estimate", "_"), ESTIMATES)
def test_of_a_perfect_correlation_the_interval_is_a_point(estimate, _, sign, value):
    found = estimate(np.arange(6.0), sign * np.arange(6.0))
    assert (found.value, found.low, found.high) == pytest.approx((value, value, value))


TRUTHS = {pearson_estimate: 0.8, spearman_estimate: 6 / math.pi * math.asin(0.8 / 2)}
"""Of normal pairs, whose rank correlation follows from their correlation."""


def coverage(truth, estimate, *, runs, columns, pairs, size, told):
    """How often an interval has the truth, on pairs in groups of a size that it is told or not."""
    hits = 0
    for seed in range(runs):
        sides, groups = grouped(seed, columns=columns, count=pairs // size, size=size)
        found = estimate(*sides, groups if told else None)
        hits += found.low <= truth <= found.high
    return hits / runs


def covered(estimate, *, size, told):
    def of_sides(wanted, noise, groups):
        return estimate(0.8 * wanted + 0.6 * noise, wanted, groups)

    options = {"runs": 300, "columns": 2, "pairs": 60, "size": size, "told": told}
    return coverage(TRUTHS[estimate], of_sides, **options)


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize(
    "estimate", [pearson_estimate, pytest.param(spearman_estimate, marks=pytest.mark.slow)]
)
def test_of_many_samples_the_interval_covers_the_truth_as_often_as_it_says(estimate, size):
    assert 0.92 <= covered(estimate, size=size, told=True) <= 0.98


def test_without_the_groups_it_would_cover_the_truth_far_less_often():
    assert covered(pearson_estimate, size=3, told=False) < 0.87


@pytest.mark.parametrize("groups", [None, np.array([0, 0, 1, 2, 2, 2, 3, 4])])
@pytest.mark.parametrize(
    ("estimate", "oracle"), [(pearson_difference, pearsonr), (spearman_difference, spearmanr)]
)
def test_a_differences_interval_is_that_of_the_formula_with_each_group_left_out(
    estimate, oracle, groups
):
    first, second, wanted = np.random.default_rng(0).normal(size=(3, 8)) + 3 * np.arange(8)
    found = estimate(first, second, wanted, groups)
    value, half = jackknife(
        lambda kept: oracle(first[kept], wanted[kept])[0] - oracle(second[kept], wanted[kept])[0],
        np.arange(8) if groups is None else groups,
    )
    ends = value, value - half, value + half
    assert (found.value, found.low, found.high) == pytest.approx(ends)
    assert (found.n, found.level, found.method) == (8, 0.95, "jackknife over groups of pairs")


@given(st.integers(0, 2**32 - 1), st.integers(4, 30))
def test_the_other_way_round_it_is_the_negative_to_the_bit(seed, count):
    first, second, wanted = np.random.default_rng(seed).normal(size=(3, count))
    there = pearson_difference(first, second, wanted)
    back = pearson_difference(second, first, wanted)
    assert (there.value, there.low, there.high) == (-back.value, -back.high, -back.low)
    assert -2 <= there.low <= there.value <= there.high <= 2


def difference_covered(*, size, shared):
    def of_sides(wanted, noise, more, groups):
        other = shared * noise + np.sqrt(1 - shared**2) * more
        return pearson_difference(wanted + noise, wanted + 1.5 * other, wanted, groups)

    # Of a score with noise of the size s the correlation is 1 / sqrt(1 + s ** 2).
    truth = 1 / np.sqrt(1 + 1) - 1 / np.sqrt(1 + 1.5**2)
    return coverage(truth, of_sides, runs=600, columns=3, pairs=180, size=size, told=True)


@pytest.mark.parametrize("size", [pytest.param(1, marks=pytest.mark.slow), 3])
@pytest.mark.parametrize("shared", [pytest.param(0.0, marks=pytest.mark.slow), 0.9])
def test_of_many_samples_a_differences_interval_covers_the_truth_as_often_as_it_says(size, shared):
    assert 0.92 <= difference_covered(size=size, shared=shared) <= 0.98
