"""The expectation of an independent model, by hand."""

import numpy as np
import pytest
from made_up_pools import pool

from scope.evidence.answers import NOT_GIVEN
from scope.evidence.consensus import (
    chances,
    control_weights,
    effective_counts,
    leaving_out,
    rows_to_fit,
)
from scope.evidence.following import Fit
from scope.evidence.option_blocks import option_blocks

ORDINARY = Fit(consensus=1.0, right=0.0, gain=0.0)


def related(*pairs, models=4):
    found = np.zeros((models, models), dtype=np.bool_)
    for one, other in pairs:
        found[one, other] = found[other, one] = True
    return found


def test_a_family_counts_about_once_and_its_members_do_not_count_for_each_other():
    weights = control_weights(np.full(4, 0.5), related((1, 2), (1, 3), (2, 3)))
    assert weights[0] == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3])
    assert weights[1] == pytest.approx([1, 0, 0, 0])


def test_each_model_and_its_kin_are_left_out_of_what_is_expected_of_its_answers():
    found = leaving_out(np.array([0.0, 1, 2, 3]), related((2, 3)))
    assert found.tolist() == [[0, 1, 2, 3], [0, 0, 2, 3], [0, 1, 0, 0], [0, 1, 0, 0]]


def test_counts_do_not_depend_on_the_scale_of_the_weights():
    weights = np.array([0.2, 0.7, 0.1])
    assert effective_counts(weights) == pytest.approx(effective_counts(40 * weights))
    assert effective_counts(weights).sum() == pytest.approx(1 / 0.54)


def test_chances_are_smoothed_frequencies_for_an_ordinary_model():
    # Three controls choose 1, 1 and 2 of five options; 0 is right and nobody's. Model 0 gave 3.
    (block,) = option_blocks(pool([[3], [1], [1], [2]], options=5))
    counts = np.tile([0.0, 1, 1, 1], (4, 1))
    who, where = np.arange(4), np.zeros(4, dtype=np.intp)
    found = chances(block, counts, ORDINARY, who, where)
    assert found == pytest.approx(np.array([0.2, 2.2, 2.2, 1.2]) / 4)


def test_chances_follow_s_and_t():
    (block,) = option_blocks(pool([[0], [1], [1], [2]], options=5))
    counts = np.tile([0.0, 1, 1, 1], (4, 1))
    found = chances(block, counts, Fit(0.5, 1.0, 0.0), np.array([0, 1]), np.zeros(2, dtype=np.intp))
    right, most, one, none = np.e * 0.2**0.5, 2.2**0.5, 1.2**0.5, 0.2**0.5
    assert found == pytest.approx(np.array([right, most]) / (right + most + one + 2 * none))


def test_chances_without_controls_are_alike_for_all_options():
    (block,) = option_blocks(pool([[1], [1]], options=8))
    found = chances(block, np.zeros((2, 2)), ORDINARY, np.array([0]), np.array([0]))
    assert found.tolist() == [pytest.approx(1 / 8)]


def test_nothing_is_held_to_be_impossible_or_certain():
    (block,) = option_blocks(pool([[1], [2], [2]], options=3))
    counts = np.tile([0.0, 500, 500], (3, 1))
    found = chances(block, counts, ORDINARY, np.array([0, 1]), np.array([0, 0]))
    assert found.tolist() == [0.005, 0.995]


def test_a_fit_sees_only_what_the_model_answered():
    answers = pool([[1, NOT_GIVEN, 0], [1, 1, 2], [1, 2, NOT_GIVEN]], options=4)
    (block,) = option_blocks(answers)
    rows = rows_to_fit(block, np.array([0.0, 1.0, 1.0]), 0)
    assert block.items.tolist() == [0, 2, 1]
    assert np.exp(rows.log_frequencies).round(9).tolist() == [
        [0.25, 2.25, 0.25, 0.25],
        [0.25, 1.25, 0.25, 0.25],
    ]
    assert rows.chosen.tolist() == [[0, 1, 0, 0], [1, 0, 0, 0]]
    assert rows.share.tolist() == [0.25, 0.25]
