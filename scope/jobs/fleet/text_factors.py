"""Skills, and the few dimensions in which models differ, predicted from a question's text.

Similarity of questions before any model answers, and ridge regression on it.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from scope.jobs.fleet import forecaster as factorization, selection
from scope.jobs.fleet.forecaster import (
    Prior,
    Probabilities,
    VectorForecaster,
    checked_table,
    factorize,
)
from scope.jobs.fleet.questions import NO_CATEGORY, Answers, QuestionLayout, Table
from scope.jobs.fleet.selection import question_folds
from scope.statistics.intervals import one_numpy_thread

_FURTHEST = 4.0
_QUESTIONS_FOR_MIX, _LANDMARKS_FOR_MIX = 2000, 400

MOST_DIMENSIONS = 20


class TextFactors(VectorForecaster):
    """A model is its skill and a few coordinates; a question's coordinates follow from its text.

    The probability of a right answer is about ``skill + model coordinates · question coordinates``.
    Fitting computes both kinds of coordinates from the answers (`factorize`), and predicts those of
    the questions from vector, features and category (`fit_ridge` on a `Kernel`'s inputs), with one
    strength per coordinate. Cross-validation over the training questions decides whether the text
    is used, how extreme the probabilities are, and the weight of the text in routing. The mix of
    similarities is chosen once, on all training questions, so these scores are slightly better than
    on new questions. If texts predict nothing, the probabilities are exactly the skills, which for
    complete answers are each model's accuracy.

    ``model_vectors_`` has shape (models, 1 + dimensions): the skill, then the coordinates. The
    squared distance between two models is the mean squared difference of their fitted answers.

    Parameters
    ----------
    layout
        The meaning of the columns of a table of questions.
    dimensions
        Number of coordinates of a model besides its skill, None: 20; at most the number of models.
        Coordinates beyond the rank of the answers are zero.
    landmarks
        Number of questions that new ones are compared with; all if there are fewer.
    folds
        Number of folds of the training questions; at most the number of questions.
    guard
        Number of standard errors that a gain must exceed.
    seed
        Random seed of the landmarks and folds.

    Examples
    --------
    Each of two models answers one kind of question; single questions of each kind are new:

    >>> layout = QuestionLayout(vector=2)
    >>> kinds = np.tile(np.eye(2, dtype=np.float32), (10, 1))
    >>> questions = kinds * np.linspace(0.9, 1.1, 20, dtype=np.float32)[:, np.newaxis]
    >>> forecaster = TextFactors(layout=layout).fit(questions, kinds)
    >>> forecaster.predict(np.array([[0.9, 0.1], [0.1, 0.9]])).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    short_name: ClassVar[str] = "factors"
    state: ClassVar[tuple[str, ...]] = (
        "model_vectors_",
        "question_vectors_",
        "weights_",
        "offset_",
        "slope_",
        "route_weights_",
        "prior_mean_",
        "prior_covariance_",
        "noise_",
        "feature_centre_",
        "feature_scale_",
        "mix_",
        "landmark_vectors_",
        "landmark_features_",
        "landmark_codes_",
        "widths_",
    )

    least: ClassVar[Mapping[str, float]] = {"dimensions": 1, "landmarks": 1, "folds": 2, "guard": 0}

    def __init__(
        self,
        *,
        layout: QuestionLayout,
        dimensions: int | None = None,
        landmarks: int = 512,
        folds: int = 5,
        guard: float = 0.5,
        seed: int = 0,
    ) -> None:
        self.layout = layout
        self.dimensions = dimensions
        self.landmarks = landmarks
        self.folds = folds
        self.guard = guard
        self.seed = seed

    def routing_scores(self, X: Table) -> Probabilities:  # noqa: N803 - scikit-learn's name
        """The score of each model for each question; it uses the text as far as that is useful.

        If routing by text does not beat the single best model on left-out questions, of all or of a
        category, the scores are the skills alone, and the most skilled model gets all questions.
        """
        with one_numpy_thread():
            table = checked_table(X, self.layout)
            return self._forecasts(table, self.route_weights_[self.layout.codes(table)])

    def added(self, rows: NDArray[np.int64], answers: Answers) -> Self:
        """A copy with new models: their vectors are fitted, all other parameters are frozen.

        The prior is the distribution of the fitted models' vectors; models added before do not
        count. A hundred answers take milliseconds.

        Parameters
        ----------
        rows
            The answered questions, by their rows in the fit.
        answers
            Shape (len(rows), new models): 1 right, 0 wrong, NaN unknown.
        """
        prior = Prior(self.prior_mean_, self.prior_covariance_, float(self.noise_))
        with one_numpy_thread():
            further = factorization.new_model_vectors(self.question_vectors_[rows], answers, prior)
        larger = copy.copy(self)
        larger.model_vectors_ = np.concatenate([self.model_vectors_, further])
        larger.skills_ = larger.model_vectors_[:, 0]
        return larger

    def restore(self, arrays: dict[str, NDArray[Any]]) -> Self:
        """Restore the fitted state; the skills are the vectors' first numbers."""
        super().restore(arrays)
        self.skills_ = self.model_vectors_[:, 0]
        return self

    def _fit(self, table: Table, answers: Answers) -> None:
        numbers = selection.question_numbers(table, self.layout)
        # Few questions are in fewer folds.
        folds = question_folds(numbers, min(self.folds, int(numbers.max()) + 1), self.seed)
        dimensions = min(self.dimensions or MOST_DIMENSIONS, answers.shape[1])
        factors = factorize(answers, dimensions)
        # Each dimension weighs as it does in the answers.
        weight = np.sqrt((factors.model_vectors**2).sum(axis=0))
        basis = self._learn_kernel(table, factors.question_vectors * weight)
        inputs = self._likeness_times(table, basis)
        trial = left_out_forecasts(
            inputs, answers, numbers, folds, dimensions=dimensions, guard=self.guard
        )
        self.slope_ = 0.0  # The forecasts are the skills.
        if selection.text_helps(trial, self.guard):
            self.slope_ = max(selection.calibration_slope(trial, self._generator(1)), 0.0)
        codes = self.layout.codes(table)[~np.isnan(answers).all(axis=1)]
        self.route_weights_ = selection.route_weights(
            trial, codes, len(self.layout.categories), self.guard
        )
        ridge = fit_ridge(inputs, factors.question_vectors, guard=self.guard)
        # One product from similarities to coordinates, without computing all inputs.
        self.weights_ = basis @ ridge.weights
        self.offset_ = ridge.offset - ridge.centre @ ridge.weights
        skills, vectors, self.question_vectors_ = factors
        self.model_vectors_ = np.column_stack([skills, vectors])
        self.noise_ = factorization.answer_noise(answers, factors)
        prior = factorization.vector_prior(self.model_vectors_, self.noise_)
        self.prior_mean_, self.prior_covariance_ = prior.mean, prior.covariance

    def _probabilities(self, table: Table) -> Probabilities:
        from scipy.special import expit

        if not self.slope_:
            return np.clip(self._forecasts(table, np.zeros(len(table))), 0, 1)
        logits = self.slope_ * (self._forecasts(table, np.ones(len(table))) - 0.5)
        return np.asarray(expit(logits), dtype=np.float32)

    def _forecasts(self, table: Table, weights: NDArray[np.float64]) -> Probabilities:
        """The skills, plus the weighted contribution of the text of each question."""
        skills, coordinates = self.model_vectors_[:, 0], self.model_vectors_[:, 1:]
        if not weights.any():
            return np.tile(skills, (len(table), 1))
        predicted = self._likeness_times(table, self.weights_) + self.offset_
        weighted = predicted * weights[:, np.newaxis].astype(np.float32)
        return np.asarray(skills + weighted @ coordinates.T)

    def _learn_kernel(self, table: Table, targets: NDArray[np.float32]) -> NDArray[np.float32]:
        """Learn which questions have similar targets; return the basis of the inputs.

        The targets have shape (questions, any) and one unit, as their squared errors are summed.
        """
        features = self.layout.features_of(table)
        self.feature_centre_ = features.mean(axis=0)
        self.feature_scale_ = features.std(axis=0) + np.float32(1e-6)
        questions = self._questions(table)
        mix = self._best_mix(questions, targets)
        kernel = landmark_kernel(questions, mix, self.landmarks, self._generator(0))
        self.mix_ = np.array(kernel.mix)
        self.landmark_vectors_, self.landmark_features_, self.landmark_codes_ = kernel.landmarks
        self.widths_ = np.array([kernel.vector_width, kernel.feature_width])
        return nystroem_basis(kernel)

    def _likeness_times(self, table: Table, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Each question's similarity to the landmarks, times weights: (questions, any)."""
        marks = QuestionInputs(
            self.landmark_vectors_, self.landmark_features_, self.landmark_codes_
        )
        kernel = Kernel(Mix(*self.mix_.tolist()), marks, *self.widths_.tolist())
        return kernel.times(self._questions(table), weights)

    def _questions(self, table: Table) -> QuestionInputs:
        features = (self.layout.features_of(table) - self.feature_centre_) / self.feature_scale_
        return QuestionInputs(
            self.layout.vectors_of(table),
            np.clip(features, -_FURTHEST, _FURTHEST),
            self.layout.codes(table),
        )

    def _best_mix(self, questions: QuestionInputs, targets: NDArray[np.float32]) -> Mix:
        """The mix with the smallest leave-one-out squared error of the targets."""
        mixes = mixes_of(
            features=bool(self.layout.features), categories=bool(self.layout.categories)
        )
        if len(mixes) == 1:
            return mixes[0]
        drawn = self._generator(2).permutation(len(questions.codes))[:_QUESTIONS_FOR_MIX]
        some = np.sort(drawn)
        sample, wanted = questions.take(some), targets[some]

        def saved(mix: Mix) -> float:
            kernel = landmark_kernel(sample, mix, _LANDMARKS_FOR_MIX, self._generator(3))
            inputs = kernel.times(sample, nystroem_basis(kernel))
            return float(fit_ridge(inputs, wanted, guard=self.guard).gain.sum())

        return max(mixes, key=saved)

    def _generator(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, purpose])


def left_out_forecasts(
    inputs: NDArray[np.float32],
    answers: Answers,
    numbers: NDArray[np.int64],
    folds: NDArray[np.int64],
    *,
    dimensions: int,
    guard: float,
) -> selection.LeftOutForecasts:
    """Forecast the questions of each fold by factors of the other folds.

    Questions that no model answered are left out: there is no answer to compare a forecast with.
    ``inputs`` have the shape (questions, any); ``numbers`` and ``folds`` are the question and the
    fold of each row.
    """
    means, forecasts = np.empty_like(answers), np.empty_like(answers)
    for fold in np.unique(folds):
        out = folds == fold
        factors = factorize(answers[~out], dimensions)
        ridge = fit_ridge(inputs[~out], factors.question_vectors, guard=guard)
        means[out] = factors.skills
        forecasts[out] = factors.skills + ridge.predict(inputs[out]) @ factors.model_vectors.T
    answered = ~np.isnan(answers).all(axis=1)
    return selection.LeftOutForecasts(
        answers[answered], means[answered], forecasts[answered], numbers[answered]
    )


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
