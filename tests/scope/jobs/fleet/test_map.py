"""Contributions of benchmarks to forecasts of single answers."""

import numpy as np
import pytest

import scope
from scope.errors import DataError
from scope.jobs.fleet.map import contributions
from scope.progress import Silent
from scope.records import Undefined
from scope.statistics import paired_difference

NAN = np.nan
TRAIN = ["arc", "arc", "law", None]
RIGHT = [[0.9, 0.1], [0.9, 0.9], [0.1, 0.1], [0.9, 0.9]]
MIXED = [[0.1, 0.1], [0.9, 0.1], [0.9, 0.9], [0.1, 0.1]]
KNOWN = ((1, 0), (1, 1), (0, NAN), (1, 1))


@pytest.fixture
def measured(matrix_of):
    """Contributions by a forecaster that predicts ``RIGHT`` after it has seen all."""

    def measure(without_arc, correct=KNOWN):
        categories = ("arc", "law", "law", None)
        test = matrix_of(correct, ids=("q1", "q2", "q3", "q4"), categories=categories)
        predictions = iter((RIGHT, without_arc, RIGHT))
        asked = []

        def fit_predict(rows):
            asked.append(rows.tolist())
            predicted = next(predictions)
            if isinstance(predicted, Exception):
                raise predicted
            return np.asarray(predicted)

        found = contributions(fit_predict, TRAIN, test, Silent())
        assert asked == [[True] * 4, [False, False, True, True], [True, True, False, True]]
        return {(one.source, one.target): one.value for one in found}

    return measure


def test_a_contribution_is_the_error_without_minus_the_error_with_by_hand(measured):
    found = measured(MIXED)
    assert list(found) == [("arc", "arc"), ("arc", "law"), ("law", "arc"), ("law", "law")]
    # Without arc, one of two answers of q1 goes wrong, one of two of q2, and the one of q3.
    q1, *law = (f"id q{number}" for number in (1, 2, 3))
    assert found["arc", "arc"] == paired_difference([1], [0.5], [q1])
    assert found["arc", "law"] == paired_difference([1, 1], [0.5, 0], law)
    assert found["law", "law"].value == 0


def test_a_target_without_known_answers_is_undefined(measured):
    found = measured(RIGHT, correct=(KNOWN[0], (NAN, NAN), (NAN, NAN), KNOWN[3]))
    assert isinstance(found["arc", "law"], Undefined)
    assert found["arc", "arc"].value == 0


def test_what_cannot_be_learned_without_a_benchmark_leaves_the_others(measured):
    refused = DataError("no answer of the model in column 1", expected="some", fix="add some")
    found = measured(refused)
    expected = Undefined(reason="without arc: no answer of the model in column 1")
    assert found["arc", "law"] == expected
    assert found["law", "law"].value == 0


def test_what_cannot_be_predicted_is_not_helped_by_its_own_benchmark(
    encoder, monkeypatch, write, tmp_path
):
    """Coins; were the same questions learned from, the same answers would be predicted."""
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path))
    monkeypatch.setattr("scope.jobs.fleet.embed.load_encoder", lambda *_: encoder)
    sides = np.random.default_rng(0).integers(0, 2, (50, 6))
    lines = []
    for row in range(200):
        place = row % 50
        text, category = f"{'xyz'[place % 3]} {'o' * place}", ("sums", "laws")[place % 2]
        lines += [f"{model},{row},{text},{category},{sides[place, model]}" for model in range(6)]
    data = write("answers.csv", "model,id,question,category,correct", *lines)
    asked = {"data": str(data), "run": str(tmp_path / "run")}
    found = scope.map_fleet(**asked, contributions=True, communities={"0": "even"})
    assert found.fleet[0].community == "even"
    assert "--communities" not in found.manifest.command
    assert len(found.contributions) == 4
    for one in found.contributions:
        assert one.value.low <= 0.02
        # Ten different texts are held out, each four times.
        assert one.value.n <= 10
