"""Agreement, the difference of accuracies, and the divergence of probabilities."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from reference import invariance_reference
from scipy.spatial.distance import jensenshannon

from scope.metrics.agreement import (
    accuracy_difference_values,
    agreement_values,
    js_divergence_values,
)
from scope.metrics.arrays import most_probable


@pytest.mark.parametrize("labels", [2, 3, 5])
@pytest.mark.parametrize("seed", range(20))
def test_agreement_and_gap_equal_the_slow_reference(seed, labels):
    generator = np.random.default_rng(seed)
    reference, target = generator.dirichlet(np.ones(labels), size=(2, 50))
    gold = generator.integers(0, labels, size=50)
    chosen = most_probable(reference), most_probable(target)

    agreement = invariance_reference.iid_agreement(reference.tolist(), target.tolist())
    np.testing.assert_allclose(agreement_values(*chosen), agreement, atol=1e-9)
    gap = invariance_reference.iid_accuracy_gap(reference.tolist(), target.tolist(), gold.tolist())
    found = abs(accuracy_difference_values(*chosen, gold).mean())
    np.testing.assert_allclose(found, gap, atol=1e-9)


def test_accuracy_difference_of_one_example_says_who_is_right():
    assert accuracy_difference_values([1], [0], gold=[0]).tolist() == [1]
    assert accuracy_difference_values([0], [1], gold=[0]).tolist() == [-1]


def test_unequal_lengths_and_what_is_no_index_are_refused():
    with pytest.raises(ValueError, match="shapes differ"):
        agreement_values([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match="second"):
        agreement_values([0, 1], [0, -2])


def rows_of(seed, options, n=6):
    return np.random.default_rng(seed).dirichlet(np.full(options, 0.3), size=(2, n))


def test_by_hand():
    # m = (3/4, 1/4): (log2(4/3) + (log2(2/3) + log2(2)) / 2) / 2.
    expected = (np.log2(4 / 3) + (np.log2(2 / 3) + np.log2(2)) / 2) / 2
    assert js_divergence_values([[1, 0]], [[0.5, 0.5]])[0] == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 10_000), st.integers(2, 10))
def test_equals_the_square_of_scipys_distance(seed, options):
    first, second = rows_of(seed, options)
    expected = jensenshannon(first, second, base=2, axis=1) ** 2
    np.testing.assert_allclose(js_divergence_values(first, second), expected, atol=1e-9)


@given(st.integers(0, 10_000), st.integers(2, 10))
def test_keeps_to_its_range_to_either_order_and_to_any_order_of_options(seed, options):
    first, second = rows_of(seed, options)
    values = js_divergence_values(first, second)
    assert ((values >= 0) & (values <= 1)).all()
    np.testing.assert_allclose(values, js_divergence_values(second, first), atol=1e-12)
    order = np.random.default_rng(seed).permutation(options)
    shuffled = js_divergence_values(first[:, order], second[:, order])
    np.testing.assert_allclose(values, shuffled, atol=1e-12)


def test_identical_models_are_not_apart_and_opposite_ones_are_one_bit_apart():
    assert js_divergence_values([[0.2, 0.8]], [[0.2, 0.8]]).tolist() == [0]
    assert js_divergence_values([[1, 0]], [[0, 1]]).tolist() == [1]


def test_options_that_an_item_lacks_change_nothing():
    padded = js_divergence_values([[0.3, 0.7, 0]], [[0.6, 0.4, 0]], options=[2])
    np.testing.assert_array_equal(padded, js_divergence_values([[0.3, 0.7]], [[0.6, 0.4]]))
