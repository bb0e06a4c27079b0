"""Each layer's cosine of two sentences, without any encoder between."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scope.probes.checks import Latents
from scope.probes.scales import Scales

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
