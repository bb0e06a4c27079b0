"""Vectors of new models among those of a fitted fleet, by logistic regression on answers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from scope.fleet.forecasters.skills import new_model_skills
from scope.fleet.layout import Answers

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


class FittedQuestions(NamedTuple):
    """The questions that a fleet was fitted on, as vectors meet them, and its models' skills.

    ``coordinates`` has shape (questions, dimensions), ``offsets`` (questions,), ``skills``
    (models,).
    """

    coordinates: NDArray[np.float32]
    offsets: NDArray[np.float32]
    skills: NDArray[np.float32]


def expected_skills(
    fitted: FittedQuestions, vectors: NDArray[np.float32], rows: NDArray[np.int64], answers: Answers
) -> NDArray[np.float32]:
    """The share of right answers to be expected of new models over all fitted questions.

    What their vectors predict, moved by as much as their answers were better than predicted
    (`new_model_skills`).

    Parameters
    ----------
    vectors
        Of the new models, from `most_probable_vectors`.
    rows, answers
        Which of the questions they answered, and how.

    Examples
    --------
    Right answers to easy questions, as anyone gives them, make no model the best:

    >>> offsets = np.repeat([9, -9], 10).astype(np.float32)
    >>> questions = FittedQuestions(np.zeros((20, 1), "f4"), offsets, np.float32([0.4, 0.6]))
    >>> easy = np.ones((10, 1), dtype=np.float32)
    >>> expected_skills(questions, np.zeros((1, 1), "f4"), np.arange(10), easy).round(2).tolist()
    [0.5]
    """
    from scipy.special import expit

    everywhere, there = np.empty(len(vectors)), np.empty(len(vectors))
    # One model at a time: a table of all chances may be larger than all else that is held.
    for model, vector in enumerate(vectors):
        chances = expit(fitted.coordinates @ vector + fitted.offsets).astype(np.float64)
        everywhere[model] = chances.mean()
        there[model] = chances[rows[~np.isnan(answers[:, model])]].mean()
    questions = len(fitted.coordinates)
    return new_model_skills(answers, fitted.skills, questions, (everywhere, there))


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
