"""How alike two models arrange the same sentences: linear CKA of every layer with every other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError
from scope.probes.checks import Latents, checked_latents
from scope.probes.threads import one_thread

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
