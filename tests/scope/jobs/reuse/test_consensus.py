"""The expectation of an independent model, by hand."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from made_up_pools import pool, random_pool, skilled_pool
from scipy.stats import chi2

from scope.jobs.reuse.pool import NOT_GIVEN, option_blocks
from scope.jobs.reuse.shared_mistakes import (
    FEWEST_FOR_KIN,
    Fit,
    FitRows,
    closeness,
    fit,
    guessing_p_value,
    kin,
    pairwise_kappa,
    shared_mistakes,
    skill,
)
from scope.metrics.agreement import capa_discrete


def test_equals_share_their_rank():
    near = closeness(np.array([0.5, 0.5, 0.1, 0.9, 0.5]))
    # Ranks 2, 2, 0, 4, 2 of 4.
    assert near[0, 1] == near[0, 4] == 1
    assert near[0, 2] == near[0, 3] == pytest.approx(np.exp(-((0.5 / 0.3) ** 2) / 2))
    assert near[2, 3] == pytest.approx(np.exp(-((1 / 0.3) ** 2) / 2))


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
@example(3826)  # below -1 if it is not cut off
def test_kappa_of_a_pair_is_discrete_capa_of_what_was_put_to_both(seed):
    answers = random_pool(seed, missing=0.3)
    kappas = pairwise_kappa(answers, option_blocks(answers))
    for one in range(len(kappas)):
        for other in range(len(kappas)):
            both = answers.asked[one] & answers.asked[other]
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
    found = [kin_of(skilled_pool(seed, models=20)).sum() // 2 for seed in range(5)]
    # Of 190 pairs, three standard deviations leave a quarter of one.
    assert sum(found) < 5


def test_a_family_is_kin_and_nobody_else_is():
    found = kin_of(copying(skilled_pool(0, models=15), share=0.6, of=3, to=(7, 8)))
    assert sorted(map(tuple, np.argwhere(np.triu(found)))) == [(3, 7), (3, 8), (7, 8)]
    assert (found == found.T).all()
    assert not found.diagonal().any()


@pytest.mark.parametrize("models", [FEWEST_FOR_KIN - 1, FEWEST_FOR_KIN])
def test_a_small_pool_has_no_kin(models):
    found = kin_of(copying(skilled_pool(0, models=models), share=1, of=0, to=(1,)))
    assert found.any() == (models == FEWEST_FOR_KIN)


@pytest.mark.parametrize(
    "rows", [np.zeros((9, 5)), np.ones((9, 5)), np.full((9, 5), NOT_GIVEN), np.eye(9, 9) - 1]
)
def test_pools_without_differences_have_no_kin(rows):
    # The last: all models answered one question, and no two the same.
    assert not kin_of(pool(rows)).any()


OPTIONS = 4


def made_up_rows(consensus, right, *, items=20_000, answers=None):
    generator = np.random.default_rng(0)
    logs = np.log(generator.dirichlet(np.full(OPTIONS, 0.8), size=items) + 1e-3)
    gold = np.eye(OPTIONS)[generator.integers(0, OPTIONS, size=items)]
    weights = np.exp(consensus * logs + right * gold)
    shares = (weights / weights.sum(axis=1, keepdims=True)).cumsum(axis=1)
    drawn = (generator.random((items, 1)) > shares[:, :-1]).sum(axis=1)
    chosen = np.eye(OPTIONS)[drawn if answers is None else answers]
    return FitRows(logs, np.ones((items, OPTIONS)), gold, chosen, np.full(items, 1 / OPTIONS))


@pytest.mark.parametrize(("consensus", "right"), [(1, 0), (0, 0), (0.4, 2), (1.6, -1)])
def test_the_fit_finds_what_a_made_up_model_follows(consensus, right):
    found = fit([made_up_rows(consensus, right)])
    assert found.consensus == pytest.approx(consensus, abs=0.05)
    assert found.right == pytest.approx(right, abs=0.08)


def test_a_model_that_is_always_right_has_a_finite_fit():
    rows = made_up_rows(0, 0, items=1000)
    found = fit([rows._replace(chosen=rows.right)])
    assert 5 < found.right < 15
    assert found.gain == pytest.approx(np.log(OPTIONS), abs=0.01)


def test_the_gain_is_the_log_probability_above_that_of_guessing():
    rows = made_up_rows(1, 1, items=50)
    found = fit([rows])
    weights = np.exp(found.consensus * rows.log_frequencies + found.right * rows.right)
    chances = (weights * rows.chosen).sum(axis=1) / weights.sum(axis=1)
    assert found.gain == pytest.approx(np.log(chances * OPTIONS).mean())


def test_the_p_value_is_the_tail_of_chi_square():
    for gain, examples in ((0.0, 30), (0.01, 200), (0.2, 40)):
        fitted = Fit(consensus=1.0, right=0.0, gain=gain)
        expected = chi2.sf(2 * gain * examples, 2)
        assert guessing_p_value(fitted, examples) == pytest.approx(expected)


def pool_with(row, *, seed=0, models=12):
    answers = skilled_pool(seed, models=models, items=200, options=5)
    rows = answers.answers.copy()
    rows[1] = row
    return replace(answers, answers=rows)


def p_values(answers):
    return [guessing_p_value(fitted, 200) for fitted in shared_mistakes(answers).fits]


def test_skilled_models_follow_something():
    assert max(p_values(skilled_pool(0, items=200))) < 1e-9


@pytest.mark.parametrize("constant", [0, 4])
def test_a_constant_answerer_follows_nothing(constant):
    answers = pool_with(constant)
    assert p_values(answers)[1] > 0.05
    assert abs(shared_mistakes(answers).fits[1].consensus) < 0.3


def test_guessers_are_seldom_held_to_follow_something():
    generator = np.random.default_rng(99)
    found = [
        p_values(pool_with(generator.integers(0, 5, size=200), seed=seed))[1] for seed in range(30)
    ]
    # Of 30, 1.5 are expected; more than 5 are so with a probability of 0.3 %.
    assert sum(p < 0.05 for p in found) <= 5
