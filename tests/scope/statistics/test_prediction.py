"""A value beside others that depend on each other and on a covariate."""

import numpy as np
import pytest
from scipy.stats import t as student

from scope.statistics.prediction import effective_number, prediction_test


def test_independent_values_count_as_many():
    assert effective_number(np.eye(7)) == pytest.approx(7)
    assert effective_number(np.zeros((0, 0))) == 0


def test_equally_correlated_values_count_as_the_variance_of_their_mean_says():
    table = np.full((20, 20), 0.3)
    np.fill_diagonal(table, 1)
    assert effective_number(table) == pytest.approx(1 / (0.3 + 0.7 / 20))


def test_copies_count_as_one_and_leave_the_others_their_weight():
    table = np.eye(6)
    table[:3, :3] = 1
    assert effective_number(table) == pytest.approx(4)


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


def test_too_few_independent_values_give_no_evidence():
    assert prediction_test(9, 0, [0, 1], [0, 1], np.eye(2)).p_value == 1


@pytest.mark.parametrize(
    "given", [([1, 2], [1], np.eye(2)), ([1, np.nan], [1, 2], np.eye(2)), ([1], [1], np.eye(2))]
)
def test_what_does_not_fit_together_is_refused(given):
    with pytest.raises(ValueError, match=r"prediction test|shape|values"):
        prediction_test(1, 1, *given)
