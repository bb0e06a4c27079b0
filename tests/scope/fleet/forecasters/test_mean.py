import numpy as np
import pytest
import toy_fleet
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from scope.errors import DataError
from scope.fleet.forecasters.mean import MeanForecaster
from scope.fleet.layout import QuestionLayout

NAN = np.nan
ONE = QuestionLayout(vector=1)
TABLE = np.zeros((4, 1), dtype=np.float32)
ANSWERS = np.array([[1, 0], [1, 1], [1, NAN], [0, 0]], dtype=np.float32)


def test_each_question_has_the_models_accuracy():
    mean = MeanForecaster(layout=ONE).fit(TABLE, ANSWERS)
    assert mean.predict_proba(TABLE[:2]) == pytest.approx(np.array([[3 / 4, 1 / 3]] * 2))
    assert mean.predict(TABLE[:1]).tolist() == [[1, 0]]
    assert mean.model_vectors_.shape == (2, 1)


def test_its_score_is_the_accuracy_over_known_answers():
    mean = MeanForecaster(layout=ONE).fit(TABLE, ANSWERS)
    assert mean.score(TABLE, ANSWERS) == pytest.approx((3 + 2) / 7)


def test_an_accuracy_of_half_predicts_no_right_answer():
    answers = np.array([[1], [0]], dtype=np.float32)
    assert MeanForecaster(layout=ONE).fit(TABLE[:2], answers).predict(TABLE[:1]).tolist() == [[0]]


def test_a_further_model_has_the_accuracy_of_its_answers():
    mean = MeanForecaster(layout=ONE).fit(TABLE, ANSWERS)
    more = mean.added(np.array([1, 3]), np.array([[1, 1], [NAN, 0]], dtype=np.float32))
    assert more.predict_proba(TABLE[:1]) == pytest.approx(np.array([[3 / 4, 1 / 3, 1, 1 / 2]]))
    assert mean.model_vectors_.shape == (2, 1)


def test_the_skill_of_a_model_with_few_answers_is_drawn_to_the_fleets_mean():
    table, answers = toy_fleet.fleet(questions=200, unknown=0.0)
    mean = MeanForecaster(layout=toy_fleet.LAYOUT).fit(table, answers)
    assert mean.skills_ == pytest.approx(answers.mean(axis=0))
    more = mean.added(np.arange(3), np.ones((3, 1), dtype=np.float32))
    assert more.predict_proba(table)[0, -1] == 1
    assert mean.skills_.mean() < more.skills_[-1] < 0.95
    all_of_them = mean.added(np.arange(200), answers[:, :1])
    assert all_of_them.skills_[-1] == pytest.approx(answers[:, 0].mean())


def test_others_added_before_do_not_count():
    table, answers = toy_fleet.fleet()
    mean = MeanForecaster(layout=toy_fleet.LAYOUT).fit(table, answers[:, :4])
    rows, right = np.arange(5), answers[:5, 4:]
    right[np.isnan(right)] = 1
    in_turn = mean.added(rows, right[:, :1]).added(rows, right[:, 1:])
    assert in_turn.skills_.tobytes() == mean.added(rows, right).skills_.tobytes()


def test_further_answers_to_a_question_it_does_not_have_are_refused():
    mean = MeanForecaster(layout=ONE).fit(TABLE, ANSWERS)
    with pytest.raises(DataError, match="4"):
        mean.added(np.array([4]), np.ones((1, 1), dtype=np.float32))


@given(st.integers(0, 1000))
def test_it_predicts_as_well_as_any_constant_can(seed):
    table, answers = toy_fleet.fleet(seed=seed, questions=20)
    found = MeanForecaster(layout=toy_fleet.LAYOUT).fit(table, answers).score(table, answers)
    right, known = np.nansum(answers, axis=0), (~np.isnan(answers)).sum(axis=0)
    assert found == pytest.approx(np.maximum(right, known - right).sum() / known.sum())


def test_a_clone_is_spelled_alike_and_not_fitted():
    mean = MeanForecaster(layout=ONE).fit(TABLE, ANSWERS)
    assert clone(mean).spelling == mean.spelling == "mean"
    assert not hasattr(clone(mean), "model_vectors_")
