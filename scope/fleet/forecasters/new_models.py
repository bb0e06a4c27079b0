"""Vectors of new models among those of a fitted fleet, with all other parameters frozen.

From a few answers each: by Bayes's rule on a linear model (`new_model_vectors`) or by logistic
regression (`most_probable_vectors`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

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
    outside = places[~np.isin(places, np.arange(questions))]
    if found.ndim != 2 or places.shape != found.shape[:1] or len(outside):
        raise DataError(
            f"answers of shape {found.shape} to the row {outside[0]}"
            if len(outside)
            else f"answers of shape {found.shape} to rows of shape {places.shape}",
            expected=f"one row of answers for each row from 0 to {questions - 1}, and one column a "
            "model",
            fix="give answers to questions that the fleet was fitted on",
        )
    require_right_or_wrong(found)
    require_answers_of_each(found)
    return places.astype(np.int64), found


Numbers = NDArray[np.float64]

_ITERATIONS = 50
_ENOUGH = 1e-6


class Spread(NamedTuple):
    """How the vectors of a fleet lie: their ``mean``, and a root of their covariance."""

    mean: NDArray[np.float32]
    root: NDArray[np.float32]


def spread_of(vectors: NDArray[np.float32]) -> Spread:
    """The mean and covariance of vectors of shape (models, dimensions).

    A fleet of one tells nothing of how models differ; 1 in every dimension is taken then.

    Examples
    --------
    >>> mean, root = spread_of(np.array([[2.0], [6.0], [10.0]], dtype=np.float32))
    >>> mean.tolist(), root.round(3).tolist()
    ([6.0], [[4.0]])
    """
    mean, size = vectors.mean(axis=0, dtype=np.float64), vectors.shape[1]
    if len(vectors) < 2:
        return Spread(mean.astype(np.float32), np.eye(size, dtype=np.float32))
    away = vectors - mean
    covariance = away.T @ away / (len(vectors) - 1)
    # Fewer models than dimensions leave directions in which nothing differs: there a new model
    # is let differ by a thousandth of what it does elsewhere, so that the root exists.
    level = max(float(np.trace(covariance)) / size, 1e-12)
    root = np.linalg.cholesky(covariance + 1e-6 * level * np.eye(size))
    return Spread(mean.astype(np.float32), root.astype(np.float32))


def logit_places(
    vectors: NDArray[np.float32], coordinates: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Vectors turned so that squared distances are mean squared differences of logits.

    A dimension that no question asks for counts for nothing then, and one that all ask for a lot.

    Parameters
    ----------
    vectors
        Shape (models, dimensions).
    coordinates
        Of the questions, shape (questions, dimensions): times a vector, they make a logit.

    Examples
    --------
    >>> vectors = np.array([[0, 0], [1, 9]], dtype=np.float32)
    >>> logit_places(vectors, np.array([[2, 0], [2, 0]], dtype=np.float32)).tolist()
    [[0.0, 0.0], [2.0, 0.0]]
    """
    asked = coordinates.astype(np.float64)
    with threadpool_limits(1):
        squares, directions = np.linalg.eigh(asked.T @ asked / len(asked))
        # The symmetric root: it does not hang on the signs of the directions.
        root = (directions * np.sqrt(np.maximum(squares, 0))) @ directions.T
        return np.asarray(vectors @ root, dtype=np.float32)


def most_probable_vectors(
    spread: Spread,
    coordinates: NDArray[np.float32],
    offsets: NDArray[np.float32],
    answers: Answers,
) -> NDArray[np.float32]:
    """The most probable vectors of new models, if they are like those of the fleet.

    The logit of a right answer is the question's coordinates times the model's vector, plus the
    question's offset. Before its answers are seen, a vector is taken to be normal with mean and
    covariance of the fleet's; the most probable one after them is found by Newton's method.
    Without answers this is the fleet's mean.

    Parameters
    ----------
    spread
        Of the fleet's vectors.
    coordinates, offsets
        Of the questions answered, shapes (questions, dimensions) and (questions,).
    answers
        Shape (questions, new models): 1 right, 0 wrong, NaN unknown.

    Returns
    -------
    NDArray
        Shape (new models, dimensions).

    Examples
    --------
    Where v is the vector, of one dimension, four right answers say 4 / (1 + exp(v)) = v:

    >>> spread = spread_of(np.array([[-1], [0], [1]], dtype=np.float32))
    >>> questions, offsets = np.ones((4, 1), dtype=np.float32), np.zeros(4, dtype=np.float32)
    >>> answers = np.array([[1, 1], [1, 0], [1, 1], [1, 0]], dtype=np.float32)
    >>> print(most_probable_vectors(spread, questions, offsets, answers).round(2))
    [[1.04]
     [0.  ]]
    """
    # In units of the fleet's spread a vector is normal with covariance 1.
    design = (coordinates @ spread.root).astype(np.float64)
    base = (offsets + coordinates @ spread.mean).astype(np.float64)
    known = ~np.isnan(answers)
    places = [
        spread.mean + spread.root @ _most_probable(design[seen], base[seen], answers[seen, model])
        for model, seen in enumerate(known.T)
    ]
    return np.asarray(places, dtype=np.float32).reshape(-1, coordinates.shape[1])


def _most_probable(design: Numbers, base: Numbers, right: NDArray[np.float32]) -> Numbers:
    """Greatest posterior of a logistic regression with a standard normal prior, by Newton."""
    from scipy.special import expit

    found = np.zeros(design.shape[1])
    penalty = _penalty(found, design, base, right)
    for _ in range(_ITERATIONS):
        probability = expit(base + design @ found)
        gradient = design.T @ (probability - right) + found
        step = _newton_step(design, probability * (1 - probability), gradient)
        size = 1.0
        while (new := _penalty(found - size * step, design, base, right)) > penalty and size > 1e-4:
            size /= 2
        if penalty - new < _ENOUGH:
            break
        found, penalty = found - size * step, new
    return found


def _penalty(found: Numbers, design: Numbers, base: Numbers, right: NDArray[np.float32]) -> float:
    logits = base + design @ found
    return float((np.logaddexp(0, logits) - right * logits).sum() + found @ found / 2)


def _newton_step(design: Numbers, variances: Numbers, gradient: Numbers) -> Numbers:
    """The inverse of 1 + D'VD, times the gradient, by whichever side has fewer equations."""
    answers, dimensions = design.shape
    if dimensions <= answers:
        hessian = (design.T * variances) @ design + np.eye(dimensions)
        return np.asarray(np.linalg.solve(hessian, gradient))
    scaled = design * np.sqrt(variances)[:, None]
    inner = np.linalg.solve(scaled @ scaled.T + np.eye(answers), scaled @ gradient)
    return np.asarray(gradient - scaled.T @ inner)
