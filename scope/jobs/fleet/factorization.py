"""Models and questions as vectors: skills, factors of the answers, and new models."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.jobs.fleet.questions import Answers

_UNIFORM_VARIANCE = 1 / 12


def shrunk_skills(answers: Answers) -> NDArray[np.float32]:
    """Each model's share of right answers, drawn to the fleet's mean where few are known.

    A model's share over the questions that it answered stands for its share over all. It errs
    by the variance of a right answer, divided by the number of its answers, times the share of
    questions that it did *not* answer: nothing is left to chance about a model that answered
    them all, and its skill is its plain accuracy. Other skills are drawn to the fleet's mean by
    as much as this error weighs against the models' true differences (empirical Bayes). A model
    without answers has the fleet's mean.

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
    Nothing is known of the third model, and nothing is uncertain about the others:

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
    # What one unit of a right answer's variance adds to the variance of a model's share.
    error = (1 - count / len(answers)) / np.maximum(count, 1)
    between, within = _variances(share, count, error)
    total = between + within * error
    # Where nothing is uncertain and nothing differs there is nothing to draw.
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
    """Each new model's share of right answers, drawn to what is expected where few are known.

    As `shrunk_skills`, but the models' true differences are those between the skills of the
    fleet, as if one more had been seen of which nothing but 0 to 1 is known.

    Parameters
    ----------
    answers
        Shape (questions answered, new models): 1 right, 0 wrong, NaN unknown.
    fleet
        The skills of the models that were there before.
    questions
        How many there are in all.
    expected
        The share of right answers that each new model is predicted over all questions, and
        over those that it answered: right answers to easy ones then count for little. The
        fleet's mean for both where it is not given.

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
    # A question may be given twice: there is no less than nothing left to chance.
    error = np.maximum(1 - count / questions, 0) / count
    weight = between / (between + within * error)
    drawn = np.clip(everywhere + weight * (share - there), 0, 1)
    return np.asarray(drawn, dtype=np.float32)


def _variances(
    share: NDArray[np.float64], count: NDArray[np.float64], error: NDArray[np.float64]
) -> tuple[float, float]:
    """The variance of true skills between models, and of a right answer within one, by moments.

    Within a model the variance is m (1 - m) less that between them, m the share of all answers
    that are right; this makes the moment equation linear in the one unknown.
    """
    answered = count.sum()
    mean = float((count * share).sum() / answered)
    spread = float((count * (share - mean) ** 2).sum())
    room = count * (1 - count / answered)
    identified = float((room * (1 - error)).sum())
    if identified < 1e-9:
        # One model, or one answer each: nothing tells skill from luck.
        return 0.0, mean * (1 - mean)
    between = (spread - mean * (1 - mean) * float((room * error).sum())) / identified
    between = min(max(between, 0.0), mean * (1 - mean))
    return between, mean * (1 - mean) - between


_NEGLIGIBLE = 1e-9
"""The share of the greatest squared singular value under which one counts as zero."""


class Factors(NamedTuple):
    """``answers`` is about ``skills + question_vectors @ model_vectors.T``.

    ``skills`` has shape (models,), ``model_vectors`` (models, dimensions), ``question_vectors``
    (questions, dimensions). Dimensions come in the order of their weight. Each one's question
    coordinates have mean square 1, so that the squared distance between two models' vectors is
    their fitted answers' mean squared difference, skills apart. Dimensions that the answers do
    not fill are zero throughout.
    """

    skills: NDArray[np.float32]
    model_vectors: NDArray[np.float32]
    question_vectors: NDArray[np.float32]


def factorize(answers: Answers, dimensions: int, *, rounds: int = 10) -> Factors:
    """Split answers into skills and the few dimensions in which models and questions differ.

    The singular value decomposition of the answers less each model's skill: the best such
    approximation in squared error. Unknown answers start at the skill and are then filled with
    the approximation, ``rounds`` times in all (expectation and maximisation); where all are
    known, one round is exact.

    Parameters
    ----------
    answers
        Shape (questions, models): 1 right, 0 wrong, NaN unknown.
    dimensions
        How many coordinates a model has beside its skill.
    rounds
        How often the unknown answers are filled.

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
    # An eigenvector's sign is arbitrary: each dimension's greatest model coordinate is positive.
    # Rounded, so that of two equal coordinates always the first is the greatest.
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
    vectors = np.empty((answers.shape[1], design.shape[1]), dtype=np.float32)
    for model, correct in enumerate(answers.T):
        known = ~np.isnan(correct)
        rows = design[known]
        surprise = correct[known] - rows @ prior.mean
        # (noise + C D'D)⁻¹ C D' equals C D' (D C D' + noise)⁻¹, takes no inverse of C, and its
        # size is that of a vector, however many answers there are.
        system = prior.noise * np.eye(design.shape[1]) + prior.covariance @ (rows.T @ rows)
        moved = np.linalg.solve(system, prior.covariance @ (rows.T @ surprise))
        vectors[model] = prior.mean + moved
    return vectors
