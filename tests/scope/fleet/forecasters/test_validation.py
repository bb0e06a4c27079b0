"""What texts are worth, on made-up forecasts: helpful, useless, harmful and too bold ones."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize_scalar

from scope.errors import SpecError
from scope.fleet.forecasters.text_factors import predict_by_factors
from scope.fleet.forecasters.validation import (
    LeftOutForecasts,
    calibration_slope,
    left_out_forecasts,
    question_folds,
    question_numbers,
    route_weight,
    route_weights,
    text_helps,
)
from scope.fleet.layout import QuestionLayout

LAYOUT = QuestionLayout(vector=2, features=("words",))


@given(st.integers(2, 60), st.integers(2, 60), st.integers(0, 1000))
def test_every_fold_has_as_many_questions_as_any_other_or_one_more(questions, folds, seed):
    folds = min(questions, folds)
    sizes = np.bincount(question_folds(np.arange(questions), folds, seed))
    assert len(sizes) == folds
    assert sizes.max() - sizes.min() <= 1


def test_without_twins_the_draw_is_the_one_that_published_numbers_were_made_with():
    table = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
    found = question_folds(question_numbers(table, LAYOUT), 5, seed=3)
    drawn = np.random.default_rng([3, 0xF01D]).permutation(50) % 5
    assert found.tobytes() == drawn.tobytes()


@given(st.lists(st.integers(0, 9), min_size=2, max_size=40), st.integers(0, 100))
def test_rows_of_one_vector_are_in_one_fold(kinds, seed):
    vectors = np.array([[0.5, kind] for kind in kinds], dtype=np.float32)
    # What else is known of a row does not part it from its twins.
    table = np.column_stack([vectors, np.arange(len(kinds))]).astype(np.float32)
    numbers = question_numbers(table, LAYOUT)
    assert len(set(zip(numbers.tolist(), kinds, strict=True))) == len(set(kinds))
    assert len(np.unique(numbers)) == len(set(kinds))
    if len(set(kinds)) > 1:
        folds = question_folds(numbers, 2, seed)
        assert set(folds.tolist()) == {0, 1}
        assert len(set(zip(folds.tolist(), kinds, strict=True))) == len(set(kinds))


@pytest.mark.parametrize(
    ("numbers", "folds"), [([0, 1, 2], 5), ([0, 1, 2], 1), ([0], 2), ([0, 1, 0, 1], 3)]
)
def test_folds_that_cannot_be_are_refused_with_both_numbers(numbers, folds):
    different = len(set(numbers))
    with pytest.raises(SpecError, match=f"{folds} folds of {different} different questions"):
        question_folds(np.array(numbers), folds, 0)


def trial(signal, questions=200, models=4, seed=0):
    """Answers that a text term of the given strength predicts, and skills that predict none."""
    generator = np.random.default_rng(seed)
    text = np.clip(generator.normal(0, 0.2, size=(questions, models)), -0.45, 0.45)
    answers = generator.random((questions, models)) < 0.5 + signal * text
    means = np.full(text.shape, 0.5, dtype=np.float32)
    return LeftOutForecasts(answers.astype(np.float32), means, (means + text).astype(np.float32))


def test_texts_that_predict_help_and_texts_that_mislead_do_not():
    assert text_helps(trial(1.0), 0.5)
    assert not text_helps(trial(0.0), 0.5)
    assert not text_helps(trial(-1.0), 0.5)


def test_a_gain_must_exceed_its_doubt():
    few = trial(1.0, questions=30)
    assert text_helps(few, 0.5)
    assert not text_helps(few, 50.0)


def test_better_probabilities_that_decide_nothing_do_not_count():
    answers = np.tile(np.float32([[1, 0]]), (50, 1))
    means = np.tile(np.float32([[0.7, 0.3]]), (50, 1))
    assert not text_helps(LeftOutForecasts(answers, means, answers), 0.5)


def test_the_slope_is_that_of_the_likeliest_logistic_curve():
    found = trial(0.7)
    away, right = (found.forecasts - 0.5).ravel(), found.answers.ravel()

    def loss(slope):
        return np.logaddexp(0, -slope * away * (2 * right - 1)).sum() + slope**2 / 2

    expected = minimize_scalar(loss, bounds=(0, 20), method="bounded").x
    slope = calibration_slope(found, np.random.default_rng(0))
    assert slope == pytest.approx(expected, abs=1e-3)


def test_a_slope_does_not_see_unknown_answers():
    found = trial(0.7)
    found.answers[::2] = np.nan
    half = LeftOutForecasts(*(part[1::2] for part in found[:3]))
    slopes = [calibration_slope(one, np.random.default_rng(0)) for one in (found, half)]
    assert slopes[0] == pytest.approx(slopes[1], abs=1e-6)


def test_a_router_goes_by_the_text_only_where_it_beats_the_single_best():
    assert route_weight(trial(1.0), 0.5) > 0
    assert route_weight(trial(-1.0), 0.5) == 0
    assert route_weight(trial(1.0), 100.0) == 0


def test_a_category_in_which_the_text_does_harm_goes_by_skill_alone():
    good, bad = trial(1.0), trial(-1.0)
    both = LeftOutForecasts(*(np.concatenate(pair) for pair in zip(good[:3], bad[:3], strict=True)))
    size = len(good.answers)
    # Twice as many questions on which the text serves, so that it does so over all.
    more = LeftOutForecasts(*(np.concatenate([part, part[:size]]) for part in both[:3]))
    codes = np.repeat([0, 1, -1], size)
    weights = route_weights(more, codes, 2, 0.5)
    assert weights[0] == weights[2] == route_weight(more, 0.5) > 0
    assert weights[1] == 0
    assert route_weights(more, codes, 2, 100.0).tolist() == [0, 0, 0]


def test_a_router_asks_nobody_whose_answer_is_unknown():
    answers = np.float32([[np.nan, 1, 0], [np.nan, 0, 1]] * 20)
    means = np.tile(np.float32([[0.9, 0.6, 0.5]]), (40, 1))
    forecasts = np.where(np.isnan(answers), 2, np.nan_to_num(answers)).astype(np.float32)
    assert route_weight(LeftOutForecasts(answers, means, forecasts), 0.5) == 1


def test_left_out_questions_tell_nothing_about_their_own_forecasts():
    predict = partial(predict_by_factors, dimensions=2, guard=0.5)
    generator = np.random.default_rng(0)
    inputs = generator.normal(size=(40, 3)).astype(np.float32)
    answers = generator.integers(0, 2, size=(40, 5)).astype(np.float32)
    folds = np.arange(40) % 4
    changed = answers.copy()
    changed[folds == 1] = 1 - changed[folds == 1]
    first, second = (
        left_out_forecasts(inputs, given, np.arange(40), folds, predict)
        for given in (answers, changed)
    )
    assert (first.forecasts[folds == 1] == second.forecasts[folds == 1]).all()
    assert (first.means[folds == 1] == second.means[folds == 1]).all()
    assert not (first.means[folds == 0] == second.means[folds == 0]).all()


def test_questions_that_nobody_answered_are_left_aside():
    answers = np.float32([[1, 0], [np.nan, np.nan], [0, 1], [1, np.nan]])
    predict = partial(predict_by_factors, dimensions=1, guard=0.5)
    rows, inputs = np.arange(4), np.eye(4, dtype=np.float32)
    found = left_out_forecasts(inputs, answers, rows, rows % 2, predict)
    assert found.numbers.tolist() == [0, 2, 3]
    assert found.answers.shape == found.forecasts.shape == (3, 2)


@pytest.mark.parametrize("seed", range(6))
def test_rows_of_one_question_are_no_surer_than_one_row(seed):
    found = trial(0.3, questions=40, seed=seed)
    rows = np.tile(np.arange(40), 9)
    twins = LeftOutForecasts(*(np.tile(part, (9, 1)) for part in found[:3]), rows)
    for guard in (0.5, 1.0, 2.0, 4.0):
        assert text_helps(twins, guard) == text_helps(found, guard)
        assert route_weight(twins, guard) == route_weight(found, guard)
