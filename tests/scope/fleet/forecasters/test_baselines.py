import numpy as np
import pytest
import toy_fleet
from hypothesis import given, strategies as st
from sklearn.neighbors import NearestNeighbors

from scope.fleet.forecasters.baselines import MeanForecaster, NeighbourForecaster, nearest
from scope.fleet.forecasters.factorization import shrunk_skills
from scope.fleet.layout import QuestionLayout

NAN = np.nan
ONE = QuestionLayout(vector=1)
TABLE = np.zeros((4, 1), dtype=np.float32)
ANSWERS = np.array([[1, 0], [1, 1], [1, NAN], [0, 0]], dtype=np.float32)


def test_each_question_has_the_models_accuracy():
    mean = MeanForecaster(layout=ONE).fit(TABLE, ANSWERS)
    assert mean.predict_proba(TABLE[:2]) == pytest.approx(np.array([[3 / 4, 1 / 3]] * 2))
    assert mean.predict(TABLE[:1]).tolist() == [[1, 0]]
    assert mean.model_vectors_.shape == (2, 1)


def test_a_further_model_has_the_accuracy_of_its_answers():
    mean = MeanForecaster(layout=ONE).fit(TABLE, ANSWERS)
    more = mean.added(np.array([1, 3]), np.array([[1, 1], [NAN, 0]], dtype=np.float32))
    assert more.predict_proba(TABLE[:1]) == pytest.approx(np.array([[3 / 4, 1 / 3, 1, 1 / 2]]))
    assert mean.model_vectors_.shape == (2, 1)


@given(st.integers(0, 1000))
def test_it_predicts_as_well_as_any_constant_can(seed):
    table, answers = toy_fleet.fleet(seed=seed, questions=20)
    found = MeanForecaster(layout=toy_fleet.LAYOUT).fit(table, answers).score(table, answers)
    right, known = np.nansum(answers, axis=0), (~np.isnan(answers)).sum(axis=0)
    assert found == pytest.approx(np.maximum(right, known - right).sum() / known.sum())


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


def test_cosine_orders_unit_vectors_alike():
    table, answers = toy_fleet.fleet(unknown=0.0)
    new, _ = toy_fleet.fleet(seed=1)
    oracle = NearestNeighbors(n_neighbors=7, metric="cosine").fit(table)
    found = made(7).fit(table, answers).predict_proba(new)
    assert found == pytest.approx(answers[oracle.kneighbors(new)[1]].mean(axis=1), abs=1e-6)


def test_of_equal_distances_the_first_question_counts():
    table = np.ones((300, 4), dtype=np.float32) / 3
    answers = np.zeros((300, 1), dtype=np.float32)
    answers[:2] = 1
    found = made(4).fit(table, answers).predict_proba(table)
    assert found.tolist() == [[0.5]] * 300


@given(st.integers(0, 1000), st.integers(1, 12))
def test_the_nearest_are_those_of_a_stable_sort(seed, count):
    distances = np.random.default_rng(seed).integers(0, 4, size=(5, 10)).astype(np.float32)
    chosen = np.zeros_like(distances)
    first = np.argsort(distances, axis=1, kind="stable")[:, :count]
    np.put_along_axis(chosen, first, 1, axis=1)
    assert nearest(distances, count).tolist() == chosen.tolist()


def test_with_as_many_neighbours_as_questions_it_is_the_mean():
    table, answers = toy_fleet.fleet()
    mean = MeanForecaster(layout=toy_fleet.LAYOUT).fit(table, answers)
    for neighbours in (60, 131):
        found = made(neighbours).fit(table, answers).predict_proba(table)
        assert found == pytest.approx(mean.predict_proba(table), abs=1e-6)


def test_it_keeps_what_it_saw_when_the_answers_are_changed_afterwards():
    table, answers = toy_fleet.fleet()
    forecaster = made(5).fit(table, answers)
    before = forecaster.predict_proba(table)
    question = table.copy()
    answers[...], table[...] = 0, 0
    assert forecaster.predict_proba(question).tobytes() == before.tobytes()
