import math

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from scope.probes.correlations import pearson, pearson_estimate, spearman_estimate
from scope.records.estimates import Undefined

GIVEN, WANTED = np.random.default_rng(0).normal(size=(2, 40)).round(1)
WANTED = WANTED + GIVEN


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_pearson_and_its_interval_are_scipys(level):
    expected = pearsonr(GIVEN, WANTED)
    found = pearson_estimate(GIVEN, WANTED, level)
    low, high = expected.confidence_interval(level)
    assert (found.value, found.low, found.high) == pytest.approx((expected[0], low, high))
    assert (found.n, found.level) == (40, level)


def test_spearman_is_scipys_with_ties_and_its_interval_is_the_wider():
    found = spearman_estimate(GIVEN, WANTED)
    assert found.value == pytest.approx(spearmanr(GIVEN, WANTED)[0])
    half = 1.959964 * math.sqrt((1 + found.value**2 / 2) / 37)
    assert found.low == pytest.approx(math.tanh(math.atanh(found.value) - half))
    assert found.high == pytest.approx(math.tanh(math.atanh(found.value) + half))


@pytest.mark.parametrize("estimate", [pearson_estimate, spearman_estimate])
def test_what_cannot_be_told_has_a_reason(estimate):
    assert math.isnan(pearson(np.full(5, 0.1), WANTED[:5]))
    assert estimate(np.full(5, 0.1), WANTED[:5]) == Undefined(reason="one side is constant", n=5)
    assert estimate(GIVEN[:3], WANTED[:3]) == Undefined(reason="fewer than 4 pairs", n=3)


@pytest.mark.parametrize(("sign", "value"), [(1, 1.0), (-1, -1.0)])
def test_of_a_perfect_correlation_the_interval_is_a_point(sign, value):
    found = spearman_estimate(np.arange(6.0), sign * np.arange(6.0))
    assert (found.value, found.low, found.high) == pytest.approx((value, value, value))


@pytest.mark.parametrize(
    ("estimate", "truth"),
    [(pearson_estimate, 0.8), (spearman_estimate, 6 / math.pi * math.asin(0.8 / 2))],
)
def test_of_many_samples_the_interval_covers_the_truth_as_often_as_it_says(estimate, truth):
    """Of normal pairs, whose rank correlation follows from their correlation."""
    generator = np.random.default_rng(2)
    covered = 0
    for _ in range(1000):
        given, noise = generator.normal(size=(2, 60))
        found = estimate(given, 0.8 * given + 0.6 * noise)
        covered += found.low <= truth <= found.high
    assert 0.93 <= covered / 1000 <= 0.97
