"""What every forecaster checks before it learns or predicts, and how it is spelled and kept."""

from functools import partial

import numpy as np
import pytest
import toy_fleet
from hypothesis import given, strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestNeighbors

from scope.errors import DataError, SpecError
from scope.jobs.fleet.forecaster import (
    MeanForecaster,
    NeighbourForecaster,
    checked_correctness,
    checked_table,
    shrunk_skills,
)
from scope.jobs.fleet.matrix_factorization import MatrixFactorization
from scope.jobs.fleet.questions import QuestionLayout
from scope.jobs.fleet.text_factors import TextFactors

LAYOUT = QuestionLayout(vector=2, features=("words",), categories=("arc", "gsm8k"))


COLUMNS = r"(?s)4 columns: a vector of 2, 1 features and 1 category"


@pytest.mark.parametrize(
    ("table", "found"),
    [
        (np.zeros(3), COLUMNS),
        (np.zeros((2, 5)), COLUMNS),
        ([[0, 0, 0, 0], [0, 0, np.nan, 0]], "not finite in row 1"),
    ],
)
def test_a_table_of_another_shape_or_without_finite_numbers_is_refused(table, found):
    with pytest.raises(DataError, match=found):
        checked_table(np.array(table), LAYOUT)


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ([[1.0, 0.0]], r"answers of shape \(1, 2\) to 2 questions"),
        ([[1.0, 0.5], [0.0, 1.0]], "the values `0.0`, `0.5`, `1.0` among the answers"),
        ([[1.0, np.nan], [0.0, np.nan]], "no answer of the model in column 1"),
    ],
)
def test_answers_from_which_nothing_can_be_learned_are_refused(answers, found):
    with pytest.raises(DataError, match=found):
        checked_correctness(np.array(answers), 2)


def test_the_score_counts_known_answers_alone():
    layout = QuestionLayout(vector=1)
    table = np.ones((2, 1))
    forecaster = MeanForecaster(layout=layout).fit(table, np.array([[1.0, 0.0], [1.0, 0.0]]))
    assert forecaster.predict(table).tolist() == [[1.0, 0.0], [1.0, 0.0]]
    # Of three answers two are as predicted.
    assert forecaster.score(table, np.array([[1.0, 1.0], [np.nan, 0.0]])) == pytest.approx(2 / 3)


VECTORS = ["mf", "factors", "mean"]
"""Those that models can be added to."""
ALL = {
    "mean": MeanForecaster,
    "knn": NeighbourForecaster,
    "mf": partial(MatrixFactorization, dimensions=4, epochs=8, batch=256, learning_rate=0.1),
    "factors": TextFactors,
}


@pytest.mark.parametrize("name", ALL)
def test_skills_are_accuracies_where_all_is_known_and_drawn_together_where_little_is(name):
    table, answers = toy_fleet.fleet(questions=120, unknown=0.0)
    fitted = ALL[name](layout=toy_fleet.LAYOUT).fit(table, answers)
    assert fitted.skills_ == pytest.approx(answers.mean(axis=0), abs=1e-6)
    best = int(fitted.skills_.argmax())
    lucky = int(fitted.skills_.argmin())
    answers[:, lucky] = np.nan
    answers[:3, lucky] = 1
    again = ALL[name](layout=toy_fleet.LAYOUT).fit(table, answers)
    assert again.skills_.argmax() == best
    assert again.skills_[lucky] > fitted.skills_[lucky]


@pytest.mark.parametrize("name", VECTORS)
def test_a_few_right_answers_make_no_newcomer_the_best_and_twins_lie_together(name):
    table, answers = toy_fleet.fleet(questions=300, models=12, unknown=0.0)
    answers[:, 5] = answers[:, 4]
    fitted = ALL[name](layout=toy_fleet.LAYOUT).fit(table, answers)
    apart = np.linalg.norm(fitted.places_ - fitted.places_[4], axis=1)
    assert set(np.argsort(apart)[:2]) == {4, 5}
    easy = np.argsort(answers.mean(axis=1))[-12:]
    larger = fitted.added(easy[:3], np.ones((3, 1), dtype=np.float32))
    assert larger.skills_.shape == (13,)
    assert larger.skills_[:12].tobytes() == fitted.skills_.tobytes()
    assert larger.skills_.argmax() < 12
    # From half of its answers, in another order, it is predicted as if it had been there.
    rows = np.arange(300)[::-2]
    twin = fitted.added(rows, answers[rows, 4:5])
    assert twin.skills_[-1] == pytest.approx(fitted.skills_[4], abs=0.05)
    chances = twin.predict_proba(table)
    assert np.abs(chances[:, -1] - chances[:, 4]).mean() < 0.1


@pytest.mark.parametrize("name", VECTORS)
def test_models_added_change_nothing_about_the_others_nor_each_other(name):
    table, answers = toy_fleet.fleet(models=9)
    fitted = ALL[name](layout=toy_fleet.LAYOUT).fit(table, answers[:, :6])
    rows = np.arange(40)
    at_once = fitted.added(rows, answers[:40, 6:])
    in_turn = fitted.added(rows, answers[:40, 6:7]).added(rows, answers[:40, 7:])
    assert at_once.model_vectors_.tobytes() == in_turn.model_vectors_.tobytes()
    assert at_once.skills_.tobytes() == in_turn.skills_.tobytes()
    before = fitted.predict_proba(table)
    assert before.shape[1] == 6
    assert at_once.predict_proba(table)[:, :6] == pytest.approx(before, abs=1e-6)


@pytest.mark.parametrize("name", ALL)
def test_scikit_learn_clones_and_searches_it(name):
    forecaster = ALL[name](layout=toy_fleet.LAYOUT)
    assert clone(forecaster).spelling == forecaster.spelling
    search = GridSearchCV(forecaster, {"layout": [toy_fleet.LAYOUT]}, cv=3)
    search.fit(*toy_fleet.fleet(unknown=0))
    assert 0.4 < search.best_score_ <= 1


NAN = np.nan
ONE = QuestionLayout(vector=1)
TABLE = np.zeros((4, 1), dtype=np.float32)
ANSWERS = np.array([[1, 0], [1, 1], [1, NAN], [0, 0]], dtype=np.float32)


def test_a_further_model_has_the_accuracy_of_its_answers():
    mean = MeanForecaster(layout=ONE).fit(TABLE, ANSWERS)
    more = mean.added(np.array([1, 3]), np.array([[1, 1], [NAN, 0]], dtype=np.float32))
    assert more.predict_proba(TABLE[:1]) == pytest.approx(np.array([[3 / 4, 1 / 3, 1, 1 / 2]]))
    assert mean.model_vectors_.shape == (2, 1)


def made(neighbours, layout=toy_fleet.LAYOUT):
    return NeighbourForecaster(layout=layout, neighbours=neighbours)


def test_unknown_answers_are_left_out_and_the_skill_stands_in_where_none_is_known():
    table = np.array([[0.0], [1.0], [10.0], [11.0]], dtype=np.float32)
    answers = np.array([[1, 1], [NAN, 0], [NAN, 1], [NAN, 1]], dtype=np.float32)
    fitted = made(2, ONE).fit(table, answers)
    found = fitted.predict_proba(np.array([[0.4], [12.0]]))
    # Near 0 the first model has one answer of two; near 12 it has none, and its one right answer
    # elsewhere does not make it a model that is always right.
    skill = shrunk_skills(answers)[0]
    assert 0.7 < skill < 0.9
    assert found.tolist() == [[1, 0.5], [skill, 1]]


@given(st.integers(0, 1000), st.integers(1, 70))
def test_the_neighbours_are_those_of_scikit_learn(seed, neighbours):
    table, answers = toy_fleet.fleet(seed=seed, unknown=0.0)
    new, _ = toy_fleet.fleet(seed=seed + 1, questions=9)
    found = made(neighbours).fit(table, answers).predict_proba(new)
    oracle = NearestNeighbors(n_neighbors=min(neighbours, len(table))).fit(table)
    assert found == pytest.approx(answers[oracle.kneighbors(new)[1]].mean(axis=1), abs=1e-6)


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("knn", "neighbours", 0),
        *(("mf", name, 0) for name in ("dimensions", "epochs", "batch", "learning_rate")),
        *(("mf", name, -1.0) for name in ("noise", "weight_decay")),
        ("mf", "learning_rate", np.nan),
        ("factors", "dimensions", 0),
        ("factors", "landmarks", 0),
        ("factors", "folds", 1),
        ("factors", "guard", -0.1),
    ],
)
def test_parameters_that_cannot_be_are_named(name, parameter, value):
    forecaster = ALL[name](layout=toy_fleet.LAYOUT).set_params(**{parameter: value})
    with pytest.raises(SpecError, match=f"{parameter}={value}"):
        forecaster.fit(*toy_fleet.fleet())
