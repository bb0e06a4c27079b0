"""Item response theory with questions never answered: their parameters are foretold from text."""

from __future__ import annotations

from copy import copy
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from scope.errors import DataError, SpecError
from scope.fleet.forecasters.folds import question_folds
from scope.fleet.forecasters.forecaster import Probabilities, checked_table
from scope.fleet.forecasters.mean import accuracies
from scope.fleet.forecasters.newcomers import checked_newcomers
from scope.fleet.forecasters.placing import Spread, place, spread_of
from scope.fleet.forecasters.response_model import ResponseModel, fit_responses
from scope.fleet.forecasters.ridge import fit_ridge
from scope.fleet.forecasters.skills import shrunk_skills
from scope.fleet.forecasters.text_inputs import TextForecaster
from scope.fleet.forecasters.validation import (
    LeftOut,
    calibration_slope,
    route_weight,
    text_helps,
)
from scope.fleet.layout import Answers, QuestionLayout, Table

USUAL_DIMENSIONS = 4

_HALF = np.float32(0.5)


class ItemResponse(TextForecaster):
    """Foretells by a model's abilities and a question's easiness and discriminations.

    Both are learned from the answers (`fit_responses`); for a new question they are foretold from
    its vector, features and category, by ridge regression on its likeness to landmarks. Where
    that does not foretell training questions left out in turn better than each model's skill
    does, the forecasts are the skills.

    ``model_vectors_``, shape (models, dimensions), are the abilities.

    Parameters
    ----------
    layout
        The columns of a table of questions.
    dimensions
        Abilities of a model. None: 4, or as many as there are models if these are fewer.
    landmarks
        Questions that new ones are compared with; all where there are fewer.
    folds
        How often training questions are left out; as often as there are questions at most.
    guard
        How many standard errors a gain must exceed to be believed.
    seed
        Of the landmarks and folds.
    """

    short_name: ClassVar[str] = "irt"
    state: ClassVar[tuple[str, ...]] = (
        "model_vectors_",
        "skills_",
        "helps_",
        "route_weight_",
        "question_vectors_",
        "question_offsets_",
        "weights_",
        "offset_",
        "spread_mean_",
        "spread_root_",
        *TextForecaster.kernel_state,
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

        Where routing by text did not beat the single best model on left-out questions, every
        question has the skills alone, and the most skilled model gets them all.
        """
        with threadpool_limits(1):
            table = checked_table(X, self.layout)
            skills = np.tile(self.skills_, (len(table), 1))
            if not self.route_weight_:
                return skills
            scores: Probabilities = self._chances(table) - skills
            scores *= np.float32(self.route_weight_)
            scores += skills
        return scores

    def added(self, rows: NDArray[np.int64], answers: Answers) -> Self:
        """A copy with further models, each with the most probable abilities after its answers."""
        rows, answers = checked_newcomers(rows, answers, len(self.question_vectors_))
        spread = Spread(self.spread_mean_, self.spread_root_)
        coordinates, offsets = self.question_vectors_[rows], self.question_offsets_[rows]
        with threadpool_limits(1):
            places = place(spread, coordinates, offsets, answers)
        larger = copy(self)
        larger.model_vectors_ = np.concatenate([self.model_vectors_, places])
        larger.skills_ = np.concatenate([self.skills_, accuracies(answers)])
        return larger

    def _fit(self, table: Table, answers: Answers) -> None:
        from scipy.special import expit

        dimensions = self._checked_dimensions(answers)
        responses = fit_responses(answers, dimensions)
        items = _items(responses)
        basis = self._learn_kernel(table, items)
        inputs = self._likeness_times(table, basis)
        trial = self._trial(inputs, answers, dimensions)
        # Parameters foretold are not the true ones, and forecasts by them too bold.
        slope = max(calibration_slope(trial, self._generator(1)), 0.0)
        chances = expit(np.float32(slope) * (trial.forecasts - _HALF))
        foretold = trial._replace(forecasts=chances)
        self.helps_ = text_helps(foretold, self.guard)
        self.route_weight_ = route_weight(foretold, self.guard)
        ridge = fit_ridge(inputs, items, guard=self.guard)
        # One product from likeness to parameters, with no detour over all inputs.
        self.weights_ = np.float32(slope) * (basis @ ridge.weights)
        self.offset_ = np.float32(slope) * (ridge.offset - ridge.centre @ ridge.weights)
        self.model_vectors_ = responses.abilities
        self.skills_ = accuracies(answers)
        self.question_vectors_ = responses.discriminations
        self.question_offsets_ = responses.easiness
        self.spread_mean_, self.spread_root_ = spread_of(responses.abilities)

    def _trial(self, inputs: NDArray[np.float32], answers: Answers, dimensions: int) -> LeftOut:
        """The logits of questions left out in turn, and the models' skills without them.

        The logits have 0.5 added to them, as what decides between right and wrong in a trial.
        """
        means, forecasts = np.empty_like(answers), np.empty_like(answers)
        folds = question_folds(len(answers), min(self.folds, len(answers)), self.seed)
        for fold in np.unique(folds):
            out = folds == fold
            responses = fit_responses(answers[~out], dimensions)
            ridge = fit_ridge(inputs[~out], _items(responses), guard=self.guard)
            forecasts[out] = _logits(ridge.predict(inputs[out]), responses.abilities) + _HALF
            means[out] = shrunk_skills(answers[~out])
        answered = ~np.isnan(answers).all(axis=1)
        return LeftOut(answers[answered], means[answered], forecasts[answered])

    def _probabilities(self, table: Table) -> Probabilities:
        return self._chances(table) if self.helps_ else np.tile(self.skills_, (len(table), 1))

    def _chances(self, table: Table) -> Probabilities:
        """By the text, whether it proved useful or not."""
        from scipy.special import expit

        items = self._likeness_times(table, self.weights_)
        items += self.offset_
        logits = _logits(items, self.model_vectors_)
        return np.asarray(expit(logits, out=logits))

    def _checked_dimensions(self, answers: Answers) -> int:
        """How many abilities to fit, if all parameters can be."""
        questions, models = answers.shape
        if questions < 2:
            raise DataError(
                f"{questions} question",
                expected="two questions or more, so that one can be foretold from another",
                mend="add questions",
            )
        for name, least in (("landmarks", 1), ("folds", 2), ("guard", 0)):
            if getattr(self, name) < least:
                raise SpecError(
                    f"{name}={getattr(self, name)}",
                    expected=f"{least} or more",
                    mend=f"set {name}={least}",
                )
        dimensions = min(USUAL_DIMENSIONS, models) if self.dimensions is None else self.dimensions
        if not 1 <= dimensions <= models:
            raise SpecError(
                f"{dimensions} dimensions for {models} models",
                expected=f"1 to {models} dimensions: models differ in no more",
                mend=f"ask for {models} dimensions or fewer, or add models",
            )
        return dimensions


def _items(responses: ResponseModel) -> NDArray[np.float32]:
    """What is to be foretold of each question: easiness, then discriminations, all logits."""
    return np.column_stack([responses.easiness, responses.discriminations])


def _logits(items: NDArray[np.float32], abilities: NDArray[np.float32]) -> NDArray[np.float32]:
    logits: NDArray[np.float32] = items[:, 1:] @ abilities.T
    logits += items[:, :1]
    return logits
