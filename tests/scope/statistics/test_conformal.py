import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import t as student

from scope.statistics.between_models import (
    conformal_p_value,
    controls_needed,
    effective_number,
    joint_statistic,
    others_needed,
    prediction_test,
    threshold_rank,
)

# Few distinct numbers, so that ties are common.
pools = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=30)
tables = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.integers(1, 9)),
    elements=st.one_of(st.just(math.nan), st.integers(-5, 5).map(lambda one: one / 7)),
)
# Written in decimals, as a user writes them.
alphas = st.integers(1, 999).map(lambda thousandths: thousandths / 1000)


def exact(alpha):
    return Fraction(str(alpha))


@pytest.mark.parametrize(
    ("suspect", "controls", "p_value"),
    [
        (0.9, [0.1, 0.2, 0.3], 1 / 4),
        (0.25, [0.1, 0.2, 0.3], 2 / 4),
        (0.2, [0.1, 0.2, 0.3], 3 / 4),
        (0.0, [0.1, 0.2, 0.3], 1.0),
        (1.0, [1.0, 1.0, 1.0], 1.0),
        (1.0, [], 1.0),
        (math.inf, [math.inf, 2.0], 2 / 3),
    ],
)
def test_the_p_value_by_hand(suspect, controls, p_value):
    assert conformal_p_value(suspect, controls) == p_value


@pytest.mark.parametrize(("suspect", "controls"), [(math.nan, [1.0]), (1.0, [0.0, math.nan])])
def test_a_model_without_a_value_is_refused(suspect, controls):
    with pytest.raises(ValueError, match="without a value"):
        conformal_p_value(suspect, controls)


@given(pools, alphas)
def test_at_most_the_share_alpha_of_any_pool_could_be_called_beyond_the_others(pool, alpha):
    p_values = [
        conformal_p_value(one, pool[:index] + pool[index + 1 :]) for index, one in enumerate(pool)
    ]
    assert sum(p <= alpha for p in p_values) <= exact(alpha) * len(pool)


@pytest.mark.parametrize(
    ("alpha", "needed"),
    [(0.05, 19), (0.01, 99), (0.1, 9), (0.001, 999), (1 / 3, 2), (0.3, 3), (0.5, 1), (0.99, 1)]
    + [(1 / count, count - 1) for count in range(2, 200)],
)
def test_the_others_needed(alpha, needed):
    assert others_needed(alpha) == needed
    controls = controls_needed(alpha)
    assert (controls + 2) * (controls + 1) // 2 > needed
    assert controls == 0 or (controls + 1) * controls // 2 <= needed


@pytest.mark.parametrize(
    ("alpha", "n", "rank"),
    # 0.29 * 100 is 28.999999999999996, and 0.07 * 100 is 7.000000000000001.
    [
        (0.05, 19, 0),
        (0.05, 59, 2),
        (0.05, 18, None),
        (0.29, 99, 28),
        (0.07, 99, 6),
        (0.05, 0, None),
    ],
)
def test_the_rank_by_hand(alpha, n, rank):
    assert threshold_rank(alpha, n) == rank


def test_the_joint_statistic_by_hand():
    # Means 2 and 20, standard deviations 1 and 10: the kinds weigh alike.
    assert joint_statistic([[1, 3, 1, 3], [10, 10, 30, 30]]).tolist() == [-1, 0, 0, 1]


def test_a_missing_value_stays_out_of_its_kind_and_of_its_models_mean():
    nan = math.nan
    table = joint_statistic([[1, 3, 1, 3, nan], [10, 10, 30, 30, nan], [0, nan, nan, 2, 2]])
    deviations = np.array([0, 2, 2]) - 4 / 3
    scores = deviations / np.sqrt((deviations**2).mean())
    expected = [(-2 + scores[0]) / 3, 0, 0, (2 + scores[1]) / 3, scores[2]]
    assert table == pytest.approx(expected)


@given(tables, st.randoms())
def test_exchanging_models_exchanges_their_joint_statistics_to_the_last_bit(table, random):
    order = random.sample(range(table.shape[1]), table.shape[1])
    np.testing.assert_array_equal(joint_statistic(table[:, order]), joint_statistic(table)[order])


@given(tables, alphas)
def test_the_joint_test_is_a_permutation_test(table, alpha):
    # Whichever model of the pool is the suspect: the share called beyond the others is kept.
    joint = joint_statistic(table)
    joint = joint[~np.isnan(joint)]
    p_values = [
        conformal_p_value(float(one), np.delete(joint, index)) for index, one in enumerate(joint)
    ]
    assert sum(p <= alpha for p in p_values) <= exact(alpha) * len(joint)


def test_equally_correlated_values_count_as_the_variance_of_their_mean_says():
    table = np.full((20, 20), 0.3)
    np.fill_diagonal(table, 1)
    assert effective_number(table) == pytest.approx(1 / (0.3 + 0.7 / 20))


def test_of_independent_values_it_is_the_prediction_interval_of_a_line():
    generator = np.random.default_rng(0)
    x, noise = generator.random(30), generator.normal(size=30)
    y = 2 + 3 * x + noise
    design = np.column_stack([np.ones(30), x])
    fitted, *_ = np.linalg.lstsq(design, y, rcond=None)
    variance = ((y - design @ fitted) ** 2).sum() / 28
    new = np.array([1, 0.8])
    error = np.sqrt(variance * (1 + new @ np.linalg.inv(design.T @ design) @ new))
    expected = student.sf((6 - new @ fitted) / error, 28)
    assert prediction_test(6, 0.8, y, x, np.eye(30)).p_value == pytest.approx(expected)


def test_it_keeps_its_error_rate_among_correlated_values():
    generator = np.random.default_rng(1)
    table = np.full((20, 20), 0.4)
    np.fill_diagonal(table, 1)
    places = np.linspace(0, 1, 20)
    wrong = 0
    for _ in range(2000):
        common = np.sqrt(0.4) * generator.normal()
        values = common + np.sqrt(0.6) * generator.normal(size=20)
        found = prediction_test(float(generator.normal()), 0.5, values, places, table)
        wrong += found.p_value <= 0.05
    assert wrong / 2000 < 0.06


def test_far_outside_the_others_nothing_is_claimed():
    places = np.linspace(0, 1, 20)
    values = np.tile([-1.0, 1.0], 10)
    near, far = (prediction_test(3, at, values, places, np.eye(20)) for at in (0.5, 8))
    assert near.p_value < 0.01
    assert far.p_value > 0.1


def test_values_without_spread_are_left_by_any_higher_one_alone():
    places = np.linspace(0, 1, 10)
    assert prediction_test(1, 0.5, np.zeros(10), places, np.eye(10)).p_value == 0
    assert prediction_test(0, 0.5, np.zeros(10), places, np.eye(10)).p_value == 1


def test_infinite_values_are_refused():
    with pytest.raises(ValueError, match="infinite"):
        joint_statistic([[math.inf, 1.0]])
