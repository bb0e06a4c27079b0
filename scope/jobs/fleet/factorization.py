"""Models and questions as vectors: skills, factors of the answers, and new models."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.jobs.fleet.questions import Answers

_UNIFORM_VARIANCE = 1 / 12


def shrunk_skills(answers: Answers) -> NDArray[np.float32]:
    """Each model's accuracy, shrunk towards the fleet's mean if it has few answers.

    A model's accuracy on its answered questions estimates its accuracy on all questions. The
    variance of this estimate is the variance of an answer, divided by the number of answers, times
    the share of questions *not* answered: a model that answered every question has no error, and
    its skill is its plain accuracy. Other skills are shrunk towards the fleet's mean, by the ratio
    of this variance to its sum with the variance between models (empirical Bayes). A model without
    answers has the fleet's mean.

    Parameters
    ----------
    answers
        Shape (questions, models): 1 right, 0 wrong, NaN unknown.

    Returns
    -------
    NDArray
        Shape (models,), from 0 to 1.

    Examples
    --------
    The third model has no answers, the others answered every question:

    >>> answers = np.array([[1, 0, np.nan], [1, 0, np.nan], [1, 0, np.nan], [0, 1, np.nan]])
    >>> shrunk_skills(answers.astype(np.float32)).tolist()
    [0.75, 0.25, 0.5]
    """
    known = ~np.isnan(answers)
    if not known.any():
        return np.full(answers.shape[1], 0.5, dtype=np.float32)
    count = known.sum(axis=0).astype(np.float64)
    right = np.where(known, answers, 0).sum(axis=0, dtype=np.float64)
    share = right / np.maximum(count, 1)
    # The variance of a model's share per unit of an answer's variance.
    error = (1 - count / len(answers)) / np.maximum(count, 1)
    between, within = _variances(share, count, error)
    total = between + within * error
    # Without error and without differences between models, nothing is shrunk.
    weight = np.divide(between, total, out=np.ones_like(total), where=total > 0) * (count > 0)
    precision = (count > 0) / np.maximum(total, 1e-12)
    mean = (precision * share).sum() / precision.sum()
    drawn: NDArray[np.float32] = (mean + weight * (share - mean)).astype(np.float32)
    return drawn


def new_model_skills(
    answers: Answers,
    fleet: NDArray[np.float32],
    questions: int,
    expected: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
) -> NDArray[np.float32]:
    """Each new model's accuracy, shrunk towards the expected one if it has few answers.

    As `shrunk_skills`, but the variance between models is that of the fleet's skills, plus the
    variance of a uniform skill from 0 to 1, divided by the number of models.

    Parameters
    ----------
    answers
        Shape (questions answered, new models): 1 right, 0 wrong, NaN unknown.
    fleet
        The skills of the models already in the fleet.
    questions
        Number of all questions.
    expected
        The predicted accuracy of each new model on all questions, and on those that it answered, so
        that right answers to easy questions count for little. By default the fleet's mean for both.

    Examples
    --------
    One right answer of ten moves a new model up from 0.5, ten of ten move it all the way:

    >>> fleet = np.array([0.4, 0.6], dtype=np.float32)
    >>> one, ten = np.ones((1, 1), dtype=np.float32), np.ones((10, 1), dtype=np.float32)
    >>> print(new_model_skills(one, fleet, 10).round(2), new_model_skills(ten, fleet, 10))
    [0.61] [1.]
    """
    known = ~np.isnan(answers)
    count = np.maximum(known.sum(axis=0).astype(np.float64), 1)
    share = np.where(known, answers, 0).sum(axis=0, dtype=np.float64) / count
    skills = fleet.astype(np.float64)
    everywhere, there = expected or (np.full(len(share), skills.mean()),) * 2
    between = skills.var() * len(skills) / max(len(skills) - 1, 1)
    between += _UNIFORM_VARIANCE / len(skills)
    within = float((skills * (1 - skills)).mean())
    # A question may occur twice, so the unanswered share could be negative.
    error = np.maximum(1 - count / questions, 0) / count
    weight = between / (between + within * error)
    drawn = np.clip(everywhere + weight * (share - there), 0, 1)
    return np.asarray(drawn, dtype=np.float32)


def _variances(
    share: NDArray[np.float64], count: NDArray[np.float64], error: NDArray[np.float64]
) -> tuple[float, float]:
    """The variance of true skills between models, and of answers within a model, by moments.

    The variance within a model is m (1 - m) minus the variance between models, where m is the share
    of right answers. This makes the moment equation linear in one unknown.
    """
    answered = count.sum()
    mean = float((count * share).sum() / answered)
    spread = float((count * (share - mean) ** 2).sum())
    room = count * (1 - count / answered)
    identified = float((room * (1 - error)).sum())
    if identified < 1e-9:
        # With one model, or one answer each, skill and luck cannot be separated.
        return 0.0, mean * (1 - mean)
    between = (spread - mean * (1 - mean) * float((room * error).sum())) / identified
    between = min(max(between, 0.0), mean * (1 - mean))
    return between, mean * (1 - mean) - between


_NEGLIGIBLE = 1e-9
"""A squared singular value below this share of the greatest counts as zero."""


class Factors(NamedTuple):
    """``answers`` is about ``skills + question_vectors @ model_vectors.T``.

    ``skills`` has shape (models,), ``model_vectors`` (models, dimensions), ``question_vectors``
    (questions, dimensions). Dimensions are sorted by weight. The question coordinates of each
    dimension have mean square 1, so that the squared distance between two models' vectors is the
    mean squared difference of their fitted answers, apart from skill. Dimensions beyond the rank of
    the answers are zero.
    """

    skills: NDArray[np.float32]
    model_vectors: NDArray[np.float32]
    question_vectors: NDArray[np.float32]


def factorize(answers: Answers, dimensions: int, *, rounds: int = 10) -> Factors:
    """Split answers into skills and the few dimensions in which models and questions differ.

    The singular value decomposition of the answers minus each model's skill, which minimises the
    squared error. Unknown answers start at the skill and are then replaced by the approximation, in
    ``rounds`` rounds (expectation-maximisation); if all are known, one round is exact.

    Parameters
    ----------
    answers
        Shape (questions, models): 1 right, 0 wrong, NaN unknown.
    dimensions
        Number of coordinates of a model, besides its skill.
    rounds
        Number of times that the unknown answers are filled.

    Examples
    --------
    Two kinds of questions, two kinds of models, one dimension:

    >>> answers = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]], dtype=np.float32)
    >>> factors = factorize(answers, 1)
    >>> factors.skills.tolist(), factors.model_vectors.round(3).tolist()
    ([0.5, 0.5, 0.5], [[0.5], [0.5], [-0.5]])
    >>> factors.question_vectors.round(3).ravel().tolist()
    [1.0, 1.0, -1.0, -1.0]
    """
    known = ~np.isnan(answers)
    skills = shrunk_skills(answers)
    residual = np.where(known, answers - skills, np.float32(0)).astype(np.float32)
    if known.all():
        return Factors(skills, *_decomposed(residual, dimensions))
    filled = residual
    for _ in range(rounds):
        model_vectors, question_vectors = _decomposed(filled, dimensions)
        filled = np.where(known, residual, question_vectors @ model_vectors.T)
    return Factors(skills, model_vectors, question_vectors)


def _decomposed(
    residual: NDArray[np.float32], dimensions: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Model and question vectors by the eigenvectors of the smaller of the two Gram matrices."""
    questions, models = residual.shape
    fewer_models = models <= questions
    narrow = residual if fewer_models else residual.T
    squares, vectors = np.linalg.eigh((narrow.T @ narrow).astype(np.float64))
    squares, vectors = squares[::-1][:dimensions], vectors[:, ::-1][:, :dimensions]
    kept = squares > max(_NEGLIGIBLE * squares[0], 1e-12)
    squares, vectors = squares[kept], vectors[:, kept]
    long = narrow @ (vectors / np.sqrt(squares))
    of_models, of_questions = (vectors, long) if fewer_models else (long, vectors)
    # An eigenvector's sign is arbitrary: the greatest model coordinate of each dimension is made
    # positive. Rounding makes the first of two equal coordinates the greatest.
    greatest = np.abs(of_models).round(6).argmax(axis=0)
    signs = np.sign(of_models[greatest, np.arange(len(squares))])
    size = np.sqrt(squares / questions)
    missing = [(0, 0), (0, dimensions - len(squares))]
    return (
        np.pad(of_models * signs * size, missing).astype(np.float32),
        np.pad(of_questions * signs * np.sqrt(questions), missing).astype(np.float32),
    )


_LEAST_NOISE = 1e-3


class Prior(NamedTuple):
    """The prior of a new model's vector from a fleet: ``mean`` and ``covariance``.

    A vector is the skill and then the coordinates. ``noise`` is the variance of an answer around
    the prediction of the true vector.
    """

    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]
    noise: float


def vector_prior(vectors: NDArray[np.float32], noise: float) -> Prior:
    """The mean and covariance of a fleet's vectors; a small fleet has a wider prior of the skill.

    The variance of a uniform skill from 0 to 1, divided by the number of models, is added.

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
    """The variance of a new model's answers around the prediction of the factors.

    The fleet's own residuals are smaller, because the factors were fitted to them: their squares
    are divided by the degrees of freedom, the known answers minus the fitted numbers. The upper
    limit is the variance around the skills alone, which is also used without degrees of freedom.

    Examples
    --------
    One dimension fits the only model's answers exactly, and predicts no other model's:

    >>> from scope.jobs.fleet.factorization import factorize
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
        Coordinates of the answered questions, learned from the fleet; shape (questions,
        dimensions).
    answers
        Shape (questions, models): 1 right, 0 wrong, NaN unknown.

    Returns
    -------
    NDArray
        Shape (models, 1 + dimensions): the skill, then the coordinates.

    Examples
    --------
    Skills of variance 0.1 about 0.5, answers of variance 0.2 about a skill: two right answers have
    the weight of the prior, and the skill moves halfway to 1.

    >>> prior = Prior(np.array([0.5]), np.array([[0.1]]), 0.2)
    >>> right = np.ones((2, 1), dtype=np.float32)
    >>> new_model_vectors(np.zeros((2, 0), dtype=np.float32), right, prior).tolist()
    [[0.75]]
    """
    design = np.column_stack([np.ones(len(coordinates)), coordinates.astype(np.float64)])
    vectors = np.empty((answers.shape[1], design.shape[1]), dtype=np.float32)
    for model, correct in enumerate(answers.T):
        known = ~np.isnan(correct)
        rows = design[known]
        surprise = correct[known] - rows @ prior.mean
        # (noise + C D'D)⁻¹ C D' equals C D' (D C D' + noise)⁻¹, needs no inverse of C, and has the
        # size of a vector for any number of answers.
        system = prior.noise * np.eye(design.shape[1]) + prior.covariance @ (rows.T @ rows)
        moved = np.linalg.solve(system, prior.covariance @ (rows.T @ surprise))
        vectors[model] = prior.mean + moved
    return vectors
