"""Factors by hand and against NumPy, with answers unknown, and the vectors of new models."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scope.jobs.fleet.forecaster import (
    Prior,
    answer_noise,
    factorize,
    new_model_vectors,
    shrunk_skills,
    vector_prior,
)

UNKNOWN = np.nan


def matrix(rows):
    return np.array(rows, dtype=np.float32)


@given(st.integers(0, 10_000))
def test_who_answered_everything_has_the_plain_accuracy(seed):
    generator = np.random.default_rng(seed)
    answers = generator.integers(0, 2, size=generator.integers(1, 9, size=2)).astype(np.float32)
    assert shrunk_skills(answers) == pytest.approx(answers.mean(axis=0), abs=1e-6)


def test_the_moments_by_hand():
    # 20 questions, two models: all 20 answered, 16 correctly; 5 answered, 0 correctly.
    answers = matrix([[1, 0]] * 5 + [[1, UNKNOWN]] * 11 + [[0, UNKNOWN]] * 4)
    # mean 16/25; spread 20 (.8 - .64)² + 5 (.64)² = 2.56; room 20 · 5/25 and 5 · 20/25, 4 each;
    # error 0 and (1 - 5/20)/5 = .15; between (2.56 - .2304 · 4 · .15) / (4 + 4 · .85) = .327,
    # cut to .64 · .36 = .2304, so that nothing is left within a model and nothing is drawn.
    assert shrunk_skills(answers).tolist() == pytest.approx([0.8, 0.0])
    # With one right answer of 5: mean 17/25; spread 20 (.12)² + 5 (.48)² = 1.44;
    # between (1.44 - .2176 · .6) / 7.4 = .17695; within .04065, times .15 is .0061;
    # weight .17695 / .18305 = .9667; mean from precisions 5.651 and 5.463: .5051.
    answers[0, 1] = 1
    assert shrunk_skills(answers).tolist() == pytest.approx([0.8, 0.2102], abs=2e-4)


def test_shrunk_skills_are_nearer_to_the_truth_than_accuracies():
    generator = np.random.default_rng(3)
    truth = generator.beta(6, 4, size=200)
    answers = (generator.random((2000, 200)) < truth).astype(np.float32)
    answers[generator.random(answers.shape) < 0.99] = UNKNOWN
    plain = np.nanmean(answers, axis=0)
    assert ((shrunk_skills(answers) - truth) ** 2).mean() < 0.8 * ((plain - truth) ** 2).mean()


def dense(seed, questions=30, models=8):
    generator = np.random.default_rng(seed)
    return generator.integers(0, 2, size=(questions, models)).astype(np.float32)


def fitted(factors):
    return factors.skills + factors.question_vectors @ factors.model_vectors.T


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


def test_unknown_answers_of_a_simple_fleet_are_filled_correctly():
    generator = np.random.default_rng(0)
    models, questions = generator.integers(0, 2, size=(2, 60))
    truth = (models == questions[:, None]).astype(np.float32)
    answers = truth.copy()
    hidden = generator.random(answers.shape) < 0.5
    answers[hidden] = np.nan
    found = fitted(factorize(answers, 1))
    assert ((found > 0.5) == truth)[hidden].mean() > 0.99


def problem(seed, answered=30, size=4):
    generator = np.random.default_rng(seed)
    root = generator.normal(size=(size, size))
    prior = Prior(generator.normal(size=size), root @ root.T, 0.2)
    coordinates = generator.normal(size=(answered, size - 1)).astype(np.float32)
    answers = generator.integers(0, 2, size=(answered, 2)).astype(np.float32)
    return coordinates, answers, prior


@given(st.integers(0, 1000), st.sampled_from([1, 3, 30]))
def test_new_vectors_are_the_posterior_mean_in_its_covariance_form(seed, answered):
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
