import numpy as np
import pytest

from scope.fleet import CorrectnessMatrix, Fleet, NeighbourForecaster
from scope.fleet.layout import QuestionLayout
from scope.jobs.fleet.evaluation import Evaluation
from scope.jobs.fleet.scoring import evaluated, score_forecasts

LAYOUT = QuestionLayout(vector=1)
TABLE = np.arange(10, dtype=np.float32)[:, np.newaxis]
# Of the first model nine answers of ten are right, of the second one.
LEARNED = np.array([[row < 9, row == 9] for row in range(10)], dtype=np.float32)


def evaluation(correct, added=()):
    """Questions that both models answer the other way round than what the fleet learned from."""
    asked = np.asarray(correct, dtype=np.float32)
    ids = tuple(f"new{row}" for row in range(len(asked)))
    fleet = Fleet(
        forecaster=NeighbourForecaster(layout=LAYOUT).fit(TABLE, LEARNED),
        models=("able", "poor"),
        skills=LEARNED.mean(axis=0),
        answered=np.array([10, 10]),
        ids=tuple(f"q{row}" for row in range(10)),
        texts_digest=("",) * 10,
        encoder="hf:toy",
        added=added,
    )
    questions = CorrectnessMatrix(
        models=fleet.models,
        ids=ids,
        texts=("",) * len(ids),
        categories=(None,) * len(ids),
        correct=asked,
        part=True,
    )
    return Evaluation(
        fleet=fleet,
        questions=questions,
        table=np.zeros((len(ids), 1), dtype=np.float32),
        fresh=np.ones(len(ids), dtype=np.bool_),
    )


def test_the_mean_is_that_of_the_answers_learned_from():
    """By the answers that are scored the mean would be always right here."""
    mean, knn = score_forecasts(evaluation([[0, 1]] * 4), np.tile(np.float32([[0.4, 0.6]]), (4, 1)))
    assert (mean.forecaster, mean.accuracy.value) == ("mean", 0.0)
    assert (knn.forecaster, knn.accuracy.value, knn.gain.value) == ("knn", 1.0, 1.0)
    # Squares of 0.9 - 0 and of 0.1 - 1.
    assert mean.brier.value == pytest.approx(0.81)


def test_of_the_models_those_that_were_added_are_listed():
    assert evaluated(evaluation([[0, 1]]))["fleet"] == ()
    (one,) = evaluated(evaluation([[0, 1]], added=("poor",)))["fleet"]
    assert (one.name, one.added, one.skill.n, one.x) == ("poor", True, 10, None)
