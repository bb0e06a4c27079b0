"""Pearson's and Spearman's correlation with human scores, their differences, and the mean error.

How sure a number is follows from what it comes to without each group of pairs in turn (jackknife).
Pairs that share a sentence are not independent, so they leave together: the group is the unit.
Nothing is supposed of how scores are distributed, and what two correlations share of their errors
is made up for by leaving the same group out of both.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, t as student

from scope.probes.checks import Scores, checked_groups
from scope.records.estimates import Estimate, Undefined
from scope.statistics import mean_estimate

Groups = NDArray[np.intp]
"""Shape (pairs,): numbers of groups from 0, each of which occurs."""

METHOD = "jackknife over groups of pairs"

_FEWEST = 4
"""Groups; without one of three there may be two pairs left, which always lie on a line."""


def groups_of(groups: NDArray[np.int64] | None, pairs: int) -> Groups | Undefined:
    """The groups numbered from 0, each pair by itself where none are given; if they are enough."""
    found = np.arange(pairs) if groups is None else checked_groups(groups, pairs)
    if len(found) == 0 or found.max() + 1 < _FEWEST:
        unit = "pairs" if groups is None else "groups of pairs"
        return Undefined(reason=f"fewer than {_FEWEST} {unit}", n=pairs)
    return found


def half_width(without: Scores, level: float) -> float:
    """Half the interval around a number, from what it is without each group.

    The jackknife's variance, and Student's t of one degree of freedom fewer than groups.

    Examples
    --------
    A mean of 1, 2 and 6 is 4, 3.5 and 1.5 without one of them; its error is the root of 7 / 3:

    >>> round(half_width(np.array([4, 3.5, 1.5]), 0.95) / 4.302653, 4), (7 / 3) ** 0.5
    (1.5275, 1.5275252316519468)
    """
    groups = len(without)
    variance = (groups - 1) * float(without.var())
    return float(student.ppf((1 + level) / 2, groups - 1)) * math.sqrt(variance)


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


_ALL = 1 - 1e-12
"""A correlation beyond this is perfect but for rounding; ``atanh`` of 1 would be infinite."""


def pearson_estimate(
    given: Scores, wanted: Scores, groups: NDArray[np.int64] | None = None, level: float = 0.95
) -> Estimate | Undefined:
    """Pearson's correlation with a jackknife's interval.

    The interval is symmetric in ``atanh`` of the correlation; its width is that of
    `scope.probes.correlations.half_width`.

    Parameters
    ----------
    given, wanted
        Shape (pairs,), of the same pairs in the same order.
    groups
        Shape (pairs,): one number for all pairs that share sentences, and so are not independent;
        None: each pair by itself.
    level
        The interval's confidence level.

    Raises
    ------
    DataError
        When there is not one group a pair.

    Examples
    --------
    >>> given, wanted = np.arange(6.0), np.array([0.0, 2, 1, 4, 3, 5])
    >>> print(pearson_estimate(given, wanted))
    0.886 [0.156, 0.990]
    """
    numbered = groups_of(groups, len(given))
    if isinstance(numbered, Undefined):
        return numbered
    value, without = pearson(given, wanted), pearson_without(given, wanted, numbered)
    return _estimate(value, without, len(given), level)


def spearman_estimate(
    given: Scores, wanted: Scores, groups: NDArray[np.int64] | None = None, level: float = 0.95
) -> Estimate | Undefined:
    """Spearman's rank correlation; all else is as for `pearson_estimate`.

    Raises
    ------
    DataError
        When there is not one group a pair.

    Examples
    --------
    >>> print(spearman_estimate(np.arange(6.0) ** 3, np.array([0.0, 2, 1, 4, 3, 5])))
    0.886 [0.371, 0.984]
    """
    numbered = groups_of(groups, len(given))
    if isinstance(numbered, Undefined):
        return numbered
    value = pearson(rankdata(given), rankdata(wanted))
    return _estimate(value, spearman_without(given, wanted, numbered), len(given), level)


def _estimate(value: float, without: Scores, pairs: int, level: float) -> Estimate | Undefined:
    if math.isnan(value):
        return Undefined(reason="one side is constant", n=pairs)
    if np.isnan(without).any():
        return Undefined(reason="one side is constant without one group of pairs", n=pairs)
    middle = math.atanh(np.clip(value, -_ALL, _ALL))
    half = half_width(np.arctanh(np.clip(without, -_ALL, _ALL)), level)
    return Estimate(
        value=value,
        low=min(value, math.tanh(middle - half)),
        high=max(value, math.tanh(middle + half)),
        n=pairs,
        level=level,
        method=METHOD,
    )


def pearson_difference(
    given: Scores,
    other: Scores,
    wanted: Scores,
    groups: NDArray[np.int64] | None = None,
    level: float = 0.95,
) -> Estimate | Undefined:
    """Pearson's correlation of ``given`` with ``wanted`` less that of ``other``, with an interval.

    Both correlations share the pairs and human scores, so they rise and fall together, and the
    interval is narrower than that of two independent ones: each group of pairs leaves both at
    once.

    Parameters
    ----------
    given, other, wanted
        Shape (pairs,), of the same pairs in the same order.
    groups
        Shape (pairs,): one number for all pairs that share sentences; None: each by itself.
    level
        The interval's confidence level.

    Returns
    -------
    Estimate or Undefined
        From -2 to 2, and symmetric as far as these leave room. Of scores beside themselves it is
        a point, 0.

    Raises
    ------
    DataError
        When there is not one group a pair.

    Examples
    --------
    >>> wanted = np.array([0.0, 1, 2, 3, 4, 5])
    >>> print(pearson_difference(wanted**2, np.array([1.0, 0, 2, 3, 5, 4]), wanted))
    0.074 [-0.016, 0.164]
    """
    numbered = groups_of(groups, len(given))
    if isinstance(numbered, Undefined):
        return numbered
    first = pearson_estimate(given, wanted, groups, level)
    if isinstance(first, Undefined):
        return first
    second = pearson_estimate(other, wanted, groups, level)
    if isinstance(second, Undefined):
        return second
    value = first.value - second.value
    without = pearson_without(given, wanted, numbered)
    half = half_width(without - pearson_without(other, wanted, numbered), level)
    return Estimate(
        value=value,
        low=max(-2.0, value - half),
        high=min(2.0, value + half),
        n=len(given),
        level=level,
        method=METHOD,
    )


def mean_error_estimate(
    given: Scores,
    wanted: Scores,
    *,
    groups: NDArray[np.int64] | None = None,
    low: float = 0.0,
    high: float = 5.0,
    level: float = 0.95,
) -> Estimate | Undefined:
    """The mean absolute difference from human scores, in their unit, with its interval.

    Parameters
    ----------
    given, wanted
        Shape (pairs,), from ``low`` to ``high``.
    groups
        Shape (pairs,): one number for all pairs that share sentences, and so count as one example
        for the interval; None: each by itself.
    low, high
        The range of the scores, and so of an error from 0 to ``high - low``.
    level
        The interval's confidence level.

    Returns
    -------
    Estimate or Undefined
        As `scope.statistics.mean_estimate` has it, but that ``n`` counts pairs.

    Raises
    ------
    DataError
        When there is not one group a pair.
    ValueError
        When an error is greater than the range has room for.

    Examples
    --------
    >>> print(mean_error_estimate(np.array([1.0, 4.0]), np.array([2.0, 4.0])))
    0.500 [0.028, 3.442]
    """
    errors = np.abs(given - wanted)
    count = len(errors)
    numbered = np.arange(count) if groups is None else checked_groups(groups, count)
    found = mean_estimate(
        errors,
        list(map(str, numbered)),
        low=0.0,
        high=high - low,
        level=level,
        empty="there are no pairs",
    )
    return replace(found, n=count)


def misjudged(given: Scores, wanted: Scores, count: int) -> NDArray[np.intp]:
    """The places of the pairs whose scores are farthest from people's, the worst first.

    Parameters
    ----------
    given, wanted
        Shape (pairs,).
    count
        At most so many.

    Examples
    --------
    Of two that are as far off the earlier comes first:

    >>> misjudged(np.array([1.0, 5.0, 3.0]), np.array([2.0, 2.0, 2.0]), 2).tolist()
    [1, 0]
    """
    # Numbers that differ by the error of rounding alone are as far off.
    errors = np.abs(given - wanted).round(6)
    return np.argsort(-errors, kind="stable")[:count]
