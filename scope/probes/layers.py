"""Layer by layer: correlation with human scores, and the map of two models' layers.

`layer_curve` gives each layer's correlation with human scores, `leave_one_layer_out` the decrease
without it. `linear_cka` shows how alike two models arrange the same sentences, every layer with
every other; `align_layers` adds how sure the map is and what chance would give.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

from scope.errors import DataError, SpecError
from scope.probes.bases import cosine_distances
from scope.probes.checks import (
    Latents,
    checked_groups,
    checked_latents,
    checked_pairs,
    checked_scores,
    one_thread,
)
from scope.probes.correlations import pearson_difference, pearson_estimate
from scope.probes.probe import SimilarityProbe
from scope.records.estimates import Estimate, Undefined


class LayerPoint(NamedTuple):
    """The correlation of one layer's cosines with human scores, by `pearson_estimate`."""

    layer: int
    pearson: Estimate | Undefined


class LayerLoss(NamedTuple):
    """The decrease of a probe's Pearson correlation without one layer."""

    layer: int
    lost: Estimate | Undefined


def layer_curve(
    first: NDArray[Any],
    second: NDArray[Any],
    scores: ArrayLike,
    *,
    low: float = 0.0,
    high: float = 5.0,
    probe: SimilarityProbe | None = None,
    groups: NDArray[np.int64] | None = None,
) -> tuple[LayerPoint, ...]:
    """Correlate each layer's cosines with human scores.

    Parameters
    ----------
    first, second
        Latents, shape (pairs, layers, width).
    scores
        Shape (pairs,), from ``low`` to ``high``.
    probe
        Take the cosines of its encodings; None: of the latents as they are.
    groups
        Shape (pairs,): one number for all pairs that share sentences; None: each by itself.

    Raises
    ------
    DataError
        When the pairs, their scores or groups are not as they must be.

    Examples
    --------
    >>> first = np.array([[[1.0, 0.0]]] * 4)
    >>> second = np.array([[[1.0, 0.0]], [[1.0, 1.0]], [[0.0, 1.0]], [[-1.0, 0.1]]])
    >>> print(layer_curve(first, second, [5, 4, 2, 0])[0].pearson)
    0.994 [0.644, 1.000]
    """
    pair = checked_pairs(first, second)
    wanted = checked_scores(scores, len(pair[0]), low, high)
    if probe is None:
        with one_thread():
            distances = cosine_distances(*pair)
    else:
        distances = probe.layer_distances(*pair)
    return tuple(
        LayerPoint(layer, pearson_estimate(-column, wanted, groups))
        for layer, column in enumerate(distances.T)
    )


def leave_one_layer_out(
    probe: SimilarityProbe,
    first: NDArray[Any],
    second: NDArray[Any],
    scores: ArrayLike,
    groups: NDArray[np.int64] | None = None,
) -> tuple[LayerLoss, ...]:
    """Remove each layer from a fitted probe in turn, without retraining.

    A layer that is lost little may still hold much that its neighbours hold as well. Neither the
    layer's distance counts nor its cosine in the head's gate, as if that were 0; the step ``raw``
    takes the next best layer. What is left is brought to the scale of the whole over these pairs
    (`SimilarityProbe.scores_from`). Intervals are as `pearson_difference` has them.

    Parameters
    ----------
    first, second, scores, groups
        As `layer_curve` has them; the scores in the range of the probe.

    Raises
    ------
    DataError
        When the pairs, their scores or groups are not as they must be.
    SpecError
        When the model has one layer alone.
    """
    wanted = checked_scores(scores, len(first), probe.low, probe.high)
    distances = probe.layer_distances(first, second)
    layers = distances.shape[1]
    if layers == 1:
        raise SpecError(
            "a probe of one layer, to be measured without it",
            expected="a probe of two layers or more",
            fix="read the latents of all layers",
        )
    whole = probe.scores_from(distances)
    without = (probe.scores_from(distances, without=layer) for layer in range(layers))
    return tuple(
        LayerLoss(layer, pearson_difference(whole, rest, wanted, groups))
        for layer, rest in enumerate(without)
    )


_STILL = 1e-6


def linear_cka(
    first: NDArray[Any], second: NDArray[Any], *, standardised: bool = True
) -> NDArray[np.float64]:
    """Centred kernel alignment of layers (Kornblith et al., 2019), from 0 to 1; 1 is the same.

    What counts is which sentences lie near which: turning, shifting or scaling a layer changes
    nothing. Standardised, each dimension is first given the variance 1, without which a few
    dimensions of a language model, with variances above those of all others together, decide
    alone; the number then no longer holds under rotation.

    Each layer is one matrix of the sentences' products, in double precision: 8 bytes times the
    layers times the square of the sentences. Some hundred sentences are enough.

    Parameters
    ----------
    first, second
        Latents of the same sentences, in the same order, by two models or one. Layers and widths
        may differ.
    standardised
        Whether dimensions are given the same variance.

    Returns
    -------
    NDArray
        Shape (layers of the first, layers of the second).

    Raises
    ------
    DataError
        When the numbers of sentences differ, or a layer has the same latent for all.

    Examples
    --------
    Two corners of a line, and of a square:

    >>> line = np.array([[[0.0]], [[0.0]], [[1.0]], [[1.0]]])
    >>> square = np.array([[[0.0, 0.0]], [[0.0, 1.0]], [[1.0, 0.0]], [[1.0, 1.0]]])
    >>> linear_cka(line, square).round(4).tolist(), linear_cka(line, 3 - line).tolist()
    ([[0.7071]], [[1.0]])
    """
    with one_thread():
        return map_of(*unit_products(first, second, standardised=standardised))


def unit_products(
    first: NDArray[Any], second: NDArray[Any], *, standardised: bool = True
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of each side the sentences' products, as `linear_cka` has them, each layer's of length 1.

    Returns
    -------
    tuple of NDArray
        Each of shape (layers, sentences ** 2).

    Raises
    ------
    DataError
        As for `linear_cka`.
    """
    pair = checked_latents(first, "the first latents"), checked_latents(second, "the second ones")
    if len(pair[0]) != len(pair[1]):
        raise DataError(
            f"latents of {len(pair[0])} sentences beside latents of {len(pair[1])}",
            expected="latents of the same sentences, in the same order",
            fix="read the same texts with both models",
        )
    return _of_side(pair[0], standardised), _of_side(pair[1], standardised)


def map_of(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """The map that two sides' products make, shape (layers of the first, of the second)."""
    return np.clip(first @ second.T, 0.0, 1.0)


def _of_side(latents: Latents, standardised: bool) -> NDArray[np.float64]:
    """Each layer's matrix of products as a row of length 1, shape (layers, sentences ** 2)."""
    count, layers, _ = latents.shape
    found = np.empty((layers, count * count))
    for layer in range(layers):
        rows = np.asarray(latents[:, layer], dtype=np.float64)
        rows = rows - rows.mean(axis=0)
        deviation = rows.std(axis=0)
        varied = deviation > _STILL
        if not varied.any():
            raise DataError(
                f"the same latent for all {count} sentences in layer {layer}",
                expected="a layer that tells sentences apart",
                fix="read another place in the text, or other sentences",
            )
        rows = rows[:, varied] / (deviation[varied] if standardised else 1.0)
        products = (rows @ rows.T).ravel()
        found[layer] = products / np.linalg.norm(products)
    return found


_PARTS = 10
_LEVEL = 0.95
_SHUFFLES = 99
"""Of so many and the map itself 95 % is a whole number."""


class AlignedLayers(NamedTuple):
    """A map of shape (layers of the first, layers of the second), from 0 to 1.

    ``margins``, of the same shape, are the half widths of the 95 % intervals. ``chance`` is what
    the greatest value of the map stays below in 95 of 100 maps with the sentences of one model
    shuffled.
    """

    values: NDArray[np.float64]
    margins: NDArray[np.float64]
    chance: float


def align_layers(
    first: NDArray[Any],
    second: NDArray[Any],
    *,
    seed: int,
    groups: NDArray[np.int64] | None = None,
) -> AlignedLayers:
    """Hold every layer of one model beside every layer of the other, by standardised linear CKA.

    The margins are those of a jackknife that leaves a tenth of the sentences out in turn, with
    Student's t of 9 degrees. Few sentences in many dimensions look alike by chance, which the
    margins do not show: a value says something as far as it lies above ``chance``.

    Parameters
    ----------
    first, second
        Latents of the same sentences, in the same order, by two models.
    seed
        Of the tenths, and of the shuffled orders.
    groups
        Shape (sentences,): one number for all sentences that hang together, such as those of one
        pair; they are left out together. None: each by itself.

    Raises
    ------
    DataError
        When there are fewer than 10 sentences or groups, or as for `linear_cka`.

    Examples
    --------
    >>> latents = np.random.default_rng(0).normal(size=(20, 2, 3))
    >>> found = align_layers(latents, latents[:, :1], seed=0)
    >>> found.values.round(2).tolist(), found.margins.round(2).tolist()
    ([[1.0], [0.13]], [[0.0], [0.16]])
    """
    with one_thread():
        products = unit_products(first, second)
        generator = np.random.default_rng(seed)
        parts = _tenths(len(first), groups, generator)
        without = [linear_cka(first[parts != one], second[parts != one]) for one in range(_PARTS)]
        chance = _chance(*products, len(first), generator)
        values = map_of(*products)
    spread = np.var(without, axis=0) * (_PARTS - 1)
    quantile = float(student.ppf((1 + _LEVEL) / 2, _PARTS - 1))
    return AlignedLayers(values, quantile * np.sqrt(spread), chance)


def _tenths(
    count: int, groups: NDArray[np.int64] | None, generator: np.random.Generator
) -> NDArray[np.intp]:
    """The tenth of each sentence: groups one after the other, the greatest first, where most lacks.

    Groups of one size come in an order by chance.
    """
    numbers = np.arange(count) if groups is None else checked_groups(groups, count, "sentence")
    sizes = np.bincount(numbers)
    if len(sizes) < _PARTS:
        raise DataError(
            f"{count} sentences" if groups is None else f"{len(sizes)} groups of sentences",
            expected=f"at least {_PARTS}, so that a tenth of them can be left out",
            fix="read more sentences with both models",
        )
    order = generator.permutation(len(sizes))
    filled = np.zeros(_PARTS, dtype=np.intp)
    tenth = np.empty(len(sizes), dtype=np.intp)
    for group in order[np.argsort(-sizes[order], kind="stable")]:
        tenth[group] = filled.argmin()
        filled[tenth[group]] += sizes[group]
    return tenth[numbers]


def _chance(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    count: int,
    generator: np.random.Generator,
) -> float:
    greatest = [moved.max() for moved in _shuffled_maps(first, second, count, generator)]
    # Weibull's: the 95th of 99.
    return float(np.quantile(greatest, _LEVEL, method="weibull"))


def _shuffled_maps(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    count: int,
    generator: np.random.Generator,
) -> Iterator[NDArray[np.float32]]:
    """The maps with the sentences of the second model in another order.

    Products of sentences in another order are the same products elsewhere, and each stands there
    twice; single precision is enough for a bound that is itself drawn.
    """
    rows, columns = np.triu_indices(count)
    times = np.where(rows == columns, 1.0, 2.0)
    still = (first[:, rows * count + columns] * times).astype(np.float32)
    # Sentences first: what is taken together lies together.
    moving = np.ascontiguousarray(second.T, dtype=np.float32)
    for _ in range(_SHUFFLES):
        order = generator.permutation(count)
        yield still @ moving[order[rows] * count + order[columns]]
