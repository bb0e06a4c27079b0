"""The skill of the models of a pool, and their closeness in skill."""

from __future__ import annotations

import numpy as np

from scope.evidence.answers import AnswerMatrix
from scope.evidence.arrays import Square, Values

_WIDTH = 0.3
"""In shares of the pool: a model this far up or down the ranking has a weight of exp(-1/2). Wide
enough that about twelve of thirty controls count; narrow enough that weak models are not compared
with strong ones, whose mistakes differ."""


def skill(answers: AnswerMatrix) -> Values:
    """Each model's share of right answers among its answers; NaN if it gave none.

    Examples
    --------
    Half of two, all of one, none given:

    >>> matrix = AnswerMatrix(
    ...     answers=np.array([[0, 1], [-1, 0], [-1, -1]]),
    ...     options=np.array([2, 2]), gold=np.array([0, 0]), units=np.array([0, 1]),
    ... )
    >>> skill(matrix).tolist()
    [0.5, 1.0, nan]
    """
    given = answers.given.sum(axis=1)
    right = (answers.answers == answers.expected_right()).sum(axis=1)
    shares: Values = np.divide(right, given, out=np.full(len(given), np.nan), where=given > 0)
    return shares


def closeness(skills: Values) -> Square:
    """The closeness of two models in the ranking by skill: 1 for equal ranks, down to 0.

    A Gaussian of the difference in rank, where the weakest model has the rank 0 and the most
    skilled 1. Ranks do not depend on the spread of the skills. Equal skills share their mean rank.
    0 with a model whose skill is NaN, and with itself: no model affects what is expected of it.

    Examples
    --------
    Three models, the two unequal neighbours half the ranking apart, exp(-(0.5 / 0.3)² / 2):

    >>> closeness(np.array([0.2, 0.9, 0.6])).round(4).tolist()
    [[0.0, 0.0039, 0.2494], [0.0039, 0.0, 0.2494], [0.2494, 0.2494, 0.0]]
    """
    known = ~np.isnan(skills)
    below = (skills[None, :] < skills[:, None]).sum(axis=1)
    not_above = (skills[None, :] <= skills[:, None]).sum(axis=1)
    ranks = (below + not_above - 1) / 2 / max(int(known.sum()) - 1, 1)
    near = np.exp(-(((ranks[:, None] - ranks[None, :]) / _WIDTH) ** 2) / 2)
    np.fill_diagonal(near, 0.0)
    return np.where(known[:, None] & known[None, :], near, 0.0)
