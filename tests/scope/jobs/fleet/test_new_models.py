"""Vectors of new models, with the rest of the fleet frozen."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize

from scope.jobs.fleet.factorization import (
    Prior,
    answer_noise,
    factorize,
    new_model_vectors,
    vector_prior,
)
from scope.jobs.fleet.matrix_factorization import Spread, most_probable_vectors, spread_of


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


def test_noise_is_that_of_answers_the_factors_were_not_fitted_to():
    generator = np.random.default_rng(0)
    skill = np.full(12, 0.5)
    answers = (generator.random((3000, 12)) < skill).astype(np.float32)
    # Pure chance, of variance 0.25: of 12 models' answers 9 dimensions leave little unfitted.
    factors = factorize(answers, 9)
    missed = answers - factors.skills - factors.question_vectors @ factors.model_vectors.T
    assert (missed**2).mean() < 0.08
    assert answer_noise(answers, factors) == pytest.approx(0.25, abs=0.03)


NAN = np.nan


def drawn(seed, models=30, dimensions=4, questions=50):
    generator = np.random.default_rng(seed)
    spread = spread_of(generator.standard_normal((models, dimensions)).astype(np.float32) + 1)
    coordinates = generator.standard_normal((questions, dimensions)).astype(np.float32)
    offsets = generator.standard_normal(questions).astype(np.float32)
    answers = generator.integers(0, 2, size=(questions, 3)).astype(np.float32)
    answers[generator.random(answers.shape) < 0.2] = NAN
    return spread, coordinates, offsets, answers


@given(st.integers(0, 1000), st.integers(1, 60))
def test_the_most_probable_vector_is_that_of_a_general_optimizer(seed, questions):
    # Fewer and more answers than dimensions take different ways.
    spread, coordinates, offsets, answers = drawn(seed, questions=questions)
    precision = np.linalg.inv((spread.root @ spread.root.T).astype(np.float64))
    for found, right in zip(
        most_probable_vectors(spread, coordinates, offsets, answers), answers.T, strict=True
    ):
        seen = ~np.isnan(right)

        def cost(vector, seen=seen, right=right):
            logits = offsets[seen] + coordinates[seen] @ vector
            away = vector - spread.mean
            return (np.logaddexp(0, logits) - right[seen] * logits).sum() + (
                away @ precision @ away
            ) / 2

        assert cost(found) <= minimize(cost, spread.mean.astype(np.float64)).fun + 1e-4


def test_the_spread_is_the_covariances_root():
    vectors = np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32) * [1, 2, 3]
    mean, root = spread_of(vectors.astype(np.float32))
    assert mean == pytest.approx(vectors.mean(axis=0), abs=1e-6)
    assert root @ root.T == pytest.approx(np.cov(vectors.T), abs=1e-4)


@pytest.mark.parametrize("models", [1, 2, 3])
def test_fewer_models_than_dimensions_have_a_spread(models):
    vectors = np.random.default_rng(0).standard_normal((models, 8)).astype(np.float32)
    spread = spread_of(vectors)
    assert isinstance(spread, Spread)
    assert np.isfinite(spread.root).all()
    # A new model is let differ as those of the fleet do, and hardly otherwise.
    assert np.linalg.matrix_rank(spread.root, tol=0.01) == (8 if models == 1 else models - 1)
