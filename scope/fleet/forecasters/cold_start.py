"""Vectors of new models from a few answers each, with all other parameters frozen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError
from scope.fleet.forecasters.factorization import Factors
from scope.fleet.forecasters.forecaster import require_answers_of_each, require_right_or_wrong
from scope.fleet.layout import Answers

_UNIFORM_VARIANCE = 1 / 12
_LEAST_NOISE = 1e-3


class Prior(NamedTuple):
    """The prior of a new model's vector from a fleet: ``mean`` and ``covariance``.

    A vector is the skill and then the coordinates. ``noise`` is the variance of an answer about
    what the right vector predicts.
    """

    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]
    noise: float


def vector_prior(vectors: NDArray[np.float32], noise: float) -> Prior:
    """The mean and spread of a fleet's vectors, the skill's widened where the fleet is small.

    Skills vary as if one model more had been seen, of which nothing but 0 to 1 is known.

    Examples
    --------
    >>> prior = vector_prior(np.array([[0.4, 0.1], [0.6, -0.1]], dtype=np.float32), 0.2)
    >>> prior.mean.round(6).tolist(), prior.covariance.round(3).tolist()
    ([0.5, 0.0], [[0.062, -0.02], [-0.02, 0.02]])
    """
    models, size = vectors.shape
    points = vectors.astype(np.float64)
    mean = points.mean(axis=0)
    away = points - mean
    covariance = away.T @ away / max(models - 1, 1) + 1e-8 * np.eye(size)
    covariance[0, 0] += _UNIFORM_VARIANCE / models
    return Prior(mean, covariance, noise)


def answer_noise(answers: Answers, factors: Factors) -> float:
    """The variance of an answer about what the factors make of it, for a model not among them.

    The fleet's own answers lie nearer, as the factors were fitted to them: their squared misses
    are spread over the answers known beyond the numbers fitted. The variance about the skills
    alone is the most it can be, and stands where as many numbers were fitted as answers known.

    Examples
    --------
    One dimension fits the only model's answers wholly, and says nothing about another model's:

    >>> from scope.fleet.forecasters.factorization import factorize
    >>> answers = np.array([[1], [0]], dtype=np.float32)
    >>> answer_noise(answers, factorize(answers, 1))
    0.25
    """
    skills, model_vectors, question_vectors = factors
    known = ~np.isnan(answers)
    about_skill = (answers - skills)[known].astype(np.float64)
    most = max(float((about_skill**2).mean()), _LEAST_NOISE)
    questions, models = answers.shape
    dimensions = int(model_vectors.any(axis=0).sum())
    free = float(known.sum()) - models - dimensions * (models + questions - dimensions)
    if free <= 0:
        return most
    misses = about_skill - (question_vectors @ model_vectors.T)[known]
    unfitted: float = float((misses**2).sum()) / free
    return min(max(unfitted, _LEAST_NOISE), most)


def new_model_vectors(
    coordinates: NDArray[np.float32], answers: Answers, prior: Prior
) -> NDArray[np.float32]:
    """The most probable vector of each new model, by Bayesian linear regression.

    Parameters
    ----------
    coordinates
        Shape (questions, dimensions): of the questions answered, as learned from the fleet.
    answers
        Shape (questions, models): 1 right, 0 wrong, NaN unknown.

    Returns
    -------
    NDArray
        Shape (models, 1 + dimensions): the skill, then the coordinates.

    Examples
    --------
    Skills of variance 0.1 about 0.5, answers of variance 0.2 about a skill: two right answers
    weigh as much as the prior, and half the way to 1 is gone.

    >>> prior = Prior(np.array([0.5]), np.array([[0.1]]), 0.2)
    >>> right = np.ones((2, 1), dtype=np.float32)
    >>> new_model_vectors(np.zeros((2, 0), dtype=np.float32), right, prior).tolist()
    [[0.75]]
    """
    design = np.column_stack([np.ones(len(coordinates)), coordinates.astype(np.float64)])
    found = np.empty((answers.shape[1], design.shape[1]), dtype=np.float32)
    for model, given in enumerate(answers.T):
        known = ~np.isnan(given)
        rows = design[known]
        surprise = given[known] - rows @ prior.mean
        # (noise + C D'D)⁻¹ C D' equals C D' (D C D' + noise)⁻¹, takes no inverse of C, and its
        # size is that of a vector, however many answers there are.
        system = prior.noise * np.eye(design.shape[1]) + prior.covariance @ (rows.T @ rows)
        moved = np.linalg.solve(system, prior.covariance @ (rows.T @ surprise))
        found[model] = prior.mean + moved
    return found


def checked_new_models(
    rows: NDArray[np.int64], answers: Answers, questions: int
) -> tuple[NDArray[np.int64], Answers]:
    """The rows and answers of new models, if they go together.

    Answers that are all right or all wrong are allowed.

    Raises
    ------
    DataError
        When they do not, a row is none of the ``questions``, a value is none of 0, 1 and NaN, or
        a model has no answer.
    """
    places, found = np.asarray(rows), np.asarray(answers, dtype=np.float32)
    if places.ndim != 1 or found.ndim != 2 or len(found) != len(places):
        raise DataError(
            f"answers of shape {found.shape} to rows of shape {places.shape}",
            expected="one row of answers a question, and one column a model",
            fix="give one answer, or NaN, for each question and model",
        )
    whole = np.issubdtype(places.dtype, np.integer)
    outside = places[(places < 0) | (places >= questions)] if whole else places
    if len(outside):
        raise DataError(
            f"the row {outside[0]}",
            expected=f"rows from 0 to {questions - 1}: questions that it was fitted on",
            fix="give answers to questions of the fleet's own",
        )
    require_right_or_wrong(found)
    require_answers_of_each(found)
    return places.astype(np.int64), found
