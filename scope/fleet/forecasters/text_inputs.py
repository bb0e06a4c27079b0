"""What a question is like before anyone answers it, learned once by whoever predicts from text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError, SpecError
from scope.fleet.forecasters.folds import question_folds, question_numbers
from scope.fleet.forecasters.forecaster import VectorForecaster
from scope.fleet.forecasters.kernels import (
    Kernel,
    Mix,
    QuestionInputs,
    landmark_kernel,
    mixes_of,
    nystroem_basis,
)
from scope.fleet.forecasters.ridge import fit_ridge
from scope.fleet.forecasters.validation import LeftOutForecasts, route_weights
from scope.fleet.layout import Answers, Table

_FURTHEST = 4.0
_QUESTIONS_FOR_MIX, _LANDMARKS_FOR_MIX = 2000, 400


class TextForecaster(VectorForecaster):
    """A forecaster that compares a question with landmarks, by vector, features and category.

    Fitted, it has the landmarks and how likeness to them is measured, the names in
    ``kernel_state``. Subclasses have the parameters ``dimensions``, ``landmarks``, ``folds``,
    ``guard`` and ``seed``, and ``usual_dimensions``, which ``dimensions=None`` stands for unless
    there are fewer models.

    Which kinds of likeness count, and their widths, are found once, with all training questions.
    What is then tried on training questions left out in turn has that from them too: a choice
    among eight at most, which lets such trials look a little better than new questions will.
    """

    kernel_state: ClassVar[Mapping[str, str]] = {
        "feature_centre_": "f4 features",
        "feature_scale_": "+f4 features",
        "mix_": "f8 4",
        "landmark_vectors_": "f4 landmarks vector",
        "landmark_features_": "f4 landmarks features",
        "landmark_codes_": "i8 landmarks",
        "widths_": "+f8 2",
    }
    usual_dimensions: ClassVar[int]
    dimensions: int | None
    landmarks: int
    folds: int
    guard: float
    seed: int

    def check_parameters(self) -> None:
        """Check that no number is below the least that it can be."""
        for name, least in (("dimensions", 1), ("landmarks", 1), ("folds", 2), ("guard", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise SpecError(
                    f"{name}={value}", expected=f"{least} or more", fix=f"set {name}={least}"
                )

    def _dimensions_for(self, models: int) -> int:
        """How many dimensions to fit beside what every model has."""
        usual = min(self.usual_dimensions, models)
        dimensions = usual if self.dimensions is None else self.dimensions
        if dimensions > models:
            raise SpecError(
                f"{dimensions} dimensions for {models} models",
                expected=f"{models} dimensions at most: models differ in no more",
                fix=f"ask for dimensions={models} or fewer, or add models",
            )
        return dimensions

    def _inner_folds(self, table: Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which question each row is, and its fold; few questions are in fewer folds."""
        numbers = question_numbers(table, self.layout)
        different = len(np.unique(numbers))
        if different < 2:
            raise DataError(
                f"{len(table)} questions with one vector" if len(table) > 1 else "1 question",
                expected="two different questions or more, so that one can be predicted from "
                "another",
                fix="add questions",
            )
        return numbers, question_folds(numbers, min(self.folds, different), self.seed)

    def _learn_kernel(self, table: Table, targets: NDArray[np.float32]) -> NDArray[np.float32]:
        """Learn which questions are alike as far as targets go; return the basis of the inputs.

        Parameters
        ----------
        targets
            Shape (questions, any): what is to be predicted. Their squared errors are summed as
            they are, so that they must be measured in the same unit.
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

    def _route_weights(
        self, trial: LeftOutForecasts, table: Table, answers: Answers
    ) -> NDArray[np.float64]:
        """How far to route by the text: of each category of the layout, and of any other."""
        answered = ~np.isnan(answers).all(axis=1)
        codes = self.layout.codes(table)[answered]
        return route_weights(trial, codes, len(self.layout.categories), self.guard)

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
