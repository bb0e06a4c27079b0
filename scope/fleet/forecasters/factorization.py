"""Models and questions as vectors: the best approximation of who answers what by few numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.fleet.forecasters.skills import shrunk_skills
from scope.fleet.layout import Answers

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
    # Rounded, lest two that are as great as each other take turns at being the greatest.
    greatest = np.abs(of_models).round(6).argmax(axis=0)
    signs = np.sign(of_models[greatest, np.arange(len(squares))])
    size = np.sqrt(squares / questions)
    missing = [(0, 0), (0, dimensions - len(squares))]
    return (
        np.pad(of_models * signs * size, missing).astype(np.float32),
        np.pad(of_questions * signs * np.sqrt(questions), missing).astype(np.float32),
    )
