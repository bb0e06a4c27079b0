"""Similarity of questions before any model answers, and ridge regression on it."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.jobs.fleet.questions import NO_CATEGORY

VECTOR_WIDTH, FEATURE_WIDTH = 0.6, 2.0
"""The squared distance with similarity 1/e, as a multiple of the median between questions."""

_NEGLIGIBLE = 1e-6
_BLOCK = 512


class QuestionInputs(NamedTuple):
    """The properties of questions that are known before any model answers them.

    ``vectors`` has shape (questions, d), ``features`` (questions, f); d and f may be 0. ``codes``,
    shape (questions,), are those of the categories; a question with -1 shares its category with
    none, not even itself.
    """

    vectors: NDArray[np.float32]
    features: NDArray[np.float32]
    codes: NDArray[np.int64]

    def take(self, rows: NDArray[np.int64] | slice) -> QuestionInputs:
        """Some of the questions."""
        return QuestionInputs(self.vectors[rows], self.features[rows], self.codes[rows])


class Mix(NamedTuple):
    """The weight of each kind of similarity.

    ``within`` is the weight of similar vectors and features within a category: a long question may
    be hard in one benchmark and easy in the next.
    """

    vectors: float = 1.0
    category: float = 0.0
    features: float = 0.0
    within: float = 0.0


MIXES = (
    Mix(),
    Mix(features=1),
    Mix(category=1),
    Mix(category=1, features=1),
    Mix(category=1, features=0.5, within=0.5),
    Mix(category=2, within=1),
    Mix(category=2, features=2, within=1),
    Mix(vectors=0.5, category=1, features=2, within=1),
)


class Kernel(NamedTuple):
    """The similarity of questions to a sample of them, the landmarks."""

    mix: Mix
    landmarks: QuestionInputs
    vector_width: float
    feature_width: float

    def __call__(self, questions: QuestionInputs) -> NDArray[np.float32]:
        """The similarity of each question to each landmark, shape (questions, landmarks)."""
        mix, marks = self.mix, self.landmarks
        vectors = _gaussian(questions.vectors, marks.vectors, self.vector_width)
        features = _gaussian(questions.features, marks.features, self.feature_width)
        same = (questions.codes[:, None] == marks.codes) & (marks.codes != NO_CATEGORY)
        within = np.where(same, mix.category + mix.within * (features + vectors), 0)
        return np.asarray(mix.vectors * vectors + mix.features * features + within, np.float32)

    def times(self, questions: QuestionInputs, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """``kernel(questions) @ weights``, a few hundred questions at a time.

        The processor's cores share the blocks. One thread computes each block, so the result is the
        same for any number of cores if the matrix library has one thread.
        """
        starts = range(0, max(len(questions.codes), 1), _BLOCK)
        with ThreadPoolExecutor(min(len(starts), os.cpu_count() or 1)) as pool:
            blocks = (questions.take(slice(start, start + _BLOCK)) for start in starts)
            return np.concatenate(list(pool.map(lambda block: self(block) @ weights, blocks)))


def mixes_of(*, features: bool, categories: bool) -> tuple[Mix, ...]:
    """The possible mixes with or without features and categories.

    Examples
    --------
    >>> len(mixes_of(features=True, categories=True))
    8
    >>> mixes_of(features=False, categories=False)
    (Mix(vectors=1.0, category=0.0, features=0.0, within=0.0),)
    """
    return tuple(
        mix
        for mix in MIXES
        if (features or not mix.features) and (categories or not (mix.category or mix.within))
    )


def landmark_kernel(
    questions: QuestionInputs, mix: Mix, landmarks: int, generator: np.random.Generator
) -> Kernel:
    """The kernel with a random sample of ``landmarks`` questions; all if there are fewer."""
    drawn = generator.permutation(len(questions.codes))[:landmarks]
    marks = questions.take(np.sort(drawn))
    return Kernel(
        mix,
        marks,
        VECTOR_WIDTH * _median_distance(marks.vectors),
        FEATURE_WIDTH * _median_distance(marks.features),
    )


def nystroem_basis(kernel: Kernel) -> NDArray[np.float32]:
    """The matrix from similarities to the landmarks to inputs whose products are the kernel.

    With ``inputs = kernel(questions) @ basis``, ``inputs @ inputs.T`` approximates the similarities
    between all questions; between landmarks it is exact.

    Examples
    --------
    >>> apart = np.array([[0.0], [30.0]], dtype=np.float32)
    >>> questions = QuestionInputs(apart, np.zeros((2, 0), np.float32), np.array([-1, -1]))
    >>> kernel = landmark_kernel(questions, Mix(), 2, np.random.default_rng(0))
    >>> inputs = kernel(questions) @ nystroem_basis(kernel)
    >>> print((inputs @ inputs.T).round(2))
    [[1.   0.19]
     [0.19 1.  ]]
    """
    squares, vectors = np.linalg.eigh(kernel(kernel.landmarks).astype(np.float64))
    kept = squares > _NEGLIGIBLE * squares[-1]
    basis: NDArray[np.float32] = (vectors[:, kept] / np.sqrt(squares[kept])).astype(np.float32)
    return basis


def _median_distance(points: NDArray[np.float32]) -> float:
    """The median squared distance between two different points; never 0."""
    if len(points) < 2:
        return 1.0
    squares = (points * points).sum(axis=1)
    distances = np.maximum(squares[:, None] + squares - 2 * points @ points.T, 0)
    return max(float(np.median(distances[~np.eye(len(points), dtype=bool)])), 1e-6)


def _gaussian(
    first: NDArray[np.float32], second: NDArray[np.float32], width: float
) -> NDArray[np.float32]:
    """``exp(-|a - b|² / width)`` of each pair, in place."""
    scale = np.float32(1 / np.sqrt(width))
    first, second = first * scale, second * scale
    out: NDArray[np.float32] = first @ (2 * second).T
    out -= (first * first).sum(axis=1)[:, None]
    out -= (second * second).sum(axis=1)
    np.minimum(out, 0, out=out)
    return np.exp(out, out=out)


STRENGTHS = tuple(np.geomspace(0.03, 300, 15).tolist())


class Ridge(NamedTuple):
    """A ridge regression, which predicts ``(inputs - centre) @ weights + offset``.

    ``weights`` has shape (inputs, targets), ``centre`` (inputs,), ``offset`` (targets,). ``gain``,
    shape (targets,), is the leave-one-out squared error of the mean minus that of the regression,
    summed over the rows; 0 where the mean is used.
    """

    weights: NDArray[np.float32]
    centre: NDArray[np.float32]
    offset: NDArray[np.float32]
    gain: NDArray[np.float64]

    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """The predicted targets, shape (rows, targets)."""
        centred: NDArray[np.float32] = inputs - self.centre
        return np.asarray(centred @ self.weights + self.offset, dtype=np.float32)


def fit_ridge(
    inputs: NDArray[np.float32],
    targets: NDArray[np.float32],
    *,
    guard: float = 0.5,
    strengths: tuple[float, ...] = STRENGTHS,
) -> Ridge:
    """A ridge regression of each target on the inputs, each with its best strength.

    The best strength has the smallest leave-one-out mean squared error, in closed form. A target is
    predicted by its mean, without the inputs, unless the regression lowers the error by more than
    ``guard`` standard errors.

    Parameters
    ----------
    inputs
        Shape (rows, inputs).
    targets
        Shape (rows, targets).
    guard
        Number of standard errors that a gain must exceed.
    strengths
        Penalties added to the inputs' squared singular values, from weak to strong.

    Examples
    --------
    The first target follows the input, the second does not:

    >>> inputs = np.array([[-2.0], [-1.0], [1.0], [2.0]], dtype=np.float32)
    >>> targets = np.array([[-4, 1], [-2, -1], [2, -1], [4, 1]], dtype=np.float32)
    >>> fit_ridge(inputs, targets).weights.round(1).tolist()
    [[2.0, 0.0]]
    """
    rows = len(inputs)
    centre, offset = inputs.mean(axis=0), targets.mean(axis=0)
    away = (targets - offset).astype(np.float64)
    centred = inputs - centre
    squares, turn = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    squares, turned = np.maximum(squares, 0), centred @ turn.astype(np.float32)
    turned_squares = turned * turned
    products = turned.T.astype(np.float64) @ away
    left_out_mean = (away * rows / max(rows - 1, 1)) ** 2
    least = np.full(targets.shape[1], np.inf)
    chosen, gain = np.zeros_like(products), np.zeros(targets.shape[1])
    for strength in strengths:
        shrunk = 1 / (squares + strength)
        leverage = 1 / rows + turned_squares @ shrunk.astype(np.float32)
        weights = products * shrunk[:, None]
        residual = away - turned @ weights.astype(np.float32)
        error = (residual / np.maximum(1 - leverage, 1e-3)[:, None]) ** 2
        saved = left_out_mean - error
        better = error.mean(axis=0) < least
        least = np.where(better, error.mean(axis=0), least)
        doubt = saved.std(axis=0) / np.sqrt(rows) + 1e-12
        sure = saved.mean(axis=0) > guard * doubt
        chosen = np.where(better, np.where(sure, weights, 0), chosen)
        gain = np.where(better, np.where(sure, saved.sum(axis=0), 0), gain)
    return Ridge((turn @ chosen).astype(np.float32), centre, offset, gain)
