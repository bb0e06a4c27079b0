"""Kinship: κ of all pairs against the metric, and who is found to be kin."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_pools import pool, random_pool, skilled_pool

from scope.evidence.answers import NOT_GIVEN
from scope.evidence.kinship import FEWEST_FOR_KIN, kin, pairwise_kappa
from scope.evidence.option_blocks import option_blocks
from scope.evidence.skill import skill
from scope.metrics.consistency import capa_discrete


def kin_of(answers):
    return kin(answers, option_blocks(answers), skill(answers))


def with_rows(answers, rows):
    return replace(answers, answers=np.asarray(rows, dtype=np.int64))


def copying(answers, *, share, of, to):
    rows = answers.answers.copy()
    copied = np.random.default_rng(0).random(rows.shape[1]) < share
    for one in to:
        rows[one, copied] = rows[of, copied]
    return with_rows(answers, rows)


@given(st.integers(0, 10_000))
def test_kappa_of_a_pair_is_discrete_capa_of_what_both_answered(seed):
    answers = random_pool(seed, missing=0.3)
    kappas = pairwise_kappa(answers, option_blocks(answers))
    for one in range(len(kappas)):
        for other in range(len(kappas)):
            both = answers.given[one] & answers.given[other]
            told = capa_discrete(
                answers.answers[one, both],
                answers.answers[other, both],
                right=answers.gold[both],
                options=answers.options[both],
            )
            if not both.any():
                assert np.isnan(kappas[one, other])
            else:
                assert kappas[one, other] == pytest.approx(told.value or 0.0, abs=1e-6)


def test_independent_models_are_no_kin():
    found = [kin_of(skilled_pool(seed, models=20)).sum() // 2 for seed in range(10)]
    # Of 190 pairs, three standard deviations leave a quarter of one.
    assert sum(found) < 10


def test_a_family_is_kin_and_nobody_else_is():
    found = kin_of(copying(skilled_pool(0, models=15), share=0.6, of=3, to=(7, 8)))
    assert sorted(map(tuple, np.argwhere(np.triu(found)))) == [(3, 7), (3, 8), (7, 8)]
    assert (found == found.T).all()
    assert not found.diagonal().any()


@pytest.mark.parametrize("models", [FEWEST_FOR_KIN - 1, FEWEST_FOR_KIN])
def test_a_small_pool_has_no_kin(models):
    found = kin_of(copying(skilled_pool(0, models=models), share=1, of=0, to=(1,)))
    assert found.any() == (models == FEWEST_FOR_KIN)


def test_a_model_that_answered_nothing_does_not_make_a_pool_large():
    answers = copying(skilled_pool(0, models=FEWEST_FOR_KIN), share=1, of=0, to=(1,))
    rows = answers.answers.copy()
    rows[5] = NOT_GIVEN
    assert not kin_of(with_rows(answers, rows)).any()


def test_two_skilled_models_are_no_kin_for_being_right():
    answers = skilled_pool(0, models=12)
    rows = answers.answers.copy()
    generator = np.random.default_rng(1)
    for one in (2, 5):
        rows[one] = np.where(generator.random(rows.shape[1]) < 0.9, answers.gold, rows[one])
    assert not kin_of(with_rows(answers, rows))[2, 5]


@pytest.mark.parametrize(
    "rows", [np.zeros((9, 5)), np.ones((9, 5)), np.full((9, 5), NOT_GIVEN), np.eye(9, 9) - 1]
)
def test_pools_without_differences_have_no_kin(rows):
    # The last: everybody answered one question, and no two the same.
    assert not kin_of(pool(rows)).any()
