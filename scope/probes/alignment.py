"""How alike two models arrange the same sentences: linear CKA of every layer with every other.

`align_layers` adds how sure the map is and what chance would give.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from scope.errors import DataError
from scope.probes.checks import Latents, checked_groups, checked_latents, one_thread

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
