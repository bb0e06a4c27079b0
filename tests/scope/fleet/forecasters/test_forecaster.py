"""What every forecaster checks before it learns or predicts, and how it is spelled and kept."""

from functools import partial

import numpy as np
import pytest
import toy_fleet

from scope.errors import DataError
from scope.fleet import MeanForecaster, NeighbourForecaster
from scope.fleet.forecasters.forecaster import checked_correctness, checked_table
from scope.fleet.forecasters.item_response import ItemResponse
from scope.fleet.forecasters.matrix_factorization import MatrixFactorization
from scope.fleet.forecasters.text_factors import TextFactors
from scope.fleet.layout import QuestionLayout

LAYOUT = QuestionLayout(vector=2, features=("words",), categories=("arc", "gsm8k"))
RIGHT = np.array([[1.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 5)])
def test_a_table_of_another_shape_is_refused_with_what_columns_it_needs(shape):
    with pytest.raises(DataError, match=r"(?s)4 columns: a vector of 2, 1 features and 1 category"):
        checked_table(np.zeros(shape), LAYOUT)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_table_holds_finite_numbers_alone(number):
    table = np.zeros((3, 4))
    table[1, 2] = number
    with pytest.raises(DataError, match="not finite in row 1"):
        checked_table(table, LAYOUT)


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ([1.0, 0.0], r"answers of shape \(2,\) to 2 questions"),
        ([[1.0, 0.0]], r"answers of shape \(1, 2\) to 2 questions"),
        ([[1.0, 0.5], [0.0, 1.0]], "the value 0.5 among the answers"),
        ([[1.0, 1.0], [1.0, np.nan]], "all answers are right"),
        ([[0.0, 0.0], [0.0, np.nan]], "all answers are wrong"),
        ([[np.nan, np.nan], [np.nan, np.nan]], "all answers are unknown"),
        ([[1.0, np.nan], [0.0, np.nan]], "no answer of the model in column 1"),
    ],
)
def test_answers_from_which_nothing_can_be_learned_are_refused(answers, found):
    with pytest.raises(DataError, match=found):
        checked_correctness(np.array(answers), 2)


def test_what_can_be_learned_from_is_taken_in_single_precision():
    assert checked_correctness(RIGHT, 2).dtype == np.float32
    assert checked_table(np.zeros((0, 4)), LAYOUT).dtype == np.float32


def test_the_score_counts_known_answers_alone():
    layout = QuestionLayout(vector=1)
    table = np.ones((2, 1))
    forecaster = MeanForecaster(layout=layout).fit(table, np.array([[1.0, 0.0], [1.0, 0.0]]))
    assert forecaster.predict(table).tolist() == [[1.0, 0.0], [1.0, 0.0]]
    # Of three answers two are as predicted.
    assert forecaster.score(table, np.array([[1.0, 1.0], [np.nan, 0.0]])) == pytest.approx(2 / 3)


def test_a_spelling_names_what_is_not_by_default():
    assert NeighbourForecaster(layout=LAYOUT).spelling == "knn"
    assert NeighbourForecaster(layout=LAYOUT, neighbours=9).spelling == "knn(neighbours=9)"


def test_a_restored_forecaster_predicts_the_same_bytes():
    table, answers = toy_fleet.fleet()
    fitted = NeighbourForecaster(layout=toy_fleet.LAYOUT, neighbours=5).fit(table, answers)
    again = NeighbourForecaster(layout=toy_fleet.LAYOUT, neighbours=5)
    again.restore(fitted.state_arrays())
    assert again.predict_proba(table).tobytes() == fitted.predict_proba(table).tobytes()


ALL = {
    "mean": MeanForecaster,
    "knn": NeighbourForecaster,
    "mf": partial(MatrixFactorization, dimensions=4, epochs=20, batch=64, learning_rate=0.02),
    "irt": partial(ItemResponse, dimensions=2),
    "factors": TextFactors,
}


@pytest.mark.parametrize("name", ALL)
def test_skills_are_accuracies_where_all_is_known_and_drawn_together_where_little_is(name):
    table, answers = toy_fleet.fleet(questions=200, unknown=0.0)
    fitted = ALL[name](layout=toy_fleet.LAYOUT).fit(table, answers)
    assert fitted.skills_ == pytest.approx(answers.mean(axis=0), abs=1e-6)
    best = int(fitted.skills_.argmax())
    lucky = int(fitted.skills_.argmin())
    answers[:, lucky] = np.nan
    answers[:3, lucky] = 1
    again = ALL[name](layout=toy_fleet.LAYOUT).fit(table, answers)
    assert again.skills_.argmax() == best
    assert again.skills_[lucky] > fitted.skills_[lucky]


@pytest.mark.parametrize("name", ["mf", "irt", "factors", "mean"])
def test_a_few_right_answers_make_no_newcomer_the_best(name):
    table, answers = toy_fleet.fleet(questions=300, models=12, unknown=0.0)
    easy = np.argsort(answers.mean(axis=1))[-12:]
    fitted = ALL[name](layout=toy_fleet.LAYOUT).fit(table, answers)
    larger = fitted.added(easy[:3], np.ones((3, 1), dtype=np.float32))
    assert larger.skills_.shape == (13,)
    assert larger.skills_[:12].tobytes() == fitted.skills_.tobytes()
    assert larger.skills_.argmax() < 12
    twin = fitted.added(np.arange(300), answers[:, 4:5])
    assert twin.skills_[-1] == pytest.approx(fitted.skills_[4], abs=0.03)


@pytest.mark.parametrize("name", ["mf", "irt", "factors", "mean"])
def test_a_model_has_its_place_beside_its_twin(name):
    table, answers = toy_fleet.fleet(questions=300, models=12, unknown=0.0)
    answers[:, 5] = answers[:, 4]
    places = ALL[name](layout=toy_fleet.LAYOUT).fit(table, answers).places_
    apart = np.linalg.norm(places - places[4], axis=1)
    assert len(places) == 12
    assert set(np.argsort(apart)[:2]) == {4, 5}
