from contextlib import contextmanager

import numpy as np
import pytest
import toy_fleet
from hypothesis import given, strategies as st

from scope.errors import DataError, SpecError
from scope.fleet.forecasters.baselines import MeanForecaster, NeighbourForecaster
from scope.fleet.forecasters.choosing import choose
from scope.fleet.forecasters.forecaster import Forecaster
from scope.fleet.forecasters.text_factors import TextFactors
from scope.fleet.forecasters.validation import question_folds
from scope.fleet.layout import QuestionLayout

NAN = np.nan
MEAN = MeanForecaster(layout=toy_fleet.LAYOUT)


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
    assert [one.forecaster for one in choice.scores] == [
        "mean",
        "knn(neighbours=150)",
        "knn(neighbours=9)",
    ]
    assert [one.chosen for one in choice.scores] == [False, False, True]


def test_probabilities_are_those_of_fits_without_the_question():
    table, answers = fleet()
    choice = choose([knn(9)], table, answers, folds=3, seed=5)
    folds = question_folds(np.arange(len(table)), 3, seed=5)
    for fold in range(3):
        fitted = knn(9).fit(table[folds != fold], answers[folds != fold])
        found = choice.probabilities[folds == fold]
        assert found.tobytes() == fitted.predict_proba(table[folds == fold]).tobytes()


def test_scores_worked_out_from_the_probabilities():
    table, answers = fleet()
    choice = choose([knn(9)], table, answers)
    score = choice.scores[1]
    known = ~np.isnan(answers)
    hits = np.where(known, (choice.probabilities > 0.5) == (answers == 1), NAN)
    assert score.accuracy.value == pytest.approx(np.nanmean(hits, axis=1).mean())
    errors = np.where(known, (choice.probabilities - answers) ** 2, NAN)
    assert score.brier.value == pytest.approx(np.nanmean(errors, axis=1).mean(), abs=1e-6)
    mean = choice.scores[0]
    assert mean.gain is None
    assert score.gain.value == pytest.approx(score.accuracy.value - mean.accuracy.value)


def test_where_nothing_is_gained_the_mean_is_kept():
    table, answers = fleet(seed=1)
    shuffled = np.random.default_rng(0).permutation(answers)
    assert choose([knn(9), knn(31)], table, shuffled).forecaster.spelling == "mean"


def test_a_forecaster_that_is_asked_for_is_used_though_it_gains_nothing():
    table, answers = fleet(seed=1)
    shuffled = np.random.default_rng(0).permutation(answers)
    choice = choose([knn(20)], table, shuffled, first_anyway=True)
    assert [(one.forecaster, one.chosen) for one in choice.scores] == [
        ("mean", False),
        ("knn(neighbours=20)", True),
    ]
    assert choice.forecaster.spelling == "knn(neighbours=20)"


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
    ("first", "second", "chosen"),
    [
        ([0], [], "second"),
        # Behind by 0.01, with a standard error of 0.022: the best is the best all the same.
        ([0, 1, 2], [3, 4], "second"),
        ([], [], "first"),
        ([3, 4], [0, 1], "first"),
        ([], [0], "first"),
    ],
)
def test_the_best_is_chosen_and_of_equal_ones_that_listed_first(first, second, chosen):
    truth = np.random.default_rng(0).integers(0, 2, size=(100, 2))
    table = np.column_stack([truth, np.arange(100)]).astype(np.float32)
    layout = QuestionLayout(vector=3)
    # -1 is no question's number: it only keeps the two from being spelled alike.
    candidates = [
        Telling(layout=layout, missed=(*first, -1)),
        Telling(layout=layout, missed=(*second, -2)),
    ]
    choice = choose(candidates, table, truth.astype(np.float32))
    assert choice.forecaster.missed[-1] == {"first": -1, "second": -2}[chosen]


def test_the_mean_stands_where_it_is_listed():
    table, answers = fleet(seed=1)
    shuffled = np.random.default_rng(0).permutation(answers)
    choice = choose([knn(199), MEAN], table, shuffled)
    # All neighbours are the mean too: the same forecasts, which gain nothing.
    assert [one.forecaster for one in choice.scores] == ["knn(neighbours=199)", "mean"]
    assert choice.forecaster.spelling == "mean"
    assert choice.scores[0].gain.value == 0


@pytest.mark.parametrize(
    ("ahead", "behind", "chosen"),
    [
        # A gain of 0.02 with a standard error of 0.034, half of which is less.
        (7, 5, "telling"),
        # 0.02 with a standard error of 0.053, half of which is more.
        (15, 13, "mean"),
        (5, 5, "mean"),
        (0, 7, "mean"),
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


def test_twins_do_not_make_a_gain_surer():
    truth = np.ones((100, 2), dtype=np.float32)
    truth[:20] = 0
    missed = (*range(15, 20), *range(20, 33))
    table = np.column_stack([truth, np.arange(100)]).astype(np.float32)
    telling = Telling(layout=QuestionLayout(vector=3), missed=missed)
    twins = np.tile(table, (4, 1))
    assert choose([telling], twins, np.tile(truth, (4, 1))).forecaster.short_name == "mean"


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


def test_progress_counts_the_fits():
    counted = []

    class Counting:
        @contextmanager
        def task(self, description, total, done=0):
            counted.append(total)
            yield lambda units=1: counted.append(-units)

    choose([knn(9)], *fleet(), folds=4, progress=Counting())
    # Two candidates and four folds, and the last fit on all.
    assert counted == [9] + [-1] * 9


def test_bad_answers_are_refused_before_anything_is_fitted():
    table, answers = fleet()
    with pytest.raises(DataError, match="answers are wrong"):
        choose([knn(9)], table, np.zeros_like(answers))
    with pytest.raises(SpecError, match="folds"):
        choose([knn(9)], table, answers, folds=201)
