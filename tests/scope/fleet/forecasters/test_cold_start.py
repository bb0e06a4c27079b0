"""Vectors of further models: by hand, against the textbook's formula, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.errors import DataError
from scope.fleet.forecasters.cold_start import (
    Prior,
    answer_noise,
    checked_new_models,
    new_model_vectors,
    vector_prior,
)
from scope.fleet.forecasters.factorization import factorize


def problem(seed, answered=30, size=4):
    generator = np.random.default_rng(seed)
    root = generator.normal(size=(size, size))
    prior = Prior(generator.normal(size=size), root @ root.T, 0.2)
    coordinates = generator.normal(size=(answered, size - 1)).astype(np.float32)
    answers = generator.integers(0, 2, size=(answered, 2)).astype(np.float32)
    return coordinates, answers, prior


@given(st.integers(0, 1000), st.sampled_from([1, 3, 30]))
def test_equals_the_posterior_mean_in_its_covariance_form(seed, answered):
    coordinates, answers, prior = problem(seed, answered)
    design = np.column_stack([np.ones(answered), coordinates])
    spread = design @ prior.covariance @ design.T + prior.noise * np.eye(answered)
    gain = prior.covariance @ design.T @ np.linalg.inv(spread)
    expected = prior.mean[:, None] + gain @ (answers - (design @ prior.mean)[:, None])
    assert new_model_vectors(coordinates, answers, prior) == pytest.approx(expected.T, abs=1e-3)


def test_unknown_answers_are_as_if_never_asked():
    coordinates, answers, prior = problem(0)
    answers[10:, 0] = np.nan
    both = new_model_vectors(coordinates, answers, prior)
    alone = new_model_vectors(coordinates[:10], answers[:10, :1], prior)
    assert both[0] == pytest.approx(alone[0], abs=1e-6)


def test_the_priors_covariance_is_that_of_the_vectors_and_a_wider_skill():
    vectors = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    expected = np.cov(vectors.T)
    expected[0, 0] += 1 / 12 / 50
    assert vector_prior(vectors, 0.2).covariance == pytest.approx(expected, abs=1e-6)


def test_a_single_model_says_that_any_skill_may_be():
    prior = vector_prior(np.float32([[0.5]]), 0.25)
    assert prior.covariance.ravel().tolist() == pytest.approx([1 / 12], abs=1e-6)
    right = np.ones((100, 1), dtype=np.float32)
    assert new_model_vectors(np.zeros((100, 0), np.float32), right, prior)[0, 0] > 0.95


def test_noise_is_that_of_answers_the_factors_were_not_fitted_to():
    generator = np.random.default_rng(0)
    skill = np.full(12, 0.5)
    answers = (generator.random((3000, 12)) < skill).astype(np.float32)
    # Pure chance, of variance 0.25: of 12 models' answers 9 dimensions leave little unfitted.
    factors = factorize(answers, 9)
    missed = answers - factors.skills - factors.question_vectors @ factors.model_vectors.T
    assert (missed**2).mean() < 0.08
    assert answer_noise(answers, factors) == pytest.approx(0.25, abs=0.03)


def test_rows_and_answers_that_go_together_pass_as_they_are():
    rows, answers = checked_new_models(np.array([4, 0]), np.array([[1, 0], [np.nan, 1]]), 5)
    assert rows.tolist() == [4, 0]
    assert answers.dtype == np.float32
    assert answers[0].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("rows", "answers", "found"),
    [
        ([0, 1], [[1.0]], r"answers of shape \(1, 1\) to rows of shape \(2,\)"),
        ([0], [1.0], r"answers of shape \(1,\)"),
        ([0, 5], [[1.0], [0.0]], "the row 5"),
        ([-1, 0], [[1.0], [0.0]], "the row -1"),
        ([0.5], [[1.0]], "the row 0.5"),
        ([0, 1], [[0.3], [0.0]], "the value 0.3"),
        ([0, 1], [[1.0, np.nan], [0.0, np.nan]], "no answer of the model in column 1"),
    ],
)
def test_what_does_not_go_together_is_refused(rows, answers, found):
    with pytest.raises(DataError, match=found):
        checked_new_models(np.array(rows), np.array(answers), 5)
