"""Correlations with human scores and their differences, with intervals.

Intervals are from a jackknife over groups of pairs: pairs that share a sentence are not
independent, so they are left out together. It assumes nothing about the distribution of scores,
and a difference of two correlations leaves the same group out of both.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, t as student

from scope.jobs.probe.latents import Scores, checked_groups
from scope.records.estimates import Estimate, Undefined

Groups = NDArray[np.intp]
"""Shape (pairs,): group numbers from 0 without gaps."""

METHOD = "jackknife over groups of pairs"
LEVEL = 0.95

_FEWEST = 4
"""Fewest groups: without one of three, two pairs may remain, which always lie on a line."""

_NOTHING = 1e-9
"""If a smaller share of the squares remains without a group, the rest counts as constant."""

_PERFECT = 1 - 1e-12
"""A larger correlation is perfect up to rounding; ``atanh`` of 1 would be infinite."""


def half_width(without: Scores) -> float:
    """Half the width of a number's interval, from its values without each group.

    The jackknife's variance, and Student's t with one degree of freedom fewer than groups.

    Examples
    --------
    A mean of 1, 2 and 6 is 4, 3.5 and 1.5 without one of them; its error is the root of 7 / 3:

    >>> round(half_width(np.array([4, 3.5, 1.5])) / 4.302653, 4), (7 / 3) ** 0.5
    (1.5275, 1.5275252316519468)
    """
    groups = len(without)
    variance = (groups - 1) * float(without.var())
    return float(student.ppf((1 + LEVEL) / 2, groups - 1)) * math.sqrt(variance)


def pearson(predicted: Scores, wanted: Scores) -> float:
    """Pearson's correlation, from -1 to 1; NaN if one side is constant.

    Examples
    --------
    >>> round(pearson(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])), 6)
    0.5
    """
    first, second = _centred(predicted), _centred(wanted)
    size = math.sqrt(float(first @ first) * float(second @ second))
    return float(np.clip(first @ second / size, -1.0, 1.0)) if size else math.nan


def pearson_without(predicted: Scores, wanted: Scores, groups: Groups) -> Scores:
    """Pearson's correlation without each group in turn; NaN if one side is constant then.

    Examples
    --------
    >>> predicted, wanted = np.array([0.0, 1, 2, 9]), np.array([0.0, 2, 1, 9])
    >>> pearson_without(predicted, wanted, np.array([0, 1, 2, 3])).round(3).tolist()
    [0.974, 0.994, 0.994, 0.5]
    """
    first, second = _centred(predicted), _centred(wanted)
    left = len(groups) - np.bincount(groups)

    def rest(values: Scores) -> Scores:
        sums = np.bincount(groups, values)
        without: Scores = sums.sum() - sums
        return without

    sums = rest(first), rest(second)
    squares = rest(first**2) - sums[0] ** 2 / left, rest(second**2) - sums[1] ** 2 / left
    products = rest(first * second) - sums[0] * sums[1] / left
    varied = (squares[0] > _NOTHING * (first @ first)) & (squares[1] > _NOTHING * (second @ second))
    correlations = np.full(len(left), math.nan)
    correlations[varied] = products[varied] / np.sqrt(squares[0][varied] * squares[1][varied])
    return np.asarray(np.clip(correlations, -1.0, 1.0))


def spearman_without(predicted: Scores, wanted: Scores, groups: Groups) -> Scores:
    """Spearman's rank correlation without each group in turn; NaN if one side is constant then.

    Examples
    --------
    >>> predicted, wanted = np.array([0.0, 1, 2, 9]), np.array([0.0, 2, 1, 9])
    >>> spearman_without(predicted, wanted, np.array([0, 1, 2, 3])).round(3).tolist()
    [0.5, 1.0, 1.0, 0.5]
    """
    masks = [groups != group for group in range(groups.max() + 1)]
    return np.array([pearson(rankdata(predicted[kept]), rankdata(wanted[kept])) for kept in masks])


def _centred(values: Scores) -> Scores:
    """Values minus their mean; exactly 0 for a constant, whose mean may have a rounding error."""
    if (values == values[0]).all():
        return np.zeros(len(values))
    centred: Scores = values - values.mean()
    return centred


def pearson_estimate(
    predicted: Scores, wanted: Scores, groups: NDArray[np.int64] | None = None
) -> Estimate | Undefined:
    """Pearson's correlation with an interval that is symmetric in its ``atanh``.

    Parameters
    ----------
    predicted, wanted
        Shape (pairs,), of the same pairs in the same order.
    groups
        Shape (pairs,): one number for all pairs that share sentences; None: each pair by itself.

    Raises
    ------
    DataError
        If the numbers of groups and pairs differ.

    Examples
    --------
    >>> predicted, wanted = np.arange(6.0), np.array([0.0, 2, 1, 4, 3, 5])
    >>> print(pearson_estimate(predicted, wanted))
    0.886 [0.156, 0.990]
    """
    return _estimate(predicted, wanted, groups, pearson_without)


def spearman_estimate(
    predicted: Scores, wanted: Scores, groups: NDArray[np.int64] | None = None
) -> Estimate | Undefined:
    """Spearman's rank correlation; otherwise as `pearson_estimate`.

    Examples
    --------
    >>> print(spearman_estimate(np.arange(6.0) ** 3, np.array([0.0, 2, 1, 4, 3, 5])))
    0.886 [0.371, 0.984]
    """
    return _estimate(rankdata(predicted), rankdata(wanted), groups, spearman_without)


def _estimate(
    predicted: Scores,
    wanted: Scores,
    groups: NDArray[np.int64] | None,
    correlations_without: Callable[[Scores, Scores, Groups], Scores],
) -> Estimate | Undefined:
    count, numbers = len(predicted), checked_groups(groups, len(predicted))
    if count == 0 or numbers.max() + 1 < _FEWEST:
        unit = "pairs" if groups is None else "groups of pairs"
        return Undefined(reason=f"fewer than {_FEWEST} {unit}", n=count)
    value = pearson(predicted, wanted)
    if math.isnan(value):
        return Undefined(reason="one side is constant", n=count)
    without = correlations_without(predicted, wanted, numbers)
    if np.isnan(without).any():
        return Undefined(reason="one side is constant without one group of pairs", n=count)
    middle = math.atanh(np.clip(value, -_PERFECT, _PERFECT))
    half = half_width(np.arctanh(np.clip(without, -_PERFECT, _PERFECT)))
    low, high = min(value, math.tanh(middle - half)), max(value, math.tanh(middle + half))
    return Estimate(value=value, low=low, high=high, n=count, level=LEVEL, method=METHOD)


def pearson_difference(
    predicted: Scores, other: Scores, wanted: Scores, groups: NDArray[np.int64] | None = None
) -> Estimate | Undefined:
    """Pearson's correlation of ``predicted`` with ``wanted`` minus that of ``other``.

    Both correlations share the pairs and the human scores, so the interval is narrower than that
    of two independent ones: each group of pairs is left out of both at once.

    Parameters
    ----------
    predicted, other, wanted
        Shape (pairs,), of the same pairs in the same order.
    groups
        As in `pearson_estimate`.

    Returns
    -------
    Estimate or Undefined
        From -2 to 2, with a symmetric interval within these.

    Raises
    ------
    DataError
        If the numbers of groups and pairs differ.

    Examples
    --------
    >>> wanted = np.array([0.0, 1, 2, 3, 4, 5])
    >>> print(pearson_difference(wanted**2, np.array([1.0, 0, 2, 3, 5, 4]), wanted))
    0.074 [-0.016, 0.164]
    """
    return _difference(predicted, other, wanted, groups, pearson_without)


def spearman_difference(
    predicted: Scores, other: Scores, wanted: Scores, groups: NDArray[np.int64] | None = None
) -> Estimate | Undefined:
    """Spearman's counterpart of `pearson_difference`.

    Examples
    --------
    >>> wanted = np.array([0.0, 1, 2, 3, 4, 5])
    >>> print(spearman_difference(wanted**2, np.array([1.0, 0, 2, 3, 5, 4]), wanted))
    0.114 [-0.157, 0.385]
    """
    ranks = rankdata(predicted), rankdata(other), rankdata(wanted)
    return _difference(*ranks, groups, spearman_without)


def _difference(
    predicted: Scores,
    other: Scores,
    wanted: Scores,
    groups: NDArray[np.int64] | None,
    correlations_without: Callable[[Scores, Scores, Groups], Scores],
) -> Estimate | Undefined:
    first = _estimate(predicted, wanted, groups, correlations_without)
    second = _estimate(other, wanted, groups, correlations_without)
    if isinstance(first, Undefined):
        return first
    if isinstance(second, Undefined):
        return second
    value = first.value - second.value
    numbers = checked_groups(groups, len(predicted))
    sides = (correlations_without(side, wanted, numbers) for side in (predicted, other))
    half = half_width(np.subtract(*sides))
    return replace(first, value=value, low=max(-2.0, value - half), high=min(2.0, value + half))
