import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.probes.correlation_differences import pearson_difference
from scope.records.estimates import Estimate, Undefined


def columns_of(correlations, count):
    """Three columns, people's scores first, that have exactly these correlations."""
    drawn = np.random.default_rng(0).normal(size=(count, 3))
    unrelated = np.linalg.qr(drawn - drawn.mean(axis=0))[0]
    return (unrelated @ np.linalg.cholesky(np.array(correlations)).T).T


def test_the_interval_is_that_of_zous_own_example():
    wanted, first, second = columns_of(
        [[1, 0.396, 0.179], [0.396, 1, 0.088], [0.179, 0.088, 1]], 66
    )
    found = pearson_difference(first, second, wanted)
    assert str(found) == "0.217 [-0.093, 0.517]"
    assert (found.n, found.level) == (66, 0.95)


def test_another_level_is_by_hand():
    # Both correlations .6, each other's .68, 28 pairs, and a level of 68.27 %: one deviation of
    # atanh, a fifth. tanh(.6931 -+ .2) = .4567, .7132, and the errors' correlation is
    # ((.68 - .18) (1 - .72 - .4624) + .314432) / .64 ** 2 = .5449.
    wanted, first, second = columns_of([[1, 0.6, 0.6], [0.6, 1, 0.68], [0.6, 0.68, 1]], 28)
    found = pearson_difference(first, second, wanted, level=0.6826895)
    half = np.sqrt(0.1433**2 + 0.1132**2 - 2 * 0.5449 * 0.1433 * 0.1132)
    assert found.value == pytest.approx(0, abs=1e-12)
    assert (-found.low, found.high) == pytest.approx((half, half), abs=2e-4)


@given(st.integers(0, 2**32 - 1), st.integers(4, 30))
def test_the_other_way_round_it_is_the_negative_to_the_bit(seed, count):
    first, second, wanted = np.random.default_rng(seed).normal(size=(3, count))
    there = pearson_difference(first, second, wanted)
    back = pearson_difference(second, first, wanted)
    assert (there.value, there.low, there.high) == (-back.value, -back.high, -back.low)


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


def test_a_perfect_correlation_adds_nothing_to_the_margin():
    wanted = np.arange(8.0)
    found = pearson_difference(wanted, np.array([1.0, 0, 3, 2, 5, 4, 7, 6]), wanted)
    assert 0 < found.low < found.value < found.high
    assert pearson_difference(wanted, -wanted, wanted).value == 2


def test_what_shares_its_errors_is_told_apart_the_better():
    generator = np.random.default_rng(0)
    wanted, noise, more = generator.normal(size=(3, 200))
    alike = pearson_difference(wanted + noise, wanted + noise + 0.1 * more, wanted)
    apart = pearson_difference(wanted + noise, wanted + more, wanted)
    assert alike.high - alike.low < 0.5 * (apart.high - apart.low)


@pytest.mark.parametrize("shared", [0.0, 0.9])
def test_of_many_samples_the_interval_covers_the_truth_as_often_as_it_says(shared):
    generator = np.random.default_rng(1)
    covered = 0
    # Of a score with noise of the size s the correlation is 1 / sqrt(1 + s ** 2).
    truth = 1 / np.sqrt(1 + 1) - 1 / np.sqrt(1 + 1.5**2)
    for _ in range(1000):
        wanted, noise, more = generator.normal(size=(3, 60))
        other = shared * noise + np.sqrt(1 - shared**2) * more
        found = pearson_difference(wanted + noise, wanted + 1.5 * other, wanted)
        covered += found.low <= truth <= found.high
    assert 0.93 <= covered / 1000 <= 0.97


@pytest.mark.parametrize("place", [0, 1, 2])
def test_nothing_can_be_told_of_a_side_that_is_constant_or_of_three_pairs(place):
    columns = list(np.random.default_rng(0).normal(size=(3, 6)))
    assert isinstance(pearson_difference(*columns), Estimate)
    columns[place] = np.full(6, 0.3)
    assert pearson_difference(*columns) == Undefined(reason="one side is constant", n=6)
    few = np.random.default_rng(0).normal(size=(3, 3))
    assert pearson_difference(*few) == Undefined(reason="fewer than 4 pairs", n=3)
