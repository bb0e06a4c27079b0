import math

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr
from shared_errors import grouped

from scope.errors import DataError
from scope.probes.correlations import pearson_estimate, spearman_estimate
from scope.records.estimates import Undefined

GIVEN, WANTED = np.random.default_rng(0).normal(size=(2, 40)).round(1)
WANTED = WANTED + GIVEN
ESTIMATES = [(pearson_estimate, pearsonr), (spearman_estimate, spearmanr)]


@pytest.mark.parametrize("groups", [None, np.arange(40) // 4])
@pytest.mark.parametrize(("estimate", "oracle"), ESTIMATES)
def test_the_interval_is_that_of_the_formula_with_each_group_left_out(estimate, oracle, groups):
    found = estimate(GIVEN, WANTED, groups, level=0.9)
    numbers = np.arange(40) if groups is None else groups
    count = numbers.max() + 1
    without = np.array(
        [math.atanh(oracle(GIVEN[numbers != k], WANTED[numbers != k])[0]) for k in range(count)]
    )
    error = math.sqrt((count - 1) / count * ((without - without.mean()) ** 2).sum())
    # Student's t of 39 and of 9 degrees, as tables have it.
    half = {40: 1.684875, 10: 1.833113}[count] * error
    value = oracle(GIVEN, WANTED)[0]
    ends = math.tanh(math.atanh(value) - half), math.tanh(math.atanh(value) + half)
    assert (found.value, found.low, found.high) == pytest.approx((value, *ends), rel=1e-5)
    assert (found.n, found.level) == (40, 0.9)
    assert found.method == "jackknife over groups of pairs"


@pytest.mark.parametrize(("estimate", "_"), ESTIMATES)
def test_pairs_by_themselves_are_groups_of_one_and_numbers_are_names(estimate, _):
    assert estimate(GIVEN, WANTED) == estimate(GIVEN, WANTED, np.arange(40))
    groups = np.arange(40) // 3
    renamed = estimate(GIVEN, WANTED, 100 - 7 * groups)
    expected = estimate(GIVEN, WANTED, groups)
    assert (renamed.low, renamed.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(("estimate", "_"), ESTIMATES)
def test_pairs_that_stand_there_twice_say_no_more_than_once(estimate, _):
    once = estimate(GIVEN, WANTED)
    twice = estimate(np.tile(GIVEN, 2), np.tile(WANTED, 2), np.tile(np.arange(40), 2))
    assert (twice.value, twice.low, twice.high) == pytest.approx(
        (once.value, once.low, once.high), abs=1e-3
    )
    assert twice.n == 80


@drawn(st.integers(0, 2**32 - 1), st.integers(4, 30))
def test_the_interval_holds_the_value_and_turns_with_the_sign(seed, count):
    given, wanted = np.random.default_rng(seed).normal(size=(2, count))
    there, back = pearson_estimate(given, wanted), pearson_estimate(-given, wanted)
    assert -1 <= there.low <= there.value <= there.high <= 1
    assert (there.value, there.low, there.high) == pytest.approx(
        (-back.value, -back.high, -back.low)
    )


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


@pytest.mark.parametrize("groups", [np.arange(39), np.arange(40) / 2, np.zeros((40, 1), int)])
def test_groups_of_other_pairs_are_refused(groups):
    with pytest.raises(DataError, match="for 40 pairs"):
        pearson_estimate(GIVEN, WANTED, groups)


@pytest.mark.parametrize(("sign", "value"), [(1, 1.0), (-1, -1.0)])
@pytest.mark.parametrize(("estimate", "_"), ESTIMATES)
def test_of_a_perfect_correlation_the_interval_is_a_point(estimate, _, sign, value):
    found = estimate(np.arange(6.0), sign * np.arange(6.0))
    assert (found.value, found.low, found.high) == pytest.approx((value, value, value))


TRUTHS = {pearson_estimate: 0.8, spearman_estimate: 6 / math.pi * math.asin(0.8 / 2)}
"""Of normal pairs, whose rank correlation follows from their correlation."""


def covered(estimate, *, size, told):
    hits = 0
    for seed in range(300):
        (wanted, noise), groups = grouped(seed, columns=2, count=60 // size, size=size)
        found = estimate(0.8 * wanted + 0.6 * noise, wanted, groups if told else None)
        hits += found.low <= TRUTHS[estimate] <= found.high
    return hits / 300


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("estimate", list(TRUTHS))
def test_of_many_samples_the_interval_covers_the_truth_as_often_as_it_says(estimate, size):
    assert 0.92 <= covered(estimate, size=size, told=True) <= 0.98


def test_without_the_groups_it_would_cover_the_truth_far_less_often():
    assert covered(pearson_estimate, size=3, told=False) < 0.87
