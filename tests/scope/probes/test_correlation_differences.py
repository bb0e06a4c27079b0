import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr
from shared_errors import grouped

from scope.probes.correlation_differences import pearson_difference
from scope.records.estimates import Estimate, Undefined


@pytest.mark.parametrize("groups", [None, np.array([0, 0, 1, 2, 2, 2, 3, 4])])
def test_a_differences_interval_is_that_of_the_formula_with_each_group_left_out(groups):
    first, second, wanted = np.random.default_rng(0).normal(size=(3, 8)) + 3 * np.arange(8)
    numbers = np.arange(8) if groups is None else groups
    count = numbers.max() + 1

    def difference(kept):
        return pearsonr(first[kept], wanted[kept])[0] - pearsonr(second[kept], wanted[kept])[0]

    without = np.array([difference(numbers != group) for group in range(count)])
    error = np.sqrt((count - 1) / count * ((without - without.mean()) ** 2).sum())
    # Student's t of 7 and of 4 degrees, as tables have it.
    half = {8: 2.364624, 5: 2.776445}[count] * error
    found = pearson_difference(first, second, wanted, groups)
    value = difference(numbers >= 0)
    assert (found.value, found.low, found.high) == pytest.approx(
        (value, value - half, value + half)
    )
    assert (found.n, found.level, found.method) == (8, 0.95, "jackknife over groups of pairs")
    assert pearson_difference(first, second, wanted, groups, level=0.5).low > found.low


@given(st.integers(0, 2**32 - 1), st.integers(4, 30))
def test_the_other_way_round_it_is_the_negative_to_the_bit(seed, count):
    first, second, wanted = np.random.default_rng(seed).normal(size=(3, count))
    there = pearson_difference(first, second, wanted)
    back = pearson_difference(second, first, wanted)
    assert (there.value, there.low, there.high) == (-back.value, -back.high, -back.low)
    assert -2 <= there.low <= there.value <= there.high <= 2


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 10), st.floats(-10, 10))
def test_scores_beside_themselves_differ_by_nothing_and_the_scale_does_not_count(
    seed, scale, shift
):
    first, second, wanted = np.random.default_rng(seed).normal(size=(3, 12))
    same = pearson_difference(first, first.copy(), wanted)
    assert (same.value, same.low, same.high) == (0, 0, 0)
    found = pearson_difference(first, second, wanted)
    scaled = pearson_difference(scale * first + shift, second, wanted)
    assert (scaled.value, scaled.low, scaled.high) == pytest.approx(
        (found.value, found.low, found.high)
    )


def test_the_greatest_difference_there_is_is_certain():
    wanted = np.arange(8.0)
    found = pearson_difference(wanted, -wanted, wanted)
    assert (found.value, found.low, found.high) == pytest.approx((2, 2, 2))


def test_what_shares_its_errors_is_told_apart_the_better():
    generator = np.random.default_rng(0)
    wanted, noise, more = generator.normal(size=(3, 200))
    alike = pearson_difference(wanted + noise, wanted + noise + 0.1 * more, wanted)
    apart = pearson_difference(wanted + noise, wanted + more, wanted)
    assert alike.high - alike.low < 0.5 * (apart.high - apart.low)


def difference_covered(*, size, shared, told):
    # Of a score with noise of the size s the correlation is 1 / sqrt(1 + s ** 2).
    truth = 1 / np.sqrt(1 + 1) - 1 / np.sqrt(1 + 1.5**2)
    hits = 0
    for seed in range(600):
        columns, groups = grouped(seed, columns=3, count=180 // size, size=size)
        wanted, noise, more = columns
        other = shared * noise + np.sqrt(1 - shared**2) * more
        given = wanted + noise, wanted + 1.5 * other
        found = pearson_difference(*given, wanted, groups if told else None)
        hits += found.low <= truth <= found.high
    return hits / 600


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("shared", [0.0, 0.9])
def test_of_many_samples_a_differences_interval_covers_the_truth_as_often_as_it_says(size, shared):
    assert 0.92 <= difference_covered(size=size, shared=shared, told=True) <= 0.98


def test_without_the_groups_a_difference_would_cover_the_truth_far_less_often():
    assert difference_covered(size=3, shared=0.0, told=False) < 0.87


@pytest.mark.parametrize("place", [0, 1, 2])
def test_nothing_can_be_told_of_a_side_that_is_constant_or_of_three_pairs(place):
    columns = list(np.random.default_rng(0).normal(size=(3, 6)))
    assert isinstance(pearson_difference(*columns), Estimate)
    columns[place] = np.full(6, 0.3)
    assert pearson_difference(*columns) == Undefined(reason="one side is constant", n=6)
    few = np.random.default_rng(0).normal(size=(3, 3))
    assert pearson_difference(*few) == Undefined(reason="fewer than 4 pairs", n=3)
