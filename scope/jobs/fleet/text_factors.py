"""Skills, and the few dimensions in which models differ, predicted from a question's text."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from scope.jobs.fleet.factorization import (
    Prior,
    answer_noise,
    factorize,
    new_model_vectors,
    vector_prior,
)
from scope.jobs.fleet.forecaster import (
    Probabilities,
    VectorForecaster,
    checked_table,
)
from scope.jobs.fleet.kernels import (
    Kernel,
    Mix,
    QuestionInputs,
    fit_ridge,
    landmark_kernel,
    mixes_of,
    nystroem_basis,
)
from scope.jobs.fleet.questions import Answers, QuestionLayout, Table
from scope.jobs.fleet.selection import (
    LeftOutForecasts,
    calibration_slope,
    question_folds,
    question_numbers,
    route_weights,
    text_helps,
)
from scope.statistics.threads import one_numpy_thread

_FURTHEST = 4.0
_QUESTIONS_FOR_MIX, _LANDMARKS_FOR_MIX = 2000, 400

MOST_DIMENSIONS = 20


class TextFactors(VectorForecaster):
    """A model is its skill and a few coordinates; a question's coordinates follow from its text.

    The chance of a right answer is about ``skill + model coordinates · question coordinates``.
    Fitting takes both kinds of coordinates from the answers (`factorize`), and learns to predict
    the questions' from vector, features and category (`fit_ridge` on a `Kernel`'s inputs), each
    coordinate as strongly as the texts tell it. Whether the text counts at all, how bold
    probabilities are and how far a router goes by the text is found on training questions that
    are left out in turn. Which kinds of likeness count is found once, with all of them, which
    lets those trials look a little better than new questions will. Where texts predict
    nothing, the probabilities are exactly the skills, which for complete answers are each
    model's accuracy.

    ``model_vectors_`` has shape (models, 1 + dimensions): the skill, then the coordinates. The
    squared distance between two models is the mean squared difference of their fitted answers.

    Parameters
    ----------
    layout
        Which columns of a table of questions hold what.
    dimensions
        Coordinates of a model beside its skill, None: 20; at most as many as there are models.
        Beyond what the answers fill, coordinates are zero.
    landmarks
        Questions that new ones are compared with; all where there are fewer.
    folds
        How often training questions are left out; as often as there are questions at most.
    guard
        How many standard errors a gain must exceed to be believed.
    seed
        Of the landmarks and folds.

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
        """How much each question is for each model: by its text as far as that proved useful.

        Where routing by text did not beat the single best model on left-out questions, of all
        or of a category, every question has the skills alone, and the most skilled model gets
        them all.
        """
        with one_numpy_thread():
            table = checked_table(X, self.layout)
            return self._forecasts(table, self.route_weights_[self.layout.codes(table)])

    def added(self, rows: NDArray[np.int64], answers: Answers) -> Self:
        """A copy with new models: their vectors from some answers, all else frozen.

        A vector's prior is the spread of the vectors of the models that were fitted; others that
        were added before do not count. A hundred answers are predicted from in milliseconds.

        Parameters
        ----------
        rows
            Which of the questions that it was fitted on were answered, by their rows then.
        answers
            Shape (len(rows), new models): 1 right, 0 wrong, NaN unknown.
        """
        prior = Prior(self.prior_mean_, self.prior_covariance_, float(self.noise_))
        with one_numpy_thread():
            further = new_model_vectors(self.question_vectors_[rows], answers, prior)
        larger = copy.copy(self)
        larger.model_vectors_ = np.concatenate([self.model_vectors_, further])
        larger.skills_ = larger.model_vectors_[:, 0]
        return larger

    def restore(self, arrays: dict[str, NDArray[Any]]) -> Self:
        """Take over what `state_arrays` gave; the skills are the vectors' first numbers."""
        super().restore(arrays)
        self.skills_ = self.model_vectors_[:, 0]
        return self

    def _fit(self, table: Table, answers: Answers) -> None:
        numbers = question_numbers(table, self.layout)
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
        helps = text_helps(trial, self.guard)
        # 0 stands for forecasts that are the skills themselves.
        self.slope_ = max(calibration_slope(trial, self._generator(1)), 0.0) if helps else 0.0
        codes = self.layout.codes(table)[~np.isnan(answers).all(axis=1)]
        self.route_weights_ = route_weights(trial, codes, len(self.layout.categories), self.guard)
        ridge = fit_ridge(inputs, factors.question_vectors, guard=self.guard)
        # One product from likeness to coordinates, with no detour over all inputs.
        self.weights_ = basis @ ridge.weights
        self.offset_ = ridge.offset - ridge.centre @ ridge.weights
        skills, vectors, self.question_vectors_ = factors
        self.model_vectors_ = np.column_stack([skills, vectors])
        self.noise_ = answer_noise(answers, factors)
        prior = vector_prior(self.model_vectors_, self.noise_)
        self.prior_mean_, self.prior_covariance_ = prior.mean, prior.covariance

    def _probabilities(self, table: Table) -> Probabilities:
        from scipy.special import expit

        if not self.slope_:
            return np.clip(self._forecasts(table, np.zeros(len(table))), 0, 1)
        logits = self.slope_ * (self._forecasts(table, np.ones(len(table))) - 0.5)
        return np.asarray(expit(logits), dtype=np.float32)

    def _forecasts(self, table: Table, weights: NDArray[np.float64]) -> Probabilities:
        """Skills, and so much of what the text adds to them for each question."""
        skills, coordinates = self.model_vectors_[:, 0], self.model_vectors_[:, 1:]
        if not weights.any():
            return np.tile(skills, (len(table), 1))
        predicted = self._likeness_times(table, self.weights_) + self.offset_
        weighted = predicted * weights[:, np.newaxis].astype(np.float32)
        return np.asarray(skills + weighted @ coordinates.T)

    def _learn_kernel(self, table: Table, targets: NDArray[np.float32]) -> NDArray[np.float32]:
        """Learn which questions are alike as far as targets go; return the basis of the inputs.

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
        """Each question's likeness to the landmarks, times weights: (questions, any)."""
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
        """The mix that saves most squared error of the targets on rows left out one by one."""
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
) -> LeftOutForecasts:
    """Forecast the questions of each fold by factors of the others.

    Questions that no model answered are left out: there is no answer to compare a forecast with.
    ``inputs`` have the shape (questions, any); ``numbers`` and ``folds`` name the question of each
    row, and its fold.
    """
    means, forecasts = np.empty_like(answers), np.empty_like(answers)
    for fold in np.unique(folds):
        out = folds == fold
        factors = factorize(answers[~out], dimensions)
        ridge = fit_ridge(inputs[~out], factors.question_vectors, guard=guard)
        means[out] = factors.skills
        forecasts[out] = factors.skills + ridge.predict(inputs[out]) @ factors.model_vectors.T
    answered = ~np.isnan(answers).all(axis=1)
    return LeftOutForecasts(
        answers[answered], means[answered], forecasts[answered], numbers[answered]
    )
