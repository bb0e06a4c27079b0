"""What every forecaster checks before it learns or foretells, and how it is spelled and kept."""

import numpy as np
import pytest
import toy_fleet

from scope.errors import DataError
from scope.fleet import MeanForecaster, NeighbourForecaster
from scope.fleet.forecasters.forecaster import checked_answers, checked_table
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
        checked_answers(np.array(answers), 2)


def test_what_can_be_learned_from_is_taken_in_single_precision():
    assert checked_answers(RIGHT, 2).dtype == np.float32
    assert checked_table(np.zeros((0, 4)), LAYOUT).dtype == np.float32


def test_the_score_counts_known_answers_alone():
    layout = QuestionLayout(vector=1)
    table = np.ones((2, 1))
    forecaster = MeanForecaster(layout=layout).fit(table, np.array([[1.0, 0.0], [1.0, 0.0]]))
    assert forecaster.predict(table).tolist() == [[1.0, 0.0], [1.0, 0.0]]
    # Of three answers two are as foretold.
    assert forecaster.score(table, np.array([[1.0, 1.0], [np.nan, 0.0]])) == pytest.approx(2 / 3)


def test_a_spelling_names_what_is_not_by_default():
    assert NeighbourForecaster(layout=LAYOUT).spelling == "knn"
    assert NeighbourForecaster(layout=LAYOUT, neighbours=9).spelling == "knn(neighbours=9)"


def test_a_restored_forecaster_foretells_the_same_bytes():
    table, answers = toy_fleet.fleet()
    fitted = NeighbourForecaster(layout=toy_fleet.LAYOUT, neighbours=5).fit(table, answers)
    again = NeighbourForecaster(layout=toy_fleet.LAYOUT, neighbours=5)
    again.restore(fitted.state_arrays())
    assert again.predict_proba(table).tobytes() == fitted.predict_proba(table).tobytes()
