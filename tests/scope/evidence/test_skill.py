"""Skill and closeness in skill, by hand."""

import numpy as np
import pytest
from made_up_pools import pool

from scope.evidence.answers import NOT_GIVEN, UNKNOWN
from scope.evidence.skill import closeness, skill


def test_skill_counts_only_answers_that_were_given():
    assert skill(pool([[0, 0, NOT_GIVEN, 1]])).tolist() == [pytest.approx(2 / 3)]


def test_skill_without_right_answers_is_how_often_a_model_is_with_most():
    answers = pool([[0, 1], [0, 2], [3, 2]], gold=UNKNOWN)
    assert skill(answers).tolist() == [0.5, 1.0, 0.5]


def test_equals_share_their_rank():
    near = closeness(np.array([0.5, 0.5, 0.1, 0.9, 0.5]))
    # Ranks 2, 2, 0, 4, 2 of 4.
    assert near[0, 1] == near[0, 4] == 1
    assert near[0, 2] == near[0, 3] == pytest.approx(np.exp(-((0.5 / 0.3) ** 2) / 2))
    assert near[2, 3] == pytest.approx(np.exp(-((1 / 0.3) ** 2) / 2))


def test_closeness_is_in_rank_and_not_in_skill():
    assert (closeness(np.array([0.1, 0.2, 0.3])) == closeness(np.array([0.1, 0.8, 0.9]))).all()


def test_nobody_is_close_to_itself_or_to_a_model_that_answered_nothing():
    near = closeness(np.array([0.5, np.nan, 0.7]))
    assert near.diagonal().tolist() == [0, 0, 0]
    assert near[1].tolist() == near[:, 1].tolist() == [0, 0, 0]
    # The ranks of the two others are those of a pool of two.
    assert near[0, 2] == pytest.approx(np.exp(-((1 / 0.3) ** 2) / 2))


def test_equal_models_are_all_near():
    assert closeness(np.array([0.5, 0.5])).tolist() == [[0, 1], [1, 0]]
    assert closeness(np.array([0.5])).tolist() == [[0]]
