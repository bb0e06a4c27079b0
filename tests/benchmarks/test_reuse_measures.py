"""The simpler measures of likeness, each found by hand on six questions."""

import numpy as np
import pytest
from made_up_pools import pool, random_pool
from reuse_measures import (
    above_consensus,
    consistency_of_errors,
    discrete_capa,
    mistakes_overlap,
    standing_out,
    wrong_agreement,
)

from scope.evidence.answers import NOT_GIVEN

NONE = NOT_GIVEN
# Right is 0 throughout. The first two both err on questions 0 to 2, alike on 0 and 1.
ANSWERS = pool(
    [[1, 1, 2, 0, 3, NONE], [1, 1, 3, 3, NONE, 1], [1, 2, 2, 0, 0, 0], [2, 3, 0, 0, 0, 0]]
)
PAIR = np.array([[0, 1]])


def test_agreement_is_of_the_questions_that_both_have_wrong():
    assert wrong_agreement(ANSWERS, PAIR) == pytest.approx(2 / 3)


def test_overlap_is_of_the_questions_that_either_has_wrong_and_both_answered():
    assert mistakes_overlap(ANSWERS, PAIR) == pytest.approx(2 / 4)


def test_a_mistake_counts_by_how_few_of_the_other_families_make_it():
    # Of the others' mistakes, half are theirs on question 0 and none on question 1.
    found = above_consensus(ANSWERS, PAIR, ["one", "two", "three", "four"])
    assert found == pytest.approx((0.5 + 1 + 0) / 3)


def test_the_consensus_is_that_of_other_families():
    # The third is kin to the first: only the fourth is asked, and it errs otherwise.
    found = above_consensus(ANSWERS, PAIR, ["one", "two", "one", "four"])
    assert found == pytest.approx(2 / 3)


def test_capa_and_error_consistency_look_at_what_both_answered():
    # Of questions 0 to 3 the first has one right and the second none.
    expected = 0.25 * 0 + 1 / 3 * 0.75 * 1
    assert discrete_capa(ANSWERS, PAIR) == pytest.approx((0.5 - expected) / (1 - expected))
    assert consistency_of_errors(ANSWERS, PAIR) == pytest.approx((0.75 - 0.75) / (1 - 0.75))


def test_with_nothing_to_go_by_there_is_no_value():
    answers = pool([[0, 0, NONE], [0, NONE, 1], [0, 1, 2]])
    for measure in (wrong_agreement, mistakes_overlap, discrete_capa, consistency_of_errors):
        assert np.isnan(measure(answers, PAIR)).all()
    assert np.isnan(above_consensus(answers, PAIR, ["one", "two", "three"])).all()


def test_every_measure_is_symmetric():
    answers = random_pool(5, models=6, items=60)
    pairs = np.array([[0, 1], [2, 5], [3, 4]])
    families = ["one", "one", "two", "three", "four", "two"]
    for measure in (
        standing_out,
        wrong_agreement,
        mistakes_overlap,
        discrete_capa,
        consistency_of_errors,
        lambda *given: above_consensus(*given, families),
    ):
        assert measure(answers, pairs) == pytest.approx(measure(answers, pairs[:, ::-1]))
