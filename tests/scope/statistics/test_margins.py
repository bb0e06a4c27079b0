import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import brentq, minimize_scalar
from scipy.special import xlogy
from scipy.stats import binom, norm, ttest_1samp

from scope.records import Estimate, Undefined
from scope.statistics.intervals import student_estimate
from scope.statistics.margins import (
    ERROR,
    discordance,
    fewest_texts,
    judge_against_one,
    judge_estimate,
    judge_paired,
    loss_tails,
    paired_score_estimate,
    paired_tails,
    tango_statistic,
)

tables = st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(1, 60))
scores = st.lists(st.sampled_from([-1, -0.5, -0.25, 0, 0.25, 1]), min_size=1, max_size=60)


def texts(count):
    return [str(text) for text in range(count)]


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
    values, z = differences(*table), norm.ppf(0.975)
    estimate = paired_score_estimate(values, np.zeros_like(values), texts(len(values)))
    low = brentq(lambda at: oracle_score(*table, at) - z, -0.999, estimate.value - 1e-6)
    high = brentq(lambda at: oracle_score(*table, at) + z, estimate.value + 1e-6, 0.999)
    assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=1e-5)


@pytest.mark.parametrize(("margin", "fewest"), [(0.10, 35), (0.05, 73), (0.02, 189)])
def test_without_a_discordance_a_margin_takes_its_minimum_of_texts(margin, fewest):
    def state(count):
        same = np.ones(count)
        return judge_paired("accuracy", same, same, texts(count), margin=margin).state

    assert fewest_texts(margin) == fewest
    assert (state(fewest - 1), state(fewest)) == ("not shown", "within")


@given(scores, st.randoms())
def test_the_order_of_texts_changes_nothing(values, random):
    shuffled = random.sample(values, len(values))

    def judged(some):
        return judge_paired("any", some, np.zeros(len(some)), texts(len(some)), margin=0.05)

    assert judged(values) == judged(shuffled)


@given(scores, st.sampled_from([0.02, 0.05, 0.1]))
def test_state_and_bounds_agree(values, margin):
    endpoint = judge_paired("any", values, np.zeros(len(values)), texts(len(values)), margin=margin)
    if endpoint.state == "within":
        assert endpoint.estimate.low > -margin
    if endpoint.state == "beyond":
        assert endpoint.estimate.high < -margin


def test_scores_of_quarters_are_surer_than_full_ones_and_less_sure_than_their_variance():
    quarters, full = np.tile([0.25, -0.25], 100), np.tile([1.0, -1.0] + [0.0] * 6, 25)
    assert quarters.sum() == full.sum() == 0
    by_variance = 1.96 * quarters.std() / np.sqrt(200)
    high = [
        paired_score_estimate(some, np.zeros(200), texts(200)).high for some in (quarters, full)
    ]
    assert by_variance < high[0] < 0.7 * high[1]


@pytest.mark.parametrize("margin", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("n", [50, 200, 400])
def test_losses_alone_at_the_margin_are_rarely_called_beyond_or_within(margin, n):
    losses = np.arange(n + 1.0)
    seen = discordance(np.zeros((n + 1, n)))._replace(losses=losses)
    chances = binom.pmf(losses, n, margin)
    for tails in (paired_tails(seen, margin), loss_tails(seen, margin)):
        assert chances[tails.within < ERROR].sum() <= 0.03
        assert chances[tails.beyond < ERROR].sum() <= 0.025


def test_against_one_the_tails_are_binomial():
    tails = loss_tails(discordance(differences(0, 3, 97)), 0.1)
    assert float(tails.within) == pytest.approx(binom.cdf(3, 100, 0.1))
    assert float(tails.beyond) == pytest.approx(binom.sf(2, 100, 0.1))


@given(st.lists(st.sampled_from([0, 0.25, 0.5, 0.875, 1]), min_size=1, max_size=60))
def test_against_one_the_estimate_is_the_mean_and_agrees_with_the_state(values):
    endpoint = judge_against_one("any", values, texts(len(values)), margin=0.05)
    assert endpoint.estimate.value == pytest.approx(np.mean(values))
    assert (endpoint.state == "within") == (endpoint.estimate.low > 0.95)
    assert (endpoint.state == "beyond") == (endpoint.estimate.high < 0.95)


@pytest.mark.parametrize(
    ("low", "value", "high", "state"),
    [
        (0.51, 0.7, 0.89, "within"),
        (0.49, 0.7, 0.91, "not shown"),
        (0.11, 0.3, 0.49, "beyond"),
        (0.09, 0.3, 0.51, "not shown"),
        (1.0, 1.0, 1.0, "within"),
        (0.0, 0.0, 0.0, "beyond"),
    ],
)
def test_an_estimate_is_judged_by_its_bounds(low, value, high, state):
    reach = Estimate(value=value, low=low, high=high, n=50, method="any")
    assert judge_estimate("reach", reach, limit=0.5).state == state


def test_tails_of_a_slope_are_students_and_few_texts_show_nothing():
    slopes = [0.1, 0.9, 0.15] * 4
    judged = judge_estimate("reach", student_estimate(np.array(slopes)), limit=0.5)
    assert judged.p_beyond == pytest.approx(ttest_1samp(slopes, 0.5).pvalue / 2)
    few = judge_estimate("reach", student_estimate(np.array([0.1, 0.2, 0.15])), limit=0.5)
    assert few.state == "not shown"


def test_a_few_texts_that_all_differ_are_never_within():
    endpoint = judge_paired("accuracy", np.ones(20), np.zeros(20), texts(20), margin=0.05)
    assert endpoint.estimate.low > 0
    assert endpoint.state == "not shown"


def test_no_text_is_undefined_and_not_shown():
    for endpoint in (
        judge_paired("any", [], [], [], margin=0.05),
        judge_against_one("any", [], [], margin=0.05),
        judge_estimate("any", Undefined(reason="nothing moves"), limit=0.5),
    ):
        assert isinstance(endpoint.estimate, Undefined)
        assert endpoint.state == "not shown"
    assert paired_score_estimate([], [], []) == Undefined(reason="no text counts")
