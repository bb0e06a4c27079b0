import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import brentq, minimize_scalar
from scipy.special import xlogy
from scipy.stats import binom, binomtest, norm

from scope.records import ERROR
from scope.statistics.intervals import (
    binomial_estimate,
    discordance,
    effective,
    fewest_texts,
    loss_tails,
    paired_tails,
    paired_within,
    score_estimate,
    tango_statistic,
)

tables = st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(1, 60))


def differences(gains, losses, ties):
    return np.repeat([1.0, -1.0, 0.0], [gains, losses, ties])


def oracle_score(gains, losses, ties, difference):
    """The slow oracle: the share of losses maximises the likelihood, searched numerically."""
    n = gains + losses + ties

    def loss(share):
        gained = share + difference
        rest = max(1 - share - gained, 0.0)
        return -(xlogy(gains, max(gained, 0.0)) + xlogy(losses, share) + xlogy(ties, rest))

    bounds = (max(0.0, -difference), (1 - difference) / 2)
    share = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
    variance = n * (2 * share + difference - difference**2)
    return (gains - losses - n * difference) / np.sqrt(variance)


@given(tables, st.sampled_from([-0.4, -0.1, -0.02, 0.05, 0.3]))
def test_the_statistic_is_that_of_the_constrained_maximum_of_the_likelihood(table, difference):
    score = tango_statistic(discordance(differences(*table)), difference)
    assert float(score) == pytest.approx(oracle_score(*table, difference), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("table", [(3, 7, 40), (0, 2, 98), (12, 1, 7)])
def test_the_interval_is_where_the_oracle_crosses_the_quantile(table):
    estimate, z = score_estimate(differences(*table)), norm.ppf(0.975)
    low = brentq(lambda at: oracle_score(*table, at) - z, -0.999, estimate.value - 1e-6)
    high = brentq(lambda at: oracle_score(*table, at) + z, estimate.value + 1e-6, 0.999)
    assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=1e-5)


@pytest.mark.parametrize("sign", [1, -1])
def test_where_texts_differ_one_way_the_binomial_end_counts_too(sign):
    estimate = score_estimate(sign * differences(8, 0, 192))
    net = binomtest(8, 200).proportion_ci(0.95, "exact").low
    tango = brentq(lambda at: oracle_score(8, 0, 192, at) - norm.ppf(0.975), -0.5, 0.039)
    assert net < tango
    assert (estimate.low if sign > 0 else -estimate.high) == pytest.approx(net)


@pytest.mark.parametrize(("margin", "fewest"), [(0.10, 35), (0.05, 73), (0.02, 189)])
def test_without_a_discordance_a_margin_takes_its_minimum_of_texts(margin, fewest):
    p_values = [paired_within(discordance(np.zeros(n)), margin) for n in (fewest - 1, fewest)]
    assert fewest_texts(margin) == fewest
    assert p_values[0] > ERROR > p_values[1]


def test_effective_texts_have_the_variance_of_the_scores_and_of_eight_made_up_ones():
    # (10 + 8) / (4 + 8) of 100 texts; uneven ones: 16 made-up texts whose squares sum up to 32.
    assert effective(5, 5, 4, 100).n == pytest.approx(150)
    assert effective(5, 5, 4, 100, unevenness=2.0).n == pytest.approx(100 * 26 / 36)
    assert discordance([0.0] * 90, unevenness=1.5).n == pytest.approx(60)


@pytest.mark.parametrize("margin", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("n", [50, 200, 400])
def test_losses_alone_at_the_margin_are_rarely_called_beyond_or_within(margin, n):
    losses = np.arange(n + 1.0)
    seen = discordance(np.zeros((n + 1, n)))._replace(losses=losses)
    chances = binom.pmf(losses, n, margin)
    for tails in (paired_tails(seen, margin), loss_tails(seen, margin)):
        assert chances[tails.within < ERROR].sum() <= 0.03
        assert chances[tails.beyond < ERROR].sum() <= 0.025


@pytest.mark.parametrize(("losses", "n"), [(0, 40), (3, 100), (20, 20)])
def test_the_interval_of_shares_is_clopper_and_pearsons(losses, n):
    estimate = binomial_estimate(np.repeat([-1.0, 0.0], [losses, n - losses]))
    expected = binomtest(n - losses, n).proportion_ci(0.95, "exact")
    assert (estimate.low, estimate.high) == pytest.approx((expected.low, expected.high))
    assert estimate.value == pytest.approx(1 - losses / n)
    tails = loss_tails(discordance(np.repeat([-1.0, 0.0], [losses, n - losses])), 0.1)
    expected = binom.cdf(losses, n, 0.1), binom.sf(losses - 1, n, 0.1)
    assert (float(tails.within), float(tails.beyond)) == pytest.approx(expected)


def test_a_few_texts_that_all_differ_are_never_within():
    assert score_estimate([1.0] * 20).low > 0
    assert paired_within(discordance([1.0] * 20), 0.05) == 1
