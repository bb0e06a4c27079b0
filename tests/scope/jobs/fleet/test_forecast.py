"""Fleets that are evaluated on a part of the answers, on means that need no encoder."""

import numpy as np
import pytest

from scope.errors import SpecError
from scope.jobs.fleet.embed import embed_fleet
from scope.jobs.fleet.forecast import Evaluation, forecast_fleet, plan_evaluation, score_forecasts
from scope.jobs.fleet.forecaster import NeighbourForecaster
from scope.jobs.fleet.questions import QuestionLayout
from scope.jobs.fleet.requests import ForecastRequest
from scope.records import Undefined
from scope.statistics import mean_estimate


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


@pytest.fixture
def forecast(write, tmp_path):
    """Forecasts a part of these answers, with their learning curve."""

    def run(rows, **options):
        asked = {"forecaster": "mean", "runs": tmp_path, "curve_start": 10, **options}
        data = str(write("answers.csv", "model,id,correct", *rows))
        return forecast_fleet(data=data, learning_curve=True, **asked)

    return run


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


def test_a_learning_curve_scores_fits_on_more_and_more_questions_by_hand(forecast, tmp_path):
    """Model ``a`` is right but for every fourth question, which ``b`` alone answers correctly."""
    rows = [f"{m},q{n},{int((n % 4 > 0) == (m == 'a'))}" for n in range(100) for m in "ab"]
    found = forecast(rows, run="curve")
    assert [point.questions for point in found.curve] == [10, 20, 40, 80]
    with pytest.raises(SpecError, match="a learning curve from 80 of 80 training questions"):
        forecast(rows, run="late", curve_start=80)
    written = (tmp_path / "curve" / "forecasts.csv").read_text().splitlines()[1::2]
    held_out = [int(line.split(",")[0][1:]) for line in written]
    # Every fit predicts that a is right and b wrong: both forecasts come true, or neither.
    hits = [int(number % 4 > 0) for number in held_out]
    expected = mean_estimate(hits, [f"id q{number}" for number in held_out])
    assert (expected.n, sum(hits)) == (20, 20 * expected.value)
    for point in found.curve:
        accuracy = point.score.accuracy
        assert (accuracy.value, accuracy.low, accuracy.high) == pytest.approx(
            (expected.value, expected.low, expected.high), abs=1e-6
        )
        assert accuracy.n == 20
    assert all(f"{size}  " in str(found) for size in (10, 20, 40, 80))
    assert "training questions" in found.html()
    assert (found.to_frame()["metric"] == "learning_curve").sum() == 4


def test_a_part_with_too_little_to_learn_from_leaves_the_other_points(forecast):
    rows = [f"a,q{n},{n % 2}" for n in range(100)] + [f"b,q{n},1" for n in range(0, 100, 25)]
    first, *_, last = forecast(rows, seed=1).curve
    assert first.score.accuracy == Undefined(reason="no answer of 1 of 2 models: `b`")
    assert last.score.accuracy.n == 20


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
