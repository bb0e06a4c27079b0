"""Selection of a forecaster, and of the weight of texts, by cross-validation."""

import numpy as np
import pytest
import toy_fleet
from hypothesis import given, strategies as st
from scipy.optimize import minimize_scalar

from scope.jobs.fleet.forecaster import Forecaster, NeighbourForecaster
from scope.jobs.fleet.questions import QuestionLayout
from scope.jobs.fleet.selection import (
    LeftOutForecasts,
    calibration_slope,
    choose,
    question_folds,
    route_weight,
    route_weights,
    text_helps,
)
from scope.jobs.fleet.text_factors import TextFactors


def trial(signal, questions=200, models=4, seed=0):
    """Answers that a text term of the given strength predicts, and skills that predict none."""
    generator = np.random.default_rng(seed)
    text = np.clip(generator.normal(0, 0.2, size=(questions, models)), -0.45, 0.45)
    answers = generator.random((questions, models)) < 0.5 + signal * text
    means = np.full(text.shape, 0.5, dtype=np.float32)
    forecasts = (means + text).astype(np.float32)
    return LeftOutForecasts(answers.astype(np.float32), means, forecasts, np.arange(questions))


BOLD = LeftOutForecasts(
    np.tile(np.float32([[1, 0]]), (50, 1)),
    np.tile(np.float32([[0.7, 0.3]]), (50, 1)),
    np.tile(np.float32([[1, 0]]), (50, 1)),
    np.arange(50),
)


@pytest.mark.parametrize(
    ("forecasts", "guard", "helps"),
    [
        (trial(1.0), 0.5, True),
        (trial(0.0), 0.5, False),
        (trial(-1.0), 0.5, False),
        (trial(1.0), 100.0, False),
        # Better probabilities that decide nothing do not count.
        (BOLD, 0.5, False),
    ],
)
def test_texts_help_where_their_gain_exceeds_its_doubt(forecasts, guard, helps):
    assert text_helps(forecasts, guard) is helps


@pytest.mark.parametrize(
    ("signal", "guard", "used"), [(1.0, 0.5, True), (-1.0, 0.5, False), (1.0, 100.0, False)]
)
def test_a_router_goes_by_the_text_only_where_it_beats_the_single_best(signal, guard, used):
    assert (route_weight(trial(signal), guard) > 0) is used


def test_the_slope_is_that_of_the_likeliest_logistic_curve_of_known_answers():
    found = trial(0.7)
    found.answers[::2] = np.nan
    away, right = (found.forecasts[1::2] - 0.5).ravel(), found.answers[1::2].ravel()

    def loss(slope):
        return np.logaddexp(0, -slope * away * (2 * right - 1)).sum() + slope**2 / 2

    expected = minimize_scalar(loss, bounds=(0, 20), method="bounded").x
    slope = calibration_slope(found, np.random.default_rng(0))
    assert slope == pytest.approx(expected, abs=1e-3)


def test_a_category_in_which_the_text_does_harm_goes_by_skill_alone():
    good, bad = trial(1.0), trial(-1.0)
    size = len(good.answers)
    # Twice as many questions on which the text serves, so that it does so over all.
    parts = (
        np.concatenate([one, other, one]) for one, other in zip(good[:3], bad[:3], strict=True)
    )
    more = LeftOutForecasts(*parts, np.arange(3 * size))
    codes = np.repeat([0, 1, -1], size)
    weights = route_weights(more, codes, 2, 0.5)
    assert weights[0] == weights[2] == route_weight(more, 0.5) > 0
    assert weights[1] == 0
    assert route_weights(more, codes, 2, 100.0).tolist() == [0, 0, 0]


def test_a_router_asks_nobody_whose_answer_is_unknown():
    answers = np.float32([[np.nan, 1, 0], [np.nan, 0, 1]] * 20)
    means = np.tile(np.float32([[0.9, 0.6, 0.5]]), (40, 1))
    forecasts = np.where(np.isnan(answers), 2, np.nan_to_num(answers)).astype(np.float32)
    assert route_weight(LeftOutForecasts(answers, means, forecasts, np.arange(40)), 0.5) == 1


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_one_question_are_no_surer_than_one_row(seed):
    found = trial(0.3, questions=40, seed=seed)
    rows = np.tile(np.arange(40), 9)
    twins = LeftOutForecasts(*(np.tile(part, (9, 1)) for part in found[:3]), rows)
    for guard in (0.5, 1.0, 2.0, 4.0):
        assert text_helps(twins, guard) == text_helps(found, guard)
        assert route_weight(twins, guard) == route_weight(found, guard)


NAN = np.nan


def knn(neighbours):
    return NeighbourForecaster(layout=toy_fleet.LAYOUT, neighbours=neighbours)


def fleet(**parameters):
    return toy_fleet.fleet(**{"questions": 200, "models": 20, **parameters})


def test_the_best_on_questions_left_out_is_chosen_and_fitted_on_all():
    table, answers = fleet()
    choice = choose([knn(150), knn(9)], table, answers)
    assert choice.forecaster.spelling == "knn(neighbours=9)"
    fitted = knn(9).fit(table, answers)
    assert choice.forecaster.predict_proba(table).tobytes() == (
        fitted.predict_proba(table).tobytes()
    )
    assert [one.chosen for one in choice.scores] == [False, False, True]


def test_probabilities_are_those_of_fits_without_the_question():
    table, answers = fleet()
    choice = choose([knn(9)], table, answers, folds=3, seed=5)
    folds = question_folds(np.arange(len(table)), 3, seed=5)
    for fold in range(3):
        fitted = knn(9).fit(table[folds != fold], answers[folds != fold])
        found = choice.probabilities[folds == fold]
        assert found.tobytes() == fitted.predict_proba(table[folds == fold]).tobytes()


def test_where_nothing_is_gained_the_mean_is_kept_unless_a_forecaster_is_asked_for():
    table, answers = fleet(seed=1)
    shuffled = np.random.default_rng(0).permutation(answers)
    assert choose([knn(9), knn(31)], table, shuffled).forecaster.spelling == "mean"
    choice = choose([knn(20)], table, shuffled, listed_alone=True)
    assert choice.forecaster.spelling == "knn(neighbours=20)"
    assert [one.chosen for one in choice.scores] == [False, True]


class Telling(Forecaster):
    """Knows all answers, which stand in the table, but for those to some questions."""

    short_name = "telling"
    state = ()

    def __init__(self, *, layout, missed=()):
        self.layout = layout
        self.missed = missed

    def _fit(self, table, answers):
        pass

    def _probabilities(self, table):
        wrong = np.isin(table[:, 2:3], self.missed)
        return np.where(wrong, 1 - table[:, :2], table[:, :2])


@pytest.mark.parametrize(
    ("ahead", "behind", "chosen"),
    [
        # A gain of 0.02 with a standard error of 0.034, half of which is less.
        (7, 5, "telling"),
        # 0.02 with a standard error of 0.053, half of which is more.
        (15, 13, "mean"),
    ],
)
def test_the_mean_is_kept_unless_the_gain_exceeds_half_a_standard_error(ahead, behind, chosen):
    """One model is right about 90 questions of 100, which is what its mean predicts."""
    truth = np.ones((100, 2), dtype=np.float32)
    truth[:20] = 0
    table = np.column_stack([truth, np.arange(100)]).astype(np.float32)
    # It misses all wrong answers but ``ahead``, as the mean does, and ``behind`` right ones.
    missed = (*range(ahead, 20), *range(20, 20 + behind))
    telling = Telling(layout=QuestionLayout(vector=3), missed=missed)
    choice = choose([telling], table, truth)
    assert choice.scores[1].gain.value == pytest.approx((ahead - behind) / 100)
    assert choice.forecaster.short_name == chosen


def test_a_text_under_several_ids_is_left_out_as_one():
    generator = np.random.default_rng(0)
    table = np.repeat(generator.standard_normal((200, 4)), 4, axis=0)
    coins = generator.integers(0, 2, size=(200, 8))
    answers = np.repeat(coins, 4, axis=0).astype(np.float32)
    for candidate in (knn(4), TextFactors(layout=toy_fleet.LAYOUT, dimensions=2)):
        choice = choose([candidate], table, answers)
        # Nothing can be known of a coin; by its twin all of it would be.
        assert choice.scores[1].accuracy.value < 0.6
        assert choice.scores[1].gain.value < 0.05
    once = choose([knn(4)], table[::4], answers[::4]).scores[0]
    four = choose([knn(4)], table, answers).scores[0]
    # Four rows of one question tell no more than one does.
    assert four.accuracy.n == once.accuracy.n == 200
    widths = [one.accuracy.high - one.accuracy.low for one in (once, four)]
    assert widths[1] == pytest.approx(widths[0], rel=0.05)


@given(st.integers(0, 50))
def test_unknown_answers_do_not_matter_where_a_fold_has_none_of_a_model(seed):
    table, answers = fleet(questions=30, models=5, seed=seed)
    # One answer of the first model: without its fold there is none.
    answers[1:, 0], answers[0, 0] = NAN, 1
    choice = choose([knn(5)], table, answers)
    assert choice.probabilities.shape == answers.shape
    assert ((choice.probabilities >= 0) & (choice.probabilities <= 1)).all()
    others = choice.probabilities[0, 1:].mean()
    assert choice.probabilities[0, 0] == pytest.approx(others, abs=1e-6)
