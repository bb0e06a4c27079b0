"""Item response theory with questions never answered: their parameters are predicted from text.

Abilities and questions are found together, from who answered what correctly. The multidimensional
two-parameter logistic model (McKinley and Reckase, 1982): the logit of a right answer is a
question's easiness plus its discriminations times the model's abilities.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from scope.fleet.forecasters.factorization import factorize, shrunk_skills
from scope.fleet.forecasters.forecaster import Probabilities, checked_table
from scope.fleet.forecasters.kernels import fit_ridge
from scope.fleet.forecasters.logits import LogitForecaster
from scope.fleet.forecasters.text_factors import TextForecaster
from scope.fleet.forecasters.validation import calibration_slope, left_out_forecasts, text_helps
from scope.fleet.layout import Answers, Table

Numbers = NDArray[np.float64]

_ROUNDS, _STEPS = 6, 2
_EASINESS_PRECISION, _OTHER_PRECISION = 0.1, 1.0
_LONGEST_STEP = 2.0

_AT_ONCE = 1 << 22
"""Numbers of second derivatives that are held in memory at a time."""


class ResponseModel(NamedTuple):
    """``abilities`` (models, dimensions), of mean 0 and variance 1 in each dimension.

    ``easiness`` (questions,) and ``discriminations`` (questions, dimensions) are logits.
    """

    abilities: NDArray[np.float32]
    easiness: NDArray[np.float32]
    discriminations: NDArray[np.float32]


def fit_responses(answers: Answers, dimensions: int) -> ResponseModel:
    """Questions given the abilities, abilities given the questions, in turn, by Newton's method.

    All but the easiness, which is hardly held back, is normal with variance 1 beforehand: a
    model that answers everything has finite abilities. The first ability starts as the log-odds
    of the model's skill, the others as the directions in which models differ most.

    Parameters
    ----------
    answers
        Shape (questions, models): 1 right, 0 wrong, NaN unknown.
    dimensions
        Abilities of a model.
    """
    known = ~np.isnan(answers)
    right = np.where(known, answers, 0).astype(np.float64)
    weight = known.astype(np.float64)
    abilities = _first_abilities(answers, dimensions)
    items = np.zeros((len(answers), 1 + dimensions))
    items[:, 1] = 1.0
    item_precision = np.full(1 + dimensions, _OTHER_PRECISION)
    item_precision[0] = _EASINESS_PRECISION
    precision = np.full(dimensions, _OTHER_PRECISION)
    for _ in range(_ROUNDS):
        design = np.column_stack([np.ones(len(abilities)), abilities])
        items = _newton(items, design, right, weight, 0.0, item_precision)
        abilities = _newton(abilities, items[:, 1:], right.T, weight.T, items[:, 0], precision)
        # What abilities have in common, and their scale, belong to the questions.
        centre, scale = abilities.mean(axis=0), abilities.std(axis=0) + 1e-9
        items[:, 0] += items[:, 1:] @ centre
        items[:, 1:] *= scale
        abilities = (abilities - centre) / scale
    return ResponseModel(
        abilities.astype(np.float32), items[:, 0].astype(np.float32), items[:, 1:].astype("f4")
    )


def _first_abilities(answers: Answers, dimensions: int) -> Numbers:
    skills, vectors, _ = factorize(answers, max(dimensions - 1, 1))
    odds = np.log((skills + 0.02) / (1.02 - skills))
    abilities = np.column_stack([odds, vectors])[:, :dimensions].astype(np.float64)
    away: Numbers = abilities - abilities.mean(axis=0)
    scaled: Numbers = away / (abilities.std(axis=0) + 1e-9)
    return scaled


def _newton(
    found: Numbers,
    design: Numbers,
    right: Numbers,
    weight: Numbers,
    offset: Numbers | float,
    precision: Numbers,
) -> Numbers:
    """A few steps of a logistic regression of every row of ``right`` on the same design.

    Shapes: ``found`` (rows, size), ``design`` (columns, size), ``right`` and ``weight`` (rows,
    columns), ``offset`` (columns,), ``precision`` (size,).
    """
    from scipy.special import expit

    for _ in range(_STEPS):
        chance = expit(found @ design.T + offset)
        slope = (weight * (right - chance)) @ design - found * precision
        step = _solved(weight * chance * (1 - chance), design, slope, precision)
        found = found + np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
    return found


def _solved(variances: Numbers, design: Numbers, slope: Numbers, precision: Numbers) -> Numbers:
    """Each row's slope times the inverse of its second derivatives, some rows at a time."""
    size = design.shape[1]
    room = max(_AT_ONCE // size**2, 1)
    found = np.empty_like(slope)
    for start in range(0, len(slope), room):
        rows = slice(start, start + room)
        hessian = _curvature(variances[rows], design, room).reshape(-1, size, size)
        hessian += np.diag(precision)
        found[rows] = np.linalg.solve(hessian, slope[rows, :, None])[:, :, 0]
    return found


def _curvature(variances: Numbers, design: Numbers, room: int) -> Numbers:
    """Sums of the products of a column's numbers, weighted by each row's variances there."""
    total: Numbers = np.zeros((len(variances), design.shape[1] ** 2))
    for start in range(0, len(design), room):
        part = design[start : start + room]
        products = (part[:, :, None] * part[:, None, :]).reshape(len(part), -1)
        total += variances[:, start : start + room] @ products
    return total


USUAL_DIMENSIONS = 4

_HALF = np.float32(0.5)


class ItemResponse(LogitForecaster, TextForecaster):
    """Predicts by a model's abilities and a question's easiness and discriminations.

    Both are learned from the answers (`fit_responses`); for a new question they are predicted from
    its vector, features and category, by ridge regression on its likeness to landmarks. Where
    that does not predict training questions left out in turn better than each model's skill
    does, the forecasts are the skills.

    ``model_vectors_``, shape (models, dimensions), are the abilities, each of variance 1 whatever
    it decides; ``places_`` are weighed by what questions ask of them.

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
        *LogitForecaster.logit_state,
        "helps_",
        "route_weights_",
        "question_offsets_",
        "weights_",
        "offset_",
        *TextForecaster.kernel_state,
    )
    usual_dimensions = USUAL_DIMENSIONS

    def routing_scores(self, X: Table) -> Probabilities:  # noqa: N803 - scikit-learn's name
        """How much each question is for each model: by its text as far as that proved useful.

        Where routing by text did not beat the single best model on left-out questions, of all
        or of a category, every question has the skills alone, and the most skilled model gets
        them all.
        """
        with threadpool_limits(1):
            table = checked_table(X, self.layout)
            skills = np.tile(self.skills_, (len(table), 1))
            weights = self.route_weights_[self.layout.codes(table)]
            if not weights.any():
                return skills
            scores: Probabilities = self._chances(table) - skills
            scores *= weights[:, np.newaxis].astype(np.float32)
            scores += skills
        return scores

    def _offsets(self) -> NDArray[np.float32]:
        return self.question_offsets_

    def _fit(self, table: Table, answers: Answers) -> None:
        from scipy.special import expit

        numbers, folds = self._inner_folds(table)
        dimensions = self._dimensions_for(answers.shape[1])
        responses = fit_responses(answers, dimensions)
        items = _items(responses)
        basis = self._learn_kernel(table, items)
        inputs = self._likeness_times(table, basis)
        predict = partial(predict_by_responses, dimensions=dimensions, guard=self.guard)
        trial = left_out_forecasts(inputs, answers, numbers, folds, predict)
        # Parameters predicted are not the true ones, and forecasts by them too bold.
        slope = max(calibration_slope(trial, self._generator(1)), 0.0)
        chances = expit(np.float32(slope) * (trial.forecasts - _HALF))
        predicted = trial._replace(forecasts=chances)
        self.helps_ = text_helps(predicted, self.guard)
        self.route_weights_ = self._route_weights(predicted, table, answers)
        ridge = fit_ridge(inputs, items, guard=self.guard)
        # One product from likeness to parameters, with no detour over all inputs.
        self.weights_ = np.float32(slope) * (basis @ ridge.weights)
        self.offset_ = np.float32(slope) * (ridge.offset - ridge.centre @ ridge.weights)
        self._keep_models(responses.abilities, answers)
        self.question_vectors_ = responses.discriminations
        self.question_offsets_ = responses.easiness

    def _probabilities(self, table: Table) -> Probabilities:
        return self._chances(table) if self.helps_ else np.tile(self.skills_, (len(table), 1))

    def _chances(self, table: Table) -> Probabilities:
        """By the text, whether it proved useful or not."""
        from scipy.special import expit

        items = self._likeness_times(table, self.weights_)
        items += self.offset_
        logits = _logits(items, self.model_vectors_)
        return np.asarray(expit(logits, out=logits))


def predict_by_responses(
    inputs: NDArray[np.float32],
    answers: Answers,
    new: NDArray[np.float32],
    *,
    dimensions: int,
    guard: float,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Skills, and logits of new questions, from the inputs and answers of others.

    The logits have 0.5 added to them, as what decides between right and wrong in a trial.
    """
    responses = fit_responses(answers, dimensions)
    ridge = fit_ridge(inputs, _items(responses), guard=guard)
    return shrunk_skills(answers), _logits(ridge.predict(new), responses.abilities) + _HALF


def _items(responses: ResponseModel) -> NDArray[np.float32]:
    """What is to be predicted of each question: easiness, then discriminations, all logits."""
    return np.column_stack([responses.easiness, responses.discriminations])


def _logits(items: NDArray[np.float32], abilities: NDArray[np.float32]) -> NDArray[np.float32]:
    logits: NDArray[np.float32] = items[:, 1:] @ abilities.T
    logits += items[:, :1]
    return logits
