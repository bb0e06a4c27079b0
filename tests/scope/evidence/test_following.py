"""What a model follows: a made-up model's s and t, and who is no better than a guesser."""

from dataclasses import replace

import numpy as np
import pytest
from made_up_pools import skilled_pool
from scipy.stats import chi2

from scope.evidence.answers import NOT_GIVEN
from scope.evidence.following import FitRows, Following, fit, follows_nothing
from scope.evidence.shared_mistakes import shared_mistakes

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


def test_questions_may_come_in_any_number_of_blocks():
    rows = made_up_rows(0.5, 1, items=90)
    cut = [FitRows(*(table[part] for table in rows)) for part in (slice(0, 31), slice(31, 90))]
    assert fit(cut) == pytest.approx(fit([rows]))


def test_a_column_for_many_options_is_as_many_columns():
    rows = made_up_rows(0.5, 1, items=60)
    logs = rows.log_frequencies.copy()
    logs[:, 2] = logs[:, 3]
    chosen = np.eye(OPTIONS)[np.arange(60) % 2]
    gold = np.eye(OPTIONS)[np.arange(60) % 3 % 2]
    apart = FitRows(logs, rows.options, gold, chosen, rows.share)
    together = FitRows(
        logs[:, :3], np.array([[1.0, 1, 2]] * 60), gold[:, :3], chosen[:, :3], rows.share
    )
    assert fit([together]) == pytest.approx(fit([apart]))


def test_a_model_without_answers_is_taken_for_an_ordinary_one():
    assert fit([]) == (1, 0, 0)


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
    gains, units = np.array([0.0, 0.01, 0.2]), np.array([30.0, 200.0, 40.0])
    found = follows_nothing(Following(gains, gains, gains, units))
    assert found == pytest.approx(chi2.sf(2 * gains * units, 2))


def pool_with(row, *, seed=0, models=12):
    answers = skilled_pool(seed, models=models, items=200, options=5)
    rows = answers.answers.copy()
    rows[1] = row
    return replace(answers, answers=rows)


def p_values(answers):
    return follows_nothing(shared_mistakes(answers).following)


def test_skilled_models_follow_something():
    assert (p_values(skilled_pool(0)) < 1e-9).all()


@pytest.mark.parametrize("constant", range(5))
def test_a_constant_answerer_follows_nothing(constant):
    found = shared_mistakes(pool_with(constant)).following
    assert follows_nothing(found)[1] > 0.05
    assert abs(found.consensus[1]) < 0.3


def test_guessers_are_seldom_held_to_follow_something():
    generator = np.random.default_rng(99)
    found = [
        p_values(pool_with(generator.integers(0, 5, size=200), seed=seed))[1] for seed in range(60)
    ]
    # Of 60, 3 are expected; more than 8 are so with a probability of 0.4 %.
    assert sum(p < 0.05 for p in found) <= 8


def test_a_guesser_whose_guess_holds_for_a_whole_example_gets_no_credit_for_repeating_it():
    small = []
    generator = np.random.default_rng(99)
    for seed in range(30):
        answers = skilled_pool(seed, models=10, items=50, options=3)
        answers = replace(
            answers,
            **{
                field: np.repeat(getattr(answers, field), 6, axis=-1)
                for field in ("answers", "options", "gold", "units")
            },
        )
        answers.answers[1] = np.repeat(generator.integers(0, 3, size=50), 6)
        small.append(p_values(answers)[1] < 0.05)
    assert sum(small) <= 5


def test_a_model_that_answered_nothing_follows_nothing():
    found = shared_mistakes(pool_with(NOT_GIVEN)).following
    assert np.isnan(found.consensus[1])
    assert found.units[1] == 0
    assert follows_nothing(found)[1] == 1
