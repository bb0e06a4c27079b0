"""Concordance and reach: cases by hand and properties."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from scope.metrics.invariance import concordance_values, moves, reach

move = st.floats(-5, 5).map(lambda one: round(one, 3))
pairs = arrays(float, (6, 2), elements=move)


def test_the_runner_up_is_the_references_and_its_odds_are_the_models():
    reference, clean, changed = [[0.1, 0.6, 0.3]], [[0.5, 0.3, 0.2]], [[0.5, 0.1, 0.4]]
    wanted = math.log(0.4 / 0.1) - math.log(0.2 / 0.3)
    assert moves(reference, clean, changed) == pytest.approx([wanted])


def test_probabilities_of_nothing_are_clipped():
    assert moves([[1.0, 0.0]], [[1.0, 0.0]], [[0.0, 1.0]]) == pytest.approx([2 * math.log(1e6)])


def test_the_mass_of_other_tokens_is_no_runner_up():
    rows = [[0.3, 0.1, 0.6]], [[0.3, 0.1, 0.6]], [[0.2, 0.2, 0.6]]
    assert moves(*rows, open_vocabulary=True) == pytest.approx([math.log(3)])
    alone = [[0.7, 0.3]]
    assert moves(alone, alone, alone, open_vocabulary=True).tolist() == [0.0]


@given(pairs)
def test_the_reference_agrees_with_itself_wherever_a_pair_counts(reference):
    values = concordance_values(reference, reference)
    assert set(values[~np.isnan(values)]) <= {1.0}


@given(pairs, pairs, st.floats(0.5, 4), st.floats(-3, 3))
def test_shift_and_scale_of_the_targets_moves_change_nothing(reference, target, scale, shift):
    wanted = concordance_values(reference, target)
    found = concordance_values(reference, target * scale + shift)
    np.testing.assert_array_equal(found, wanted)


@given(arrays(float, 8, elements=move), st.floats(-2, 2))
def test_reach_is_the_slope_of_a_line(reference, slope):
    found = reach(reference, slope * reference, list("aabbccdd"))
    if found is None:
        assert np.abs(reference).max() < 1e-6
        return
    assert found.values == pytest.approx([slope] * 4)


def test_the_values_of_reach_have_the_error_of_a_ratio_with_the_weight_of_each_text():
    reference, target = np.array([1.0, 2.0, -1.0, 3.0]), np.array([0.5, 2.5, 0.0, 2.0])
    found = reach(reference, target, list("aabc"))
    # The 80th percentile of 1, 1, 2 and 3 is 2.4, so that both moves of c weigh 2.4 / 3.
    both, squares = np.array([5.5, 0.0, 2.4 * 1.6]), np.array([5.0, 1.0, 2.4**2])
    slope = both.sum() / squares.sum()
    assert found.slope == pytest.approx(slope)
    influence = (both - slope * squares) / (1 - squares / squares.sum()) ** 2
    centred = 3 * (influence - influence.mean()) / squares.sum()
    assert found.values == pytest.approx(slope + centred)


@pytest.mark.parametrize("times", [0.0, 0.5, 1.0, 2.0, 3.0])
def test_moves_some_times_as_far_have_that_reach(times):
    reference = np.random.default_rng(0).standard_t(3, 400)
    found = reach(reference, times * reference, list(map(str, np.arange(400) // 4)))
    assert found.slope == pytest.approx(times)


def test_a_reference_that_never_moves_has_no_reach():
    assert reach([0.0, 0.0], [1.0, 2.0], ["a", "b"]) is None
