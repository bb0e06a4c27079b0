"""Fleets that are evaluated on a part of the answers, on means that need no encoder."""

import numpy as np
import pytest

from scope.jobs.fleet.embed import embed_fleet
from scope.jobs.fleet.forecast import Evaluation, forecast_fleet, plan_evaluation, score_forecasts
from scope.jobs.fleet.forecaster import NeighbourForecaster
from scope.jobs.fleet.questions import QuestionLayout
from scope.jobs.fleet.requests import ForecastRequest
from scope.records import Undefined


@pytest.fixture
def answers(write):
    """Forty texts, each under two ids; model ``a`` is right where its number is even."""
    lines = [
        f"{model},{copy}{number},What is {number}?,{int(number % factor == 0)}"
        for number in range(40)
        for copy in "xy"
        for model, factor in (("a", 2), ("b", 3))
    ]
    return write("answers.csv", "model,id,question,correct", *lines)


def test_nothing_of_the_questions_held_out_is_learned(answers):
    request = ForecastRequest(data=str(answers), forecaster="mean", seed=3)
    evaluation = plan_evaluation(request).build()
    learned, asked = evaluation.fleet, evaluation.questions
    assert (len(learned.ids), len(asked.ids)) == (64, 16)
    assert {*learned.ids} | {*asked.ids} == {f"{copy}{n}" for copy in "xy" for n in range(40)}
    # Both ids of a text are on the same side.
    assert {name[1:] for name in learned.ids}.isdisjoint(name[1:] for name in asked.ids)
    # The fleet knows the accuracies on its own questions, which are not those of all.
    own = [np.mean([int(name[1:]) % 2 == 0 for name in learned.ids])]
    own += [np.mean([int(name[1:]) % 3 == 0 for name in learned.ids])]
    assert learned.skills.tolist() == pytest.approx(own)
    assert own[0] != 0.5
    assert asked.correct[:, 0].tolist() == [int(name[1:]) % 2 == 0 for name in asked.ids]
    assert evaluation.scored.tolist() == list(range(16))


def test_training_questions_under_other_ids_are_counted_and_not_scored(answers, write, tmp_path):
    embed_fleet(data=str(answers), forecaster="mean", folds=2, runs=tmp_path, run="ours")
    texts = ["what is 3", "What is 4?", "What is 44?", "What is 45?"]
    names = ["new", "x4", "other", "last"]
    lines = [f"a,{name},{text},1" for name, text in zip(names, texts, strict=True)]
    path = write("new.csv", "model,id,question,correct", *lines)
    found = forecast_fleet(fleet="ours", questions=str(path), runs=tmp_path)
    (note,) = (one for one in found.notes if "fitted on" in one)
    assert note.startswith("the fleet was fitted on 2 of the 4 questions, 1 of them under another")
    first, second = found.expected
    assert (first.model, first.accuracy.n) == ("a", 2)
    assert (first.accuracy.value, first.observed.value, first.shift.value) == (0.5, 1, 0.5)
    assert isinstance(second.observed, Undefined)
    assert (found.shift.value, found.shift.n) == (0.5, 2)


def test_of_questions_that_are_all_known_nothing_is_expected(answers, tmp_path):
    embed_fleet(data=str(answers), forecaster="mean", folds=2, runs=tmp_path, run="ours")
    found = forecast_fleet(fleet="ours", questions=str(answers), runs=tmp_path)
    assert {one.accuracy.reason for one in found.expected} == {
        "the fleet was fitted on all of these questions"
    }
    assert found.shift is None


def test_the_mean_is_that_of_the_answers_learned_from(matrix_of, fleet_of):
    """By the answers that are scored the mean would be always right here."""
    # Of the first model nine answers of ten are right, of the second one.
    learned = np.array([[row < 9, row == 9] for row in range(10)], dtype=np.float32)
    table = np.arange(10, dtype=np.float32)[:, np.newaxis]
    forecaster = NeighbourForecaster(layout=QuestionLayout(vector=1))
    fleet = fleet_of(forecaster, table, learned)
    questions, fresh = matrix_of([[0, 1]] * 4), np.ones(4, dtype=np.bool_)
    evaluation = Evaluation(fleet=fleet, questions=questions, table=table[:4], fresh=fresh)
    mean, knn = score_forecasts(evaluation, np.tile(np.float32([[0.4, 0.6]]), (4, 1)))
    assert (mean.forecaster, mean.accuracy.value) == ("mean", 0.0)
    assert (knn.forecaster, knn.accuracy.value, knn.gain.value) == ("knn", 1.0, 1.0)
    # Squares of 0.9 - 0 and of 0.1 - 1.
    assert mean.brier.value == pytest.approx(0.81)
