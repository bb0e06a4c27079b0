"""Item response theory: abilities and questions found together, from who answered what correctly.

The multidimensional two-parameter logistic model (McKinley and Reckase, 1982): the logit of a
right answer is a question's easiness plus its discriminations times the model's abilities.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.fleet.forecasters.factorization import factorize
from scope.fleet.layout import Answers

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
