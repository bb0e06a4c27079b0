"""Arrays of latents: checks, scales, cosines, and principal components.

A few dimensions of a language model have variances above those of all others together. Unless all
dimensions are standardised, those few decide every cosine and every principal component.

Correlations with human scores and their differences, with intervals.

Intervals are from a jackknife over groups of pairs: pairs that share a sentence are not
independent, so they are left out together. It assumes nothing about the distribution of scores,
and a difference of two correlations leaves the same group out of both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from scipy.stats import rankdata

from scope.errors import DataError
from scope.models.torch_setup import load_torch, torch_threads
from scope.records.estimates import Estimate, Undefined
from scope.statistics.intervals import LEVEL, jackknife_half, one_numpy_thread

Latents = NDArray[np.float32]
"""Shape (sentences or pairs, layers, width): one vector a layer, after the residual connection."""

Scores = NDArray[np.float64]
"""Shape (pairs,): the semantic similarity of two sentences, by people or by a probe."""

Distances = NDArray[np.float64]
"""Shape (pairs, layers): 1 - cosine, from 0 to 2; exactly 0 for equal latents."""

_STILL = 1e-6
"""A dimension with a smaller deviation carries no information; it keeps its own scale."""

_TINY = 1e-30


def checked_latents(latents: NDArray[Any], name: str = "the latents") -> Latents:
    """The latents in single precision; a memory-mapped file of float32 stays on disk.

    Raises
    ------
    DataError
        If they do not have three axes, or a number is not finite.

    Examples
    --------
    >>> checked_latents(np.zeros((2, 3, 8))).dtype
    dtype('float32')
    >>> checked_latents(np.zeros((2, 8)))
    Traceback (most recent call last):
    ...
    scope.errors.DataError: found:    the latents of shape (2, 8)
    expected: finite numbers in three axes: sentences, layers and width, none of them empty
    fix:      read the latents of all layers in float32, one vector a sentence and layer
    """
    single = np.asanyarray(latents).astype(np.float32, copy=False)
    finite = bool(np.isfinite(single).all())
    if single.ndim != 3 or 0 in single.shape or not finite:
        raise DataError(
            f"{name} of shape {single.shape}{'' if finite else ', not all of them finite'}",
            expected="finite numbers in three axes: sentences, layers and width, none of them "
            "empty",
            fix="read the latents of all layers in float32, one vector a sentence and layer",
        )
    return single


def checked_pairs(first: NDArray[Any], second: NDArray[Any]) -> tuple[Latents, Latents]:
    """The latents of both sentences of each pair, in single precision.

    Raises
    ------
    DataError
        If the numbers of pairs, layers or dimensions differ.
    """
    pair = (
        checked_latents(first, "the first sentences' latents"),
        checked_latents(second, "the second sentences' latents"),
    )
    if pair[0].shape != pair[1].shape:
        raise DataError(
            f"latents of shape {pair[0].shape} beside latents of shape {pair[1].shape}",
            expected="as many second sentences as first ones, read from the same model",
            fix="give two arrays of the same pairs, in the same order",
        )
    return pair


def checked_scores(scores: ArrayLike, pairs: int, low: float, high: float) -> Scores:
    """Human scores in double precision.

    Raises
    ------
    DataError
        If the numbers of scores and pairs differ, a score is outside the range, or all are equal.

    Examples
    --------
    >>> checked_scores([0, 5.5], 2, 0.0, 5.0)
    Traceback (most recent call last):
    ...
    scope.errors.DataError: found:    the score 5.5 of pair 1
    expected: scores from 0 to 5
    fix:      correct the score, or give the range that the scores have as `low` and `high`
    """
    human = np.asarray(scores, dtype=np.float64)
    if human.shape != (pairs,):
        raise DataError(
            f"scores of shape {human.shape} for {pairs} pairs",
            expected="one score a pair",
            fix="give the scores of the same pairs, in the same order",
        )
    outside = np.flatnonzero(~((human >= low) & (human <= high)))
    if outside.size:
        place = int(outside[0])
        raise DataError(
            f"the score {human[place]:g} of pair {place}",
            expected=f"scores from {low:g} to {high:g}",
            fix="correct the score, or give the range that the scores have as `low` and `high`",
        )
    if (human == human[0]).all():
        raise DataError(
            f"{pairs} pairs that all have the score {human[0]:g}",
            expected="pairs of different scores: nothing correlates with a constant",
            fix="give pairs that mean the same beside pairs that do not",
        )
    return human


def checked_groups(groups: ArrayLike | None, count: int, unit: str = "pair") -> NDArray[np.intp]:
    """The groups of pairs, or of another unit, numbered from 0; None: each unit by itself.

    Raises
    ------
    DataError
        If the groups are not one whole number per unit.

    Examples
    --------
    >>> checked_groups([7, 2, 7], 3).tolist(), checked_groups(None, 3).tolist()
    ([1, 0, 1], [0, 1, 2])
    """
    if groups is None:
        return np.arange(count)
    numbers = np.asarray(groups)
    if numbers.shape != (count,) or numbers.dtype.kind not in "iu":
        raise DataError(
            f"groups of {numbers.dtype} and of shape {numbers.shape} for {count} {unit}s",
            expected=f"one whole number a {unit}, the same for those that hang together",
            fix=f"give the groups of the same {unit}s, in the same order, or none",
        )
    return np.unique(numbers, return_inverse=True)[1]


def require_form(latents: Latents, layers: int, width: int) -> None:
    """Raise a DataError if layers or width of latents differ from those of a probe's fit."""
    if latents.shape[1:] != (layers, width):
        raise DataError(
            f"latents of {latents.shape[1]} layers of width {latents.shape[2]}",
            expected=f"{layers} layers of width {width}, as the probe was fitted on",
            fix="read the latents from the model that the probe was fitted on",
        )


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit torch and NumPy to one thread, and restore their settings afterwards.

    The order of a sum, and so its rounding, depends on the number of threads.
    """
    with torch_threads(1), one_numpy_thread():
        yield


class Scales(NamedTuple):
    """Mean and standard deviation of each dimension, both of shape (layers, width)."""

    centre: NDArray[np.float32]
    deviation: NDArray[np.float32]


def fit_scales(parts: Sequence[Latents]) -> Scales:
    """Mean and deviation of each dimension over the rows of all parts.

    Examples
    --------
    >>> points = np.array([[[1.0, 3.0]], [[-1.0, 3.0]]], dtype=np.float32)
    >>> scales = fit_scales([points])
    >>> scales.centre.tolist(), scales.deviation.tolist()
    ([[0.0, 3.0]], [[1.0, 1.0]])
    """
    moments = [_moments(_rows_of(parts, layer)) for layer in range(parts[0].shape[1])]
    centres, deviations = (
        np.stack(layers).astype(np.float32) for layers in zip(*moments, strict=True)
    )
    return Scales(centres, deviations)


def _rows_of(parts: Sequence[Latents], layer: int) -> NDArray[np.float64]:
    """One layer's latents in double precision, concatenated over the parts."""
    return np.concatenate([np.asarray(part[:, layer], dtype=np.float64) for part in parts])


def _moments(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation of each dimension; the deviation is 1 if it hardly changes."""
    deviation = rows.std(axis=0)
    deviation[deviation < _STILL] = 1.0
    return rows.mean(axis=0), deviation


def cosine_distances(first: Latents, second: Latents, scales: Scales | None = None) -> Distances:
    """1 - cosine in each layer, as half the squared distance of the normalized vectors.

    Parameters
    ----------
    first, second
        Shape (pairs, layers, width).
    scales
        Standardise each dimension by these first; None: the latents as they are.

    Examples
    --------
    Orthogonal, equal and opposite:

    >>> first = np.array([[[1.0, 0.0]], [[0.0, 2.0]], [[3.0, 0.0]]], dtype=np.float32)
    >>> second = np.array([[[0.0, 5.0]], [[0.0, 2.0]], [[-1.0, 0.0]]], dtype=np.float32)
    >>> cosine_distances(first, second).tolist()
    [[1.0], [0.0], [2.0]]
    """
    distances = np.empty(first.shape[:2])
    for layer in range(first.shape[1]):
        units = []
        for side in (first, second):
            vectors = side[:, layer].astype(np.float64)
            if scales is not None:
                vectors = (vectors - scales.centre[layer]) / scales.deviation[layer]
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            units.append(vectors / np.maximum(lengths, _TINY))
        distances[:, layer] = 0.5 * np.square(units[0] - units[1]).sum(axis=1)
    return distances


POWER = 0.4
"""Whitening divides by this power of a variance; 0.5 would whiten fully."""

FLOOR = 0.02
"""Added to each variance, so that whitening does not amplify directions of little variance."""


class Basis(NamedTuple):
    """How each layer's latents become inputs of its encoder: ``(latent - centre) @ projection``.

    ``centre`` has the shape (layers, width), ``projection`` (layers, width, components); the
    leading component comes first.
    """

    centre: NDArray[np.float32]
    projection: NDArray[np.float32]


def fit_basis(parts: Sequence[Latents], components: int, *, whitened: bool) -> Basis:
    """Principal components of each layer's standardised latents, over the rows of all parts.

    A linear autoencoder with squared loss converges to the same directions, so nothing is trained.
    Whitened, each component is divided by ``(variance + FLOOR) ** POWER``; otherwise a layer's
    components are divided by one number, so that their mean square is 1.

    Examples
    --------
    Along the first axis the points differ, along the second they do not:

    >>> points = np.array([[[1.0, 3.0]], [[-1.0, 3.0]]], dtype=np.float32)
    >>> basis = fit_basis([points], 1, whitened=False)
    >>> basis.centre.tolist(), basis.projection.tolist()
    ([[0.0, 3.0]], [[[1.0], [0.0]]])
    """
    layers, width = parts[0].shape[1:]
    centres, projections = [], []
    for layer in range(layers):
        rows = _rows_of(parts, layer)
        centre, deviation = _moments(rows)
        standard = (rows - centre) / deviation
        # Only the largest eigenvalues, which come last.
        values, vectors = eigh(
            standard.T @ standard / len(rows), subset_by_index=(width - components, width - 1)
        )
        variances, directions = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
        # A solver may return either sign: the largest number of a direction is made positive.
        largest = np.abs(directions).argmax(axis=0)
        directions = directions * np.sign(directions[largest, np.arange(components)])
        if whitened:
            scale = (variances + FLOOR) ** -POWER
        else:
            spread = np.sqrt(variances.mean())
            scale = np.full(components, 1.0 / spread if spread > _STILL else 1.0)
        centres.append(centre.astype(np.float32))
        projections.append((directions / deviation[:, None] * scale).astype(np.float32))
    # Stacked, as the order of the numbers in memory decides the rounding of products.
    return Basis(np.stack(centres), np.stack(projections))


def layer_normed(latents: Latents) -> Latents:
    """Each vector with mean 0 and variance 1 over its dimensions, as by a layer norm.

    Examples
    --------
    >>> layer_normed(np.array([[[1.0, 3.0]]], dtype=np.float32)).tolist()
    [[[-1.0, 1.0]]]
    """
    centred = latents - latents.mean(axis=2, keepdims=True)
    return np.asarray(centred / np.maximum(centred.std(axis=2, keepdims=True), _STILL), np.float32)


def raw_basis(layers: int, width: int) -> Basis:
    """The basis that leaves latents as they are.

    Examples
    --------
    >>> latents = np.array([[[3.0, -1.0]]], dtype=np.float32)
    >>> project(raw_basis(1, 2), [latents]).tolist()
    [[[3.0, -1.0]]]
    """
    whole = np.eye(width, dtype=np.float32)
    return Basis(np.zeros((layers, width), dtype=np.float32), np.tile(whole, (layers, 1, 1)))


def project(basis: Basis, parts: Sequence[Latents]) -> Any:
    """The encoders' inputs as one tensor of shape (layers, sentences of all parts, components).

    Layer by layer, so that no second copy of all latents is made.
    """
    torch = load_torch()
    layers, _, components = basis.projection.shape
    inputs = torch.empty(layers, sum(map(len, parts)), components)
    for layer in range(layers):
        projection, start = torch.from_numpy(basis.projection[layer]), 0
        for part in parts:
            centred = torch.from_numpy(part[:, layer] - basis.centre[layer])
            rows = inputs[layer, start : start + len(part)]
            torch.matmul(centred, projection, out=rows)
            start += len(part)
    return inputs


Groups = NDArray[np.intp]
"""Shape (pairs,): group numbers from 0 without gaps."""

METHOD = "jackknife over groups of pairs"

_FEWEST = 4
"""Fewest groups: without one of three, two pairs may remain, which always lie on a line."""

_NOTHING = 1e-9
"""If a smaller share of the squares remains without a group, the rest counts as constant."""

_PERFECT = 1 - 1e-12
"""A larger correlation is perfect up to rounding; ``atanh`` of 1 would be infinite."""


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
    half = jackknife_half(np.arctanh(np.clip(without, -_PERFECT, _PERFECT)))
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
    half = jackknife_half(np.subtract(*sides))
    return replace(first, value=value, low=max(-2.0, value - half), high=min(2.0, value + half))
