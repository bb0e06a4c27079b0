import numpy as np
import pytest

from scope.jobs.fleet.forecaster import MeanForecaster, NeighbourForecaster
from scope.jobs.fleet.map import (
    MappedModels,
    answer_vectors,
    describe_models,
    place_models,
    skill_estimate,
)
from scope.jobs.fleet.questions import QuestionLayout
from scope.statistics.intervals import mean_estimate

LAYOUT = QuestionLayout(vector=1)
TABLE = np.tile(np.float32([[0], [1]]), (10, 1))
ANSWERS = np.tile(np.float32([[1, 1, 0], [0, 0, 1]]), (10, 1))


@pytest.mark.parametrize(("right", "asked"), [(0, 4), (3, 4), (4, 4), (17, 60)])
def test_a_skill_is_the_mean_with_the_interval_that_means_have_elsewhere(right, asked):
    values = [1] * right + [0] * (asked - right)
    oracle = mean_estimate(values, [str(place) for place in range(asked)])
    found = skill_estimate(right / asked, asked)
    assert (found.value, found.n) == (oracle.value, oracle.n)
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high))


def described(vectors, communities=None, added=()):
    names = "abcdef"[: len(vectors)]
    skills = [skill_estimate(0.5, 4)] * len(vectors)
    return describe_models(MappedModels(names, skills, vectors, "", {}, added), communities)


def test_answers_take_the_place_of_vectors_that_a_forecaster_has_not():
    nearest = NeighbourForecaster(layout=LAYOUT).fit(TABLE, ANSWERS)
    vectors, note = place_models(nearest)
    assert np.array_equal(vectors, answer_vectors(ANSWERS))
    assert "knn has no vectors of models" in note
    mean = MeanForecaster(layout=LAYOUT).fit(TABLE, ANSWERS)
    assert place_models(mean)[0].shape == (3, 1)
    assert place_models(mean, ANSWERS)[0].shape[1] > 1


def test_models_are_described_with_place_neighbours_and_community():
    vectors = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]])
    (one, two, three), note = described(vectors, {"b": "far"}, ("c",))
    assert "shows 100 % of the variance" in note
    assert [near.model for near in one.nearest] == ["b", "c"]
    assert (one.community, two.community, three.added) == (None, "far", True)
    assert np.hypot(two.x - three.x, two.y - three.y) == pytest.approx(1.0)


def test_how_much_the_map_shows_is_said():
    # Three directions of the same variance, of which the map has two.
    corners = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    assert "shows 67 % of the variance" in described(corners)[1]
    assert "all vectors are equal" in described(np.ones((4, 3)))[1]
