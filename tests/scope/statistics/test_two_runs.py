"""Exact test, recovery and detectable difference, beside scipy's and the written-out formulas."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binomtest, combine_pvalues, norm

from scope.records import Estimate, Undefined
from scope.statistics.two_runs import (
    detectable_difference,
    mcnemar_p_value,
    pooled_differences,
    recovery,
)

COUNTS = st.tuples(*[st.integers(0, 60)] * 4)


@given(st.integers(0, 80), st.integers(0, 80))
def test_the_exact_test_is_scipys_binomial_one(gained, lost):
    changed = gained + lost
    expected = binomtest(gained, changed, 0.5).pvalue if changed else 1.0
    assert mcnemar_p_value(gained, lost) == pytest.approx(expected, abs=1e-12)
    assert mcnemar_p_value(gained, lost) == mcnemar_p_value(lost, gained)


def test_recovery_is_the_published_formula_written_out():
    both, lost, gained, z = 60, 20, 10, norm.ppf(0.975)
    first, second, some = both + lost, both + gained, both + lost + gained
    a = sqrt((lost + gained + 2) / ((first + 1) * (second + 1)))
    b, c = (sqrt((1 - (x + 1) / (some + 2)) / (x + 1)) for x in (first, second))
    z *= a / (b + c)

    def bounds(x):
        half = z * sqrt(z**2 + 4 * x * (1 - x / some))
        return [(2 * x + z**2 + sign * half) / (2 * (some + z**2)) for sign in (-1, 1)]

    found = recovery(both, lost, gained, 100)
    (low_first, high_first), (low_second, high_second) = bounds(first), bounds(second)
    assert found.value == pytest.approx(70 / 80)
    assert found.low == pytest.approx(low_second / high_first)
    assert found.high == pytest.approx(high_second / low_first)


@given(COUNTS)
def test_recovery_lies_in_its_interval_and_turns_round(counts):
    both, lost, gained, _ = counts
    found = recovery(both, lost, gained, sum(counts))
    if not both + lost:
        assert isinstance(found, Undefined)
        return
    assert 0 <= found.low <= found.value <= found.high
    back = recovery(both, gained, lost, sum(counts))
    if isinstance(back, Estimate) and found.low > 0:
        assert back.high == pytest.approx(1 / found.low)


def test_recovery_covers_the_true_ratio():
    generator, hits = np.random.default_rng(0), 0
    for both, lost, gained, _ in generator.multinomial(300, (0.6, 0.06, 0.04, 0.3), 2000):
        found = recovery(int(both), int(lost), int(gained), 300)
        hits += found.low <= 0.64 / 0.66 <= found.high
    assert 0.935 < hits / 2000 < 0.97


def test_the_detectable_difference_has_the_wanted_power():
    share = Estimate(value=0.1, low=0.08, high=0.12, n=1000, method="Wilson")
    found = detectable_difference(share).value
    # Connor's sample size at this difference is n again.
    error, wanted = norm.ppf(0.975), norm.ppf(0.8)
    needed = (error * sqrt(0.1) + wanted * sqrt(0.1 - found**2)) ** 2 / found**2
    assert needed == pytest.approx(1000)
    generator = np.random.default_rng(1)
    shares = ((0.1 + found) / 2, (0.1 - found) / 2, 0.9)
    drawn = generator.multinomial(1000, shares, 2000)
    power = np.mean([mcnemar_p_value(int(a), int(b)) < 0.05 for a, b, _ in drawn])
    assert 0.74 < power < 0.83  # the exact test is a little conservative


def test_what_cannot_be_is_undefined():
    none = Estimate(value=0.0, low=0.0, high=0.6, n=3, method="Wilson")
    assert isinstance(detectable_difference(none), Undefined)
    assert str(recovery(0, 0, 3, 9)) == "undefined (the reference is right on no item)"


def one_sided(signs):
    gained, lost = signs.count(1), signs.count(-1)
    return binomtest(gained, gained + lost, 0.5, "less").pvalue if gained + lost else 1.0


def pooled(changes):
    return {way.way: way for way in pooled_differences(changes, "old", "new")}


SIGNS = st.lists(st.sampled_from([-1, 0, 0, 1]), min_size=1, max_size=40)


@given(st.dictionaries(st.sampled_from("abcd"), SIGNS, min_size=2))
def test_tasks_are_pooled_by_items_by_their_worst_and_by_fisher(changes):
    found, every = pooled(changes), [sign for signs in changes.values() for sign in signs]
    assert found["pooled"].estimate.value == pytest.approx(np.mean(every))
    assert found["pooled"].p_value == pytest.approx(one_sided(every))
    means = [np.mean(signs) for signs in changes.values()]
    assert found["mean of tasks"].estimate.value == pytest.approx(np.mean(means), abs=1e-12)
    each = [one_sided(signs) for signs in changes.values()]
    assert found["Fisher"].p_value == pytest.approx(combine_pvalues(each).pvalue)
    assert isinstance(found["Fisher"].estimate, Undefined)
    # No less than the p-value of the worst task alone, no more than Bonferroni's bound.
    (worst,) = found["max drop"].tasks
    alone = one_sided(changes[worst])
    assert alone - 1e-12 <= found["max drop"].p_value <= 1
    assert {way.estimate.n for way in found.values()} - {len(changes[worst])} <= {len(every)}


def test_the_greatest_drop_has_the_p_value_of_random_signs():
    changes = {"a": [-1] * 9 + [1] * 2, "b": [-1] * 6 + [1] * 6, "c": [1] * 4 + [-1] * 3 + [0] * 50}
    draw, counts = np.random.default_rng(0), (11, 12, 7)
    drops = np.array([(m - 2 * draw.binomial(m, 0.5, 200_000)) / np.sqrt(m) for m in counts])
    expected = (drops.max(axis=0) >= (11 - 2 * 2) / np.sqrt(11) - 1e-9).mean()
    found = pooled(changes)["max drop"]
    assert found.tasks == ("a",)
    assert found.p_value == pytest.approx(expected, abs=0.004)
    assert found.estimate.level == pytest.approx(1 - 0.05 / 3)
