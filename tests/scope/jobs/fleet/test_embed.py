import numpy as np
import pytest

from scope.jobs.fleet.embed import (
    CHOSEN_AMONG,
    Learning,
    learn,
    load_needed_encoder,
)
from scope.jobs.fleet.matrix import CorrectnessMatrix
from scope.jobs.fleet.questions import QuestionLayout
from scope.jobs.fleet.stored_fleet import FORECASTERS
from scope.models import ModelOptions
from scope.progress import Silent

LAYOUT = QuestionLayout(vector=2)


def matrix(texts):
    answers = np.tile(np.float32([[1, 1, 0], [0, 1, np.nan]]), (len(texts) // 2, 1))
    return CorrectnessMatrix(
        models=("a", "b", "c"),
        ids=tuple(f"q{place}" for place in range(len(texts))),
        texts=tuple(texts),
        categories=(None,) * len(texts),
        correct=answers,
    )


class Lengths:
    """An encoder by the length of a text, which counts what it is asked."""

    spec, fingerprint = "hf:lengths", "lengths-1"

    def encode(self, texts):
        return np.array([[len(text), 1.0] for text in texts])


def test_all_but_matrix_factorization_are_tried_by_default():
    tried = [one.short_name for one in Learning().candidates(LAYOUT)]
    assert tuple(tried) == CHOSEN_AMONG
    assert set(FORECASTERS) - set(tried) == {"mf"}


@pytest.mark.parametrize("name", sorted(FORECASTERS))
def test_seed_and_dimensions_reach_those_that_have_them(name):
    if name in ("mean", "knn"):
        (one,) = Learning(forecaster=name, seed=5).candidates(LAYOUT)
        assert one.spelling == name
        return
    (one,) = Learning(forecaster=name, seed=5, dimensions=3).candidates(LAYOUT)
    assert (one.seed, one.dimensions) == (5, 3)


def test_the_mean_needs_neither_text_nor_encoder():
    given = matrix([""] * 10)
    learning = Learning(forecaster="mean")
    assert load_needed_encoder(learning, given, None, ModelOptions()) is None
    learned = learn(given, learning, None, Silent())
    assert learned.fleet.encoder == ""
    assert learned.fleet.skills.tolist() == [0.5, 1.0, 0.0]
    assert learned.fleet.answered.tolist() == [10, 10, 5]


def test_a_fleet_keeps_the_encoder_and_the_questions_it_was_fitted_on(monkeypatch, tmp_path):
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path))
    given = matrix([f"question {'x' * place}" for place in range(12)])
    learned = learn(given, Learning(forecaster="knn", features=False), Lengths(), Silent())
    assert learned.fleet.encoder == "hf:lengths"
    assert learned.fleet.forecaster.layout.encoder == "lengths-1"
    vectors = learned.fleet.forecaster.question_vectors_
    assert vectors[:, 0].tolist() == [9.0 + place for place in range(12)]
    assert len(set(learned.fleet.texts_digest)) == 12
    assert [one.chosen for one in learned.choice.scores] == [False, True]
