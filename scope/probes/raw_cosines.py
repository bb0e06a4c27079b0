"""The first two steps: layers as they are, one of them or all weighed by one layer of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from scope.probes.checks import Latents

Distances = NDArray[np.float64]
"""Shape (pairs, layers): 1 - cosine, from 0 to 2; exactly 0 for equal latents."""

PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
"""On the squared weights; the development pairs choose among them."""

_TINY = 1e-30
_WIDEST = 20.0


def raw_distances(first: Latents, second: Latents) -> Distances:
    """Half the squared distance of each layer's vectors at length 1, which is 1 - cosine.

    Examples
    --------
    Orthogonal, equal and opposite:

    >>> first = np.array([[[1.0, 0.0]], [[0.0, 2.0]], [[3.0, 0.0]]], dtype=np.float32)
    >>> second = np.array([[[0.0, 5.0]], [[0.0, 2.0]], [[-1.0, 0.0]]], dtype=np.float32)
    >>> raw_distances(first, second).tolist()
    [[1.0], [0.0], [2.0]]
    """
    layers = first.shape[1]
    found = np.empty((len(first), layers))
    for layer in range(layers):
        apart = _unit(first[:, layer]) - _unit(second[:, layer])
        found[:, layer] = 0.5 * np.square(apart).sum(axis=1)
    return found


class CosineLayer(NamedTuple):
    """One layer of numbers on the cosines of all layers; all arrays of shape (layers,) or ().

    ``z = mean distance * exp(weights . standardised cosines + offset)``. The paper has a sigmoid
    of the weighted cosines, which scores equal sentences below the top; here z is 0 for them.
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    weights: NDArray[np.float64]
    offset: NDArray[np.float64]

    def strain(self, distances: Distances, without: int | None = None) -> NDArray[np.float64]:
        """How far apart each pair is, from 0; ``without`` leaves a layer out."""
        counted = np.ones(len(self.mean))
        if without is not None:
            counted[without] = 0.0
        standard = (1 - distances - self.mean) / self.deviation
        raised = (standard * self.weights * counted).sum(axis=1) + self.offset
        apart = (distances * counted).sum(axis=1) / counted.sum()
        strain: NDArray[np.float64] = apart * np.exp(np.clip(raised, -_WIDEST, _WIDEST))
        return strain


def fit_cosine_layer(
    distances: Distances,
    similarities: NDArray[np.float64],
    judge: Callable[[CosineLayer], float],
) -> CosineLayer:
    """Find the weights of the least squared error of ``exp(-z)``, from a start at 0.

    Nothing is drawn: the same pairs give the same weights.

    Parameters
    ----------
    distances
        Of the training pairs.
    similarities
        Shape (pairs,), from 0 to 1, as people say.
    judge
        How good a layer is on the development pairs; the best of the penalties is kept.
    """
    cosines = 1 - distances
    deviation = cosines.std(axis=0)
    deviation[deviation == 0] = 1.0
    found = [
        _fit(CosineLayer(cosines.mean(axis=0), deviation, *_start(distances)), *told)
        for told in ((distances, similarities, penalty) for penalty in PENALTIES)
    ]
    # The first of equals has the smallest penalty.
    return max(found, key=judge)


def _start(distances: Distances) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """No weight, and an offset by which the mean distance counts as 1."""
    return np.zeros(distances.shape[1]), np.asarray(-np.log(max(distances.mean(), _TINY)))


def _fit(
    start: CosineLayer, distances: Distances, similarities: NDArray[np.float64], penalty: float
) -> CosineLayer:
    standard = (1 - distances - start.mean) / start.deviation

    def error(numbers: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = numbers[:-1]
        strain = start._replace(weights=weights, offset=numbers[-1]).strain(distances)
        given = np.exp(-strain)
        errors = given - similarities
        # Of exp(-z) by the logarithm of z.
        slopes = -2 * errors * given * strain / len(errors)
        gradient = np.append(standard.T @ slopes + 2 * penalty * weights, slopes.sum())
        return float(np.square(errors).mean() + penalty * np.square(weights).sum()), gradient

    numbers = minimize(error, np.append(start.weights, start.offset), jac=True, method="L-BFGS-B").x
    return start._replace(weights=numbers[:-1], offset=np.asarray(numbers[-1]))


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    exact = vectors.astype(np.float64)
    unit: NDArray[np.float64] = exact / np.maximum(
        np.linalg.norm(exact, axis=1, keepdims=True), _TINY
    )
    return unit
