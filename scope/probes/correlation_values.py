"""Pearson's correlation, and what it and the ranks' come to without each group of pairs."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from scope.probes.checks import Scores
from scope.probes.jackknife import Groups

_LITTLE = 1e-6
"""What is left of less than this share of the squares is summed anew, without differences."""


def pearson(given: Scores, wanted: Scores) -> float:
    """Pearson's correlation, from -1 to 1; NaN where one side is constant.

    Examples
    --------
    >>> round(pearson(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])), 6)
    0.5
    """
    first, second = _centred(given), _centred(wanted)
    size = math.sqrt(float(first @ first) * float(second @ second))
    return float(np.clip(first @ second / size, -1.0, 1.0)) if size else math.nan


def pearson_without(given: Scores, wanted: Scores, groups: Groups) -> Scores:
    """Pearson's correlation without each group in turn; NaN where one side is constant then.

    Examples
    --------
    >>> given, wanted = np.array([0.0, 1, 2, 9]), np.array([0.0, 2, 1, 9])
    >>> pearson_without(given, wanted, np.array([0, 1, 2, 3])).round(3).tolist()
    [0.974, 0.994, 0.994, 0.5]
    """
    first, second = _centred(given), _centred(wanted)
    left = len(groups) - np.bincount(groups)

    def rest(values: Scores) -> Scores:
        sums = np.bincount(groups, values)
        without: Scores = sums.sum() - sums
        return without

    sums = rest(first), rest(second)
    squares = rest(first**2) - sums[0] ** 2 / left, rest(second**2) - sums[1] ** 2 / left
    products = rest(first * second) - sums[0] * sums[1] / left
    firm = (squares[0] > _LITTLE * (first @ first)) & (squares[1] > _LITTLE * (second @ second))
    found = np.full(len(left), math.nan)
    found[firm] = products[firm] / np.sqrt(squares[0][firm] * squares[1][firm])
    for group in np.flatnonzero(~firm):
        kept = groups != group
        found[group] = pearson(given[kept], wanted[kept])
    np.clip(found, -1.0, 1.0, out=found)
    return found


def spearman_without(given: Scores, wanted: Scores, groups: Groups) -> Scores:
    """Spearman's rank correlation without each group in turn; ranks close up behind it.

    Examples
    --------
    >>> given, wanted = np.array([0.0, 1, 2, 9]), np.array([0.0, 2, 1, 9])
    >>> spearman_without(given, wanted, np.array([0, 1, 2, 3])).round(3).tolist()
    [0.5, 1.0, 1.0, 0.5]
    """
    ranks = rankdata(given), rankdata(wanted)
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups))
    found = np.empty(len(ends))
    for group, members in enumerate(np.split(order, ends[:-1])):
        kept = groups != group
        found[group] = pearson(
            *(_closed_up(side, members)[kept] for side in ranks),
        )
    return found


def _closed_up(ranks: Scores, gone: NDArray[np.intp]) -> Scores:
    """Ranks less those that are gone below, and half of those that are gone beside."""
    lost = np.sort(ranks[gone])
    below, up_to = (lost.searchsorted(ranks, side) for side in ("left", "right"))
    closed: Scores = ranks - (below + up_to) / 2
    return closed


def _centred(values: Scores) -> Scores:
    """Less the mean; nothing but 0 of a constant, whatever the error of its mean."""
    if (values == values[0]).all():
        return np.zeros(len(values))
    centred: Scores = values - values.mean()
    return centred
