"""Exact test, recovery and detectable difference, beside scipy's and the written-out formulas."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize
from scipy.stats import binomtest, norm

from scope.records import Estimate, Undefined
from scope.statistics.paired import (
    detectable_difference,
    mcnemar_p_value,
    recovery,
    recovery_score,
    recovery_tails,
)

COUNTS = st.tuples(*[st.integers(0, 60)] * 4)


@given(st.integers(0, 80), st.integers(0, 80))
def test_the_exact_test_is_scipys_binomial_one(gained, lost):
    changed = gained + lost
    expected = binomtest(gained, changed, 0.5).pvalue if changed else 1.0
    assert mcnemar_p_value(gained, lost) == pytest.approx(expected, abs=1e-12)
    assert mcnemar_p_value(gained, lost) == mcnemar_p_value(lost, gained)


@pytest.mark.parametrize("ratio", [0.9, 0.97, 1.1])
def test_recovery_is_judged_at_its_likeliest_shares(ratio):
    both, lost, gained, n = 60, 8, 5, 100

    def shares(logs):
        lost, gained = np.exp(logs)
        both = (ratio * lost - gained) / (1 - ratio)
        return np.array([both, lost, gained, 1 - both - lost - gained])

    def unlikely(logs):
        parts = shares(logs)
        return -np.log(parts) @ [both, lost, gained, n - 73] if parts.min() > 0 else 1e9

    start = np.log([0.08, 0.05] if ratio < 1 else [0.05, 0.12])
    found = minimize(unlikely, start, method="Nelder-Mead", options={"xatol": 1e-9, "maxiter": 999})
    deviation = sqrt(n * ratio * shares(found.x)[1:3].sum())
    expected = (both + gained - ratio * (both + lost)) / deviation
    assert recovery_score(both, lost, gained, ratio) == pytest.approx(expected, abs=1e-4)


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


@given(COUNTS, st.sampled_from([0.95, 0.97, 0.99]))
def test_a_recovery_is_within_only_where_its_interval_is(counts, least):
    both, lost, gained, _ = counts
    found, tails = recovery(both, lost, gained, sum(counts)), recovery_tails(*counts[:3], least)
    if isinstance(found, Estimate) and abs(found.low - least) > 1e-6:
        assert (tails.within < 0.025) <= (found.low > least)
        assert (tails.beyond < 0.025) <= (found.high < least)


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
