"""The scale of all pairs, by hand and by its laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.evidence.standardising import standardise

NO_PAIR = np.nan


def symmetric(seed, models=6):
    table = np.random.default_rng(seed).normal(size=(models, models))
    np.fill_diagonal(table, NO_PAIR)
    return table + table.T


def test_four_models_by_hand():
    excess = np.array([[NO_PAIR, 4, 0, 0], [4, NO_PAIR, 0, 2], [0, 0, NO_PAIR, 0], [0, 2, 0, NO_PAIR]])
    own = np.sqrt([32 / 9, 8 / 3, 0, 8 / 9])
    common = np.sqrt((32 / 9 + 8 / 3 + 8 / 9) / 4)
    own[2] = common / 10
    found = standardise(excess)
    assert found.mean == 1
    scale = 1 / np.sqrt(own * common)
    assert found.values[0, 1] == pytest.approx(3 * (scale[0] + scale[1]) / 2)
    assert found.values[2, 3] == pytest.approx(-(scale[2] + scale[3]) / 2)


@given(st.integers(0, 10_000), st.floats(0.01, 100), st.floats(-10, 10))
def test_unit_and_zero_of_the_excess_do_not_matter(seed, unit, zero):
    before = standardise(symmetric(seed)).values
    after = standardise(symmetric(seed) * unit + zero).values
    assert np.allclose(before, after, equal_nan=True)


@given(st.integers(0, 10_000))
def test_values_are_the_excess_above_the_mean_times_the_factors(seed):
    excess = symmetric(seed)
    found = standardise(excess)
    assert np.allclose(found.values, (excess - found.mean) * found.factors, equal_nan=True)
    assert np.allclose(found.values, found.values.T, equal_nan=True)


def test_a_pair_without_an_excess_counts_for_nothing():
    excess = symmetric(0, models=4)
    alone = np.pad(excess, (0, 1), constant_values=NO_PAIR)
    found = standardise(alone)
    assert np.isnan(found.values[4]).all()
    assert np.allclose(found.values[:4, :4], standardise(excess).values, equal_nan=True)


def test_the_diagonal_counts_for_nothing():
    excess = symmetric(1)
    filled = excess.copy()
    np.fill_diagonal(filled, 99.0)
    assert np.array_equal(standardise(filled).values, standardise(excess).values, equal_nan=True)


def test_a_model_with_one_pair_takes_the_common_scale():
    excess = np.pad(symmetric(2, models=4), (0, 1), constant_values=NO_PAIR)
    excess[4, 0] = excess[0, 4] = 1.0
    own = np.nanstd(excess[:4], axis=1)
    common = np.sqrt((own**2).mean())
    factors = standardise(excess).factors
    assert factors[4, 0] == pytest.approx((1 / common + 1 / np.sqrt(own[0] * common)) / 2)


@pytest.mark.parametrize("models", [2, 3, 5])
def test_pairs_that_are_all_alike_stand_out_by_nothing(models):
    excess = np.full((models, models), 0.1 + 0.2)
    np.fill_diagonal(excess, NO_PAIR)
    values = standardise(excess).values
    assert (values[~np.eye(models, dtype=bool)] == 0).all()


def test_no_pairs_give_no_numbers():
    for models in (0, 1, 3):
        found = standardise(np.full((models, models), NO_PAIR))
        assert np.isnan(found.values).all()
        assert found.values.shape == (models, models)
