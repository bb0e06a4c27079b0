import numpy as np
import pytest

from scope.jobs.fleet.embed import Learning, learn, load_needed_encoder
from scope.jobs.fleet.questions import QuestionLayout
from scope.models.options import ModelOptions
from scope.progress import Silent

LAYOUT = QuestionLayout(vector=2)


@pytest.fixture
def matrix(matrix_of):
    """Builds the answers of three models to questions with these texts."""
    answers = [[1, 1, 0], [0, 1, np.nan]]
    return lambda texts: matrix_of(answers * (len(texts) // 2), texts=tuple(texts))


@pytest.mark.parametrize("name", ["mf", "factors"])
def test_seed_and_dimensions_reach_the_forecaster(name):
    (forecaster,) = Learning(forecaster=name, seed=5, dimensions=3).candidates(LAYOUT)
    assert (forecaster.seed, forecaster.dimensions) == (5, 3)


def test_the_mean_needs_neither_text_nor_encoder(matrix):
    answers = matrix([""] * 10)
    learning = Learning(forecaster="mean")
    assert load_needed_encoder(learning, answers, None, ModelOptions()) is None
    fleet, _ = learn(answers, learning, None, Silent())
    assert fleet.encoder == ""
    assert fleet.skills.tolist() == [0.5, 1.0, 0.0]
    assert fleet.answered.tolist() == [10, 10, 5]


def test_a_fleet_keeps_the_encoder_and_the_questions_it_was_fitted_on(
    matrix, encoder, monkeypatch, tmp_path
):
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path))
    answers = matrix([f"question {'x' * place}" for place in range(12)])
    fleet, choice = learn(answers, Learning(forecaster="knn", features=False), encoder, Silent())
    assert fleet.encoder == "hf:letters"
    assert fleet.forecaster.layout.encoder == "letters-1"
    vectors = fleet.forecaster.question_vectors_
    assert vectors[:, 0].tolist() == [9.0 + place for place in range(12)]
    assert len(set(fleet.texts_digest)) == 12
    assert [one.chosen for one in choice.scores] == [False, True]
