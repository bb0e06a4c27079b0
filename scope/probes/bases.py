"""Latents brought to one scale, their cosines, and their principal components.

A few dimensions of a language model have variances above those of all others together; unless all
are brought to one scale, those few decide every cosine and every principal component.

A basis is a linear autoencoder a layer in closed form: principal components, partly whitened.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from scope.models.torch_setup import load_torch
from scope.probes.checks import Latents

_STILL = 1e-6
"""A dimension of a smaller deviation says nothing; it is left at its own scale."""


class Scales(NamedTuple):
    """Mean and standard deviation of each dimension, both of shape (layers, width)."""

    centre: NDArray[np.float32]
    deviation: NDArray[np.float32]


def fit_scales(parts: Sequence[Latents]) -> Scales:
    """Find each dimension's mean and deviation.

    Parameters
    ----------
    parts
        Latents of sentences, in one array or several: all of their rows count alike.

    Examples
    --------
    >>> points = np.array([[[1.0, 3.0]], [[-1.0, 3.0]]], dtype=np.float32)
    >>> scales = fit_scales([points])
    >>> scales.centre.tolist(), scales.deviation.tolist()
    ([[0.0, 3.0]], [[1.0, 1.0]])
    """
    found = [moments(rows_of(parts, layer)) for layer in range(parts[0].shape[1])]
    centres, deviations = (np.stack(one).astype(np.float32) for one in zip(*found, strict=True))
    return Scales(centres, deviations)


def rows_of(parts: Sequence[Latents], layer: int) -> NDArray[np.float64]:
    """One layer's latents in double precision, those of all parts under each other."""
    return np.concatenate([np.asarray(part[:, layer], dtype=np.float64) for part in parts])


def moments(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each dimension's mean, and its deviation, or 1 of one that hardly changes."""
    deviation = rows.std(axis=0)
    deviation[deviation < _STILL] = 1.0
    return rows.mean(axis=0), deviation


Distances = NDArray[np.float64]
"""Shape (pairs, layers): 1 - cosine, from 0 to 2; exactly 0 for equal latents."""

_TINY = 1e-30


def cosine_distances(first: Latents, second: Latents, scales: Scales | None = None) -> Distances:
    """Half the squared distance of each layer's vectors at length 1, which is 1 - cosine.

    Parameters
    ----------
    first, second
        Shape (pairs, layers, width).
    scales
        By which each dimension is standardised first; None: the latents as they are.

    Examples
    --------
    Orthogonal, equal and opposite:

    >>> first = np.array([[[1.0, 0.0]], [[0.0, 2.0]], [[3.0, 0.0]]], dtype=np.float32)
    >>> second = np.array([[[0.0, 5.0]], [[0.0, 2.0]], [[-1.0, 0.0]]], dtype=np.float32)
    >>> cosine_distances(first, second).tolist()
    [[1.0], [0.0], [2.0]]
    """
    layers = first.shape[1]
    found = np.empty((len(first), layers))
    for layer in range(layers):
        ends = [side[:, layer].astype(np.float64) for side in (first, second)]
        if scales is not None:
            ends = [(end - scales.centre[layer]) / scales.deviation[layer] for end in ends]
        found[:, layer] = 0.5 * np.square(_unit(ends[0]) - _unit(ends[1])).sum(axis=1)
    return found


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float64] = vectors / np.maximum(sizes, _TINY)
    return unit


POWER = 0.4
"""Of each component's variance; 0 leaves the components as they are, 0.5 whitens them fully."""

FLOOR = 0.02
"""Added to each variance first, so that directions of hardly any are not blown up."""

"""A layer of a smaller deviation is the same for all sentences; it is not blown up."""


class Basis(NamedTuple):
    """How each layer's latents become inputs of its encoder: ``(latent - centre) @ projection``.

    ``centre`` has the shape (layers, width), ``projection`` (layers, width, components); the
    leading component comes first.
    """

    centre: NDArray[np.float32]
    projection: NDArray[np.float32]


def fit_basis(parts: Sequence[Latents], components: int, *, whitened: bool) -> Basis:
    """Find each layer's mean, deviations, and leading directions.

    Each dimension is standardised first. A linear autoencoder with squared loss ends in the same
    directions, so nothing is trained. Whitened, each component is divided by
    ``(variance + FLOOR) ** POWER``; otherwise a layer's components are divided by one number, so
    that their mean square is 1.

    Parameters
    ----------
    parts
        Latents of sentences, in one array or several: all of their rows count alike.
    components
        How many directions to keep; no more than dimensions.
    whitened
        Whether small components are enlarged.

    Examples
    --------
    Along the first axis the points differ, along the second they do not:

    >>> points = np.array([[[1.0, 3.0]], [[-1.0, 3.0]]], dtype=np.float32)
    >>> basis = fit_basis([points], 1, whitened=False)
    >>> basis.centre.tolist(), basis.projection.tolist()
    ([[0.0, 3.0]], [[[1.0], [0.0]]])
    """
    layers = parts[0].shape[1]
    found = [_of_layer(rows_of(parts, layer), components, whitened) for layer in range(layers)]
    centres, projections = zip(*found, strict=True)
    return Basis(np.stack(centres), np.stack(projections))


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


def _of_layer(
    rows: NDArray[np.float64], components: int, whitened: bool
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    centre, deviation = moments(rows)
    standard = (rows - centre) / deviation
    width = rows.shape[1]
    # The greatest alone, which come last.
    values, vectors = eigh(
        standard.T @ standard / len(rows), subset_by_index=(width - components, width - 1)
    )
    variances = np.maximum(values[::-1], 0.0)
    directions = _upright(vectors[:, ::-1])
    if whitened:
        scale = (variances + FLOOR) ** -POWER
    else:
        spread = np.sqrt(variances.mean())
        scale = np.full(len(variances), 1.0 / spread if spread > _STILL else 1.0)
    projection = directions / deviation[:, None] * scale
    return centre.astype(np.float32), projection.astype(np.float32)


def _upright(directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """The directions with their greatest number above 0: a solver may return either sign."""
    greatest = np.abs(directions).argmax(axis=0)
    signs = np.sign(directions[greatest, np.arange(directions.shape[1])])
    upright: NDArray[np.float64] = directions * signs
    return upright
