"""Layer by layer: correlation with human scores, and the similarity of two models' layers.

`layer_curve` gives each layer's correlation with human scores, `leave_one_layer_out` the decrease
without it. `linear_cka` measures how similarly two models arrange the same sentences, every layer
with every other; `align_layers` adds intervals and the level of chance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.errors import DataError
from scope.jobs.probe import latents
from scope.jobs.probe.estimator import SimilarityProbe
from scope.jobs.probe.latents import pearson_difference, pearson_estimate
from scope.records.estimates import Estimate, Undefined
from scope.statistics.intervals import LEVEL, jackknife_half


def layer_curve(
    first: NDArray[Any],
    second: NDArray[Any],
    scores: ArrayLike,
    *,
    low: float = 0.0,
    high: float = 5.0,
    probe: SimilarityProbe | None = None,
    groups: NDArray[np.int64] | None = None,
) -> tuple[Estimate | Undefined, ...]:
    """Pearson's correlation of each layer's cosines with human scores.

    Parameters
    ----------
    first, second
        Latents, shape (pairs, layers, width).
    scores
        Shape (pairs,), from ``low`` to ``high``.
    probe
        Use the cosines of its encodings; None: of the raw latents.
    groups
        Shape (pairs,): one number for all pairs that share sentences; None: each by itself.

    Raises
    ------
    DataError
        If the pairs, their scores or groups are invalid.

    Examples
    --------
    >>> first = np.array([[[1.0, 0.0]]] * 4)
    >>> second = np.array([[[1.0, 0.0]], [[1.0, 1.0]], [[0.0, 1.0]], [[-1.0, 0.1]]])
    >>> print(*layer_curve(first, second, [5, 4, 2, 0]))
    0.994 [0.644, 1.000]
    """
    pair = latents.checked_pairs(first, second)
    wanted = latents.checked_scores(scores, len(pair[0]), low, high)
    if probe is None:
        with latents.one_thread():
            distances = latents.cosine_distances(*pair)
    else:
        distances = probe.layer_distances(*pair)
    return tuple(pearson_estimate(-column, wanted, groups) for column in distances.T)


def leave_one_layer_out(
    probe: SimilarityProbe,
    first: NDArray[Any],
    second: NDArray[Any],
    scores: ArrayLike,
    groups: NDArray[np.int64] | None = None,
) -> tuple[Estimate | Undefined, ...]:
    """The decrease of a fitted probe's correlation without each layer, without retraining.

    A layer with a small decrease may still contain much that its neighbours contain as well. Its
    distance is left out, and its cosine in the head's gate is 0; the step ``raw`` takes the next
    best layer. The remaining dissimilarity is scaled to the mean with all layers
    (`SimilarityProbe.scores_from`). Intervals are those of `pearson_difference`.

    Parameters
    ----------
    first, second, scores, groups
        As in `layer_curve`; the scores in the range of the probe.

    Raises
    ------
    DataError
        If the pairs, their scores or groups are invalid.
    """
    wanted = latents.checked_scores(scores, len(first), probe.low, probe.high)
    distances = probe.layer_distances(first, second)
    layers = distances.shape[1]
    whole = probe.scores_from(distances)
    without = (probe.scores_from(distances, without=layer) for layer in range(layers))
    return tuple(pearson_difference(whole, rest, wanted, groups) for rest in without)


_STILL = 1e-6


def linear_cka(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.float64]:
    """Centred kernel alignment of layers (Kornblith et al., 2019), from 0 to 1; 1 is the same.

    It compares which sentences are close to which: shifting or scaling a layer changes nothing.
    Each dimension first gets the variance 1; otherwise a few dimensions of a language model, with
    variances above those of all others together, decide alone. So the number is not invariant to
    rotation.

    Each layer is one matrix of the sentences' products, in double precision: 8 bytes times the
    layers times the square of the sentences. Some hundred sentences are enough.

    Parameters
    ----------
    first, second
        Latents of the same sentences, in the same order, by two models or one. Layers and widths
        may differ.

    Returns
    -------
    NDArray
        Shape (layers of the first, layers of the second).

    Raises
    ------
    DataError
        If the numbers of sentences differ, or a layer has the same latent for all.

    Examples
    --------
    Two corners of a line, and of a square:

    >>> line = np.array([[[0.0]], [[0.0]], [[1.0]], [[1.0]]])
    >>> square = np.array([[[0.0, 0.0]], [[0.0, 1.0]], [[1.0, 0.0]], [[1.0, 1.0]]])
    >>> linear_cka(line, square).round(4).tolist(), linear_cka(line, 3 - line).tolist()
    ([[0.7071]], [[1.0]])
    """
    with latents.one_thread():
        ours, theirs = _unit_products(first, second)
        return np.clip(ours @ theirs.T, 0.0, 1.0)


def _unit_products(first: NDArray[Any], second: NDArray[Any]) -> list[NDArray[np.float64]]:
    """Each layer's matrix of products as a row of length 1, shape (layers, sentences ** 2)."""
    pair = (
        latents.checked_latents(first, "the first latents"),
        latents.checked_latents(second, "the second ones"),
    )
    count = len(pair[0])
    if len(pair[1]) != count:
        raise DataError(
            f"latents of {count} sentences beside latents of {len(pair[1])}",
            expected="latents of the same sentences, in the same order",
            fix="read the same texts with both models",
        )
    sides = []
    for side in pair:
        unit = np.empty((side.shape[1], count * count))
        for layer in range(len(unit)):
            rows = np.asarray(side[:, layer], dtype=np.float64)
            rows = rows - rows.mean(axis=0)
            deviation = rows.std(axis=0)
            varied = deviation > _STILL
            if not varied.any():
                raise DataError(
                    f"the same latent for all {count} sentences in layer {layer}",
                    expected="a layer that tells sentences apart",
                    fix="read another place in the text, or other sentences",
                )
            rows = rows[:, varied] / deviation[varied]
            products = (rows @ rows.T).ravel()
            unit[layer] = products / np.linalg.norm(products)
        sides.append(unit)
    return sides


_PARTS = 10
_SHUFFLES = 99
"""With the map itself there are 100, and 95 % of 100 is a whole number."""


class AlignedLayers(NamedTuple):
    """A map of shape (layers of the first, layers of the second), from 0 to 1.

    ``margins``, of the same shape, are the half widths of the 95 % intervals. ``chance`` bounds the
    maximum of a map in 95 of 100 maps with the sentences of one model shuffled.
    """

    values: NDArray[np.float64]
    margins: NDArray[np.float64]
    chance: float


def align_layers(
    first: NDArray[Any], second: NDArray[Any], *, seed: int, groups: NDArray[np.int64] | None = None
) -> AlignedLayers:
    """Standardised linear CKA of every layer of one model with every layer of the other.

    The margins are those of a jackknife that leaves a tenth of the sentences out in turn, with
    Student's t of 9 degrees. Few sentences in many dimensions look alike by chance, which the
    margins do not show: compare a value with ``chance``.

    Parameters
    ----------
    first, second
        Latents of the same sentences, in the same order, by two models.
    seed
        Seed of the tenths, and of the shuffled orders.
    groups
        Shape (sentences,): one number for all sentences that are left out together, such as those
        of one pair; None: each by itself.

    Raises
    ------
    DataError
        If there are fewer than 10 sentences or groups, or as for `linear_cka`.

    Examples
    --------
    >>> latents = np.random.default_rng(0).normal(size=(20, 2, 3))
    >>> aligned = align_layers(latents, latents[:, :1], seed=0)
    >>> aligned.values.round(2).tolist(), aligned.margins.round(2).tolist()
    ([[1.0], [0.13]], [[0.0], [0.16]])
    """
    with latents.one_thread():
        ours, theirs = _unit_products(first, second)
        generator = np.random.default_rng(seed)
        parts = _tenths(len(first), groups, generator)
        without = [
            linear_cka(first[parts != part], second[parts != part]) for part in range(_PARTS)
        ]
        chance = _chance(ours, theirs, len(first), generator)
        values = np.clip(ours @ theirs.T, 0.0, 1.0)
    return AlignedLayers(values, jackknife_half(without), chance)


def _tenths(
    count: int, groups: NDArray[np.int64] | None, generator: np.random.Generator
) -> NDArray[np.intp]:
    """The tenth of each sentence: each group, the largest first, joins the smallest tenth.

    Groups of equal size are in random order.
    """
    numbers = latents.checked_groups(groups, count, "sentence")
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
    """The 95th of the 99 maxima of maps with the sentences of the second model shuffled.

    Shuffling only permutes the products, each of which occurs twice; single precision is enough for
    a bound that is itself random.
    """
    rows, columns = np.triu_indices(count)
    times = np.where(rows == columns, 1.0, 2.0)
    still = (first[:, rows * count + columns] * times).astype(np.float32)
    # Sentences first, so that reads are contiguous in memory.
    moving = np.ascontiguousarray(second.T, dtype=np.float32)
    maxima = []
    for _ in range(_SHUFFLES):
        order = generator.permutation(count)
        maxima.append((still @ moving[order[rows] * count + order[columns]]).max())
    return float(np.quantile(maxima, LEVEL, method="weibull"))
