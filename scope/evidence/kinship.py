"""Detects models of a pool that may be related.

A family of models makes the same mistakes. If a suspect's siblings contributed to the expectation
of an independent model, the mistakes of the family, and so the reference's, would seem common. Kin
are therefore left out of that expectation. Kinship is never evidence by itself.

1. κ of all pairs: discrete CAPA (`scope.metrics.consistency`) on the questions both answered.
2. The part of κ that two skills explain is subtracted: a robust fit of κ on 1, a + b and ab, where
   a and b are the skills of the two models in standard deviations of the pool.
3. Kin are more than three robust standard deviations (1.4826 × the median distance from the
   median) above the median pair.

A pool of fewer than eight models has too few pairs for the third step, and no kin.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scope.evidence.answers import AnswerMatrix
from scope.evidence.arrays import Square, Values
from scope.evidence.option_blocks import OptionBlock

FEWEST_FOR_KIN = 8
"""The least number of models with answers for which kin are determined."""

_FAR_ABOVE = 3.0
_ROUNDS_OF_MEDIANS = 15
_TO_STANDARD_DEVIATION = 1.4826
"""The standard deviation of a normal distribution as a multiple of its median distance from 0."""
_LEAST_SPREAD = 1e-6
"""Of κ: smaller differences between two pairs are ignored."""
_RIDGE = 1e-6
"""Keeps the fit unique if all models are equally skilled."""


def kin(answers: AnswerMatrix, blocks: Sequence[OptionBlock], skills: Values) -> NDArray[np.bool_]:
    """Whether two models may be related; symmetric, not with itself; shape (models, models)."""
    models = len(skills)
    related = np.zeros((models, models), dtype=np.bool_)
    if (~np.isnan(skills)).sum() < FEWEST_FOR_KIN:
        return related
    kappas = pairwise_kappa(answers, blocks)
    pairs = np.triu(~np.isnan(kappas), 1)
    if not pairs.any():
        return related
    above = _above_skill(kappas, pairs, skills)
    centred = above - np.median(above)
    related[pairs] = centred > _FAR_ABOVE * _spread(centred)
    related |= related.T.copy()
    return related


def pairwise_kappa(answers: AnswerMatrix, blocks: Sequence[OptionBlock]) -> Square:
    """Discrete CAPA of every two models; NaN if they share no question.

    0 if it is undefined because chance agreement is 1, as for two models that are always right.
    """
    given = answers.given.astype(np.float64)
    right = (answers.answers == answers.expected_right()).astype(np.float64)
    shared = given @ given.T
    some = np.maximum(shared, 1)
    same = np.zeros_like(shared)
    for block in blocks:
        rows = block.chosen.reshape(len(given), -1)
        same += rows @ rows.T
    skills = right @ given.T / some
    alike = (given / (answers.options - 1)) @ given.T / some
    chance = skills * skills.T + alike * (1 - skills) * (1 - skills.T)
    room = 1 - chance
    kappas = np.where(room > 1e-9, (same / some - chance) / np.maximum(room, 1e-9), 0.0)
    return np.where(shared > 0, kappas, np.nan)


def _above_skill(kappas: Square, pairs: NDArray[np.bool_], skills: Values) -> Values:
    """κ of the pairs minus the part that their skills explain.

    Iteratively reweighted least squares, fifteen rounds: a pair at u times two robust standard
    deviations has the weight 1 / u below the fit and 1 / u² above it, where kin are, and 1 within.
    """
    scaled = (skills - np.nanmean(skills)) / (np.nanstd(skills) + 1e-9)
    one, other = (scaled[index] for index in np.nonzero(pairs))
    known = np.column_stack([np.ones(len(one)), one + other, one * other])
    seen = kappas[pairs]
    weights = np.ones(len(seen))
    for _ in range(_ROUNDS_OF_MEDIANS):
        weighted = known * weights[:, None]
        fit = np.linalg.solve(weighted.T @ known + _RIDGE * np.eye(3), weighted.T @ seen)
        rest = seen - known @ fit
        far = np.abs(rest) / (2 * _spread(rest))
        weights = 1 / np.maximum(1, np.where(rest > 0, far**2, far))
    return np.asarray(rest)


def _spread(centred: Values) -> float:
    return max(_TO_STANDARD_DEVIATION * float(np.median(np.abs(centred))), _LEAST_SPREAD)
