"""Factors by hand, against NumPy's singular value decomposition, and with answers unknown."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.fleet.forecasters.factorization import factorize


def dense(seed, questions=30, models=8):
    generator = np.random.default_rng(seed)
    return generator.integers(0, 2, size=(questions, models)).astype(np.float32)


def fitted(factors):
    return factors.skills + factors.question_vectors @ factors.model_vectors.T


def test_a_matrix_of_rank_one_comes_back_by_hand():
    answers = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.float32)
    factors = factorize(answers, 1)
    assert factors.skills.tolist() == [0.5, 0.5]
    # The first model's coordinate is positive, as the first of the greatest.
    assert factors.model_vectors.ravel().tolist() == pytest.approx([0.5, -0.5])
    assert factors.question_vectors.ravel().tolist() == pytest.approx([1, 1, -1, -1])


@pytest.mark.parametrize(("questions", "models"), [(30, 8), (8, 30)])
@given(seed=st.integers(0, 1000), dimensions=st.integers(1, 6))
def test_equals_the_truncated_singular_value_decomposition(questions, models, seed, dimensions):
    answers = dense(seed, questions, models)
    left, values, right = np.linalg.svd(answers - answers.mean(axis=0), full_matrices=False)
    best = answers.mean(axis=0) + (left * values)[:, :dimensions] @ right[:dimensions]
    factors = factorize(answers, dimensions)
    assert fitted(factors) == pytest.approx(best, abs=2e-3)
    size = np.sqrt((factors.model_vectors**2).sum(axis=0) * questions)
    assert size == pytest.approx(values[:dimensions], rel=1e-3)


@given(st.integers(0, 1000))
def test_distances_between_models_are_those_of_their_fitted_answers(seed):
    factors = factorize(dense(seed), 4)
    text = factors.question_vectors @ factors.model_vectors.T
    apart = ((text[:, 0] - text[:, 1]) ** 2).mean()
    gap = factors.model_vectors[0] - factors.model_vectors[1]
    assert (gap**2).sum() == pytest.approx(apart, abs=1e-4)


@given(st.integers(0, 1000))
def test_the_order_of_models_and_questions_does_not_matter(seed):
    answers = dense(seed, 40, 7)
    generator = np.random.default_rng(seed)
    models, questions = generator.permutation(7), generator.permutation(40)
    first, second = factorize(answers, 3), factorize(answers[questions][:, models], 3)
    assert fitted(second) == pytest.approx(fitted(first)[questions][:, models], abs=2e-3)


def test_dimensions_that_the_answers_do_not_fill_are_zero():
    answers = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.float32)
    factors = factorize(answers, 2)
    assert factors.model_vectors.shape == (2, 2)
    assert factors.question_vectors.shape == (4, 2)
    assert not factors.model_vectors[:, 1].any()
    assert not factors.question_vectors[:, 1].any()


def test_models_that_all_answer_alike_differ_in_nothing():
    factors = factorize(np.ones((5, 3), dtype=np.float32), 2)
    assert factors.skills.tolist() == [1, 1, 1]
    assert not factors.model_vectors.any()


def test_unknown_answers_of_a_simple_fleet_are_filled_correctly():
    generator = np.random.default_rng(0)
    models, questions = generator.integers(0, 2, size=(2, 60))
    truth = (models == questions[:, None]).astype(np.float32)
    answers = truth.copy()
    hidden = generator.random(answers.shape) < 0.5
    answers[hidden] = np.nan
    found = fitted(factorize(answers, 1))
    assert ((found > 0.5) == truth)[hidden].mean() > 0.99


def test_more_rounds_fit_the_known_answers_better():
    answers = dense(1, 60, 10)
    known = np.random.default_rng(2).random(answers.shape) < 0.6
    answers[~known] = np.nan
    errors = [
        ((fitted(factorize(answers, 3, rounds=rounds)) - answers)[known] ** 2).mean()
        for rounds in (1, 3, 10)
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[2] < 0.8 * errors[0]


def test_a_question_that_nobody_answered_is_no_obstacle():
    answers = dense(1)
    answers[3] = np.nan
    assert np.isfinite(fitted(factorize(answers, 3))).all()
