"""How strongly a model follows the answers of models of its skill, and the right answers.

An independent model B is expected to choose option k of question i with a probability proportional
to

    q(k|i)^s · exp(t · [k is right])

where q is the frequency of k among models of similar skill (`scope.evidence.consensus`). A model
with s = 1 and t = 0 is like the others; one with a greater s errs where they err, with more
certainty; one with a greater t is right more often than they are. A model that answers at random,
or always the same, has s = t = 0: its agreement with a reference is no evidence.

s and t maximise the log-likelihood of B's answers minus ((s - 1)² + t²) / 2, a prior for an
ordinary model that matters only if answers are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scope.evidence.arrays import Values

_ORDINARY = np.array([1.0, 0.0])
_NEWTON_STEPS = 50
_NEAR_ENOUGH = 1e-9
_LONGEST_STEP = 1.0


class Fit(NamedTuple):
    """s, t, and the gain in log-probability over guessing, in nats per question."""

    consensus: float
    right: float
    gain: float


class Following(NamedTuple):
    """The fit of every model; each of shape (models,), NaN for one that answered nothing.

    Attributes
    ----------
    consensus
        s: 1 if it follows the others as they follow each other, 0 if not at all.
    right
        t: the log-odds of the right option beyond s, in nats.
    gain
        The mean over questions of the gain in log-probability over guessing among the options, in
        nats.
    units
        The number of examples of which the model answered a question.
    """

    consensus: Values
    right: Values
    gain: Values
    units: Values


class FitRows(NamedTuple):
    """The input of a fit for some questions: ``n`` of them with at most ``c`` columns of options.

    ``log_frequencies``, ``options`` (how many a column stands for), ``right`` and ``chosen`` (zeros
    and ones) have the shape (n, c), ``share``, 1 / K, the shape (n,).
    """

    log_frequencies: Values
    options: Values
    right: Values
    chosen: Values
    share: Values


def fit(rows: Sequence[FitRows]) -> Fit:
    """Fit s and t by Newton's method; the penalised likelihood has one maximum.

    Examples
    --------
    Ten questions with two options, which the others choose equally often, and nine right answers:
    s plays no part, and t solves 9 - 10 / (1 + e^-t) = t.

    >>> answers = np.repeat([[1.0, 0.0], [0.0, 1.0]], [9, 1], axis=0)
    >>> right = np.repeat([[1.0, 0.0]], 10, axis=0)
    >>> same = np.full((10, 2), np.log(0.5))
    >>> found = fit([FitRows(same, np.ones((10, 2)), right, answers, np.full(10, 0.5))])
    >>> round(found.consensus, 6), round(found.right, 6)
    (1.0, 1.241591)
    >>> round(float(9 - 10 / (1 + np.exp(-found.right))), 6)
    1.241591
    """
    point = _ORDINARY.copy()
    for _ in range(_NEWTON_STEPS):
        slope, bend = _ORDINARY - point, np.eye(2)
        for one in rows:
            of_one, bend_of_one = _slope_and_bend(one, point)
            slope, bend = slope + of_one, bend + bend_of_one
        step = np.clip(np.linalg.solve(bend, slope), -_LONGEST_STEP, _LONGEST_STEP)
        point = point + step
        if np.abs(step).max() < _NEAR_ENOUGH:
            break
    number = sum(len(one.share) for one in rows)
    gains = sum(
        float(np.log((_probabilities(one, point) * one.chosen).sum(axis=1) / one.share).sum())
        for one in rows
    )
    return Fit(float(point[0]), float(point[1]), gains / max(number, 1))


def follows_nothing(following: Following) -> Values:
    """The p-value of the null hypothesis that a model guesses.

    The likelihood ratio of (s, t) to (0, 0) is chi-square with two degrees of freedom for a model
    that guesses; its upper tail beyond x is exp(-x / 2). An example with several questions counts
    as one, because guesses may be equal on all of them. 1 for a model that answered nothing. With
    fewer than about twenty answered examples the p-value is approximate and conservative, because
    the prior moves the fit away from the maximum of the likelihood.

    Examples
    --------
    A hundred examples answered e^0.05 times likelier than by guessing: exp(-100 · 0.05).

    >>> some = np.array([1.0])
    >>> follows_nothing(Following(some, some, some * 0.05, some * 100)).round(5).tolist()
    [0.00674]
    """
    gains = np.nan_to_num(np.maximum(following.gain, 0.0))
    return np.asarray(np.exp(-following.units * gains))


def _probabilities(rows: FitRows, point: Values) -> Values:
    weights = rows.options * np.exp(point[0] * rows.log_frequencies + point[1] * rows.right)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _slope_and_bend(rows: FitRows, point: Values) -> tuple[Values, Values]:
    """First derivative of the log-likelihood, and its second with the sign changed."""
    chances = _probabilities(rows, point)
    drawn = chances * rows.log_frequencies
    consensus, right = drawn.sum(axis=1), (chances * rows.right).sum(axis=1)
    missed = rows.chosen - chances
    slope = np.array([(rows.log_frequencies * missed).sum(), (rows.right * missed).sum()])
    mixed = (drawn * rows.right).sum() - consensus @ right
    of_consensus = (drawn * rows.log_frequencies).sum() - consensus @ consensus
    of_right = right.sum() - right @ right
    return slope, np.array([[of_consensus, mixed], [mixed, of_right]])
