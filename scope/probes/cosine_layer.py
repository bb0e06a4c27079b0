"""The second step: one layer of numbers on the cosines of all layers, and a sigmoid."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from scope.probes.cosines import Distances

PENALTIES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
"""On the squared weights; the development pairs choose among them."""

NEAR = 0.03
"""Of the mean distance: below that, a pair counts as the nearer to equal the smaller it is."""

_TINY = 1e-30


class CosineLayer(NamedTuple):
    """Standardised cosines, weighed and summed; arrays of shape (layers,), or () from offset on.

    ``z = -log(sigmoid(weights . cosines + offset)) * (1 - exp(-mean distance / near))``. The
    first factor is the paper's, which scores equal sentences below the top. The second is 0 for
    them, and 1 but for a few per cent for all pairs that differ.
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    weights: NDArray[np.float64]
    offset: NDArray[np.float64]
    near: NDArray[np.float64]

    def dissimilarity(
        self, distances: Distances, without: int | None = None
    ) -> NDArray[np.float64]:
        """How far apart each pair is, from 0; ``without`` leaves a layer out."""
        counted = np.ones(len(self.mean))
        if without is not None:
            counted[without] = 0.0
        # Summed row by row: a product of matrices sums in an order that follows their size.
        raised = (self.standard(distances) * self.weights * counted).sum(axis=1) + self.offset
        apart = (distances * counted).sum(axis=1) / counted.sum()
        dissimilarity: NDArray[np.float64] = -np.logaddexp(0, -raised) * np.expm1(
            -apart / self.near
        )
        return dissimilarity

    def standard(self, distances: Distances) -> NDArray[np.float64]:
        """The cosines with the mean 0 and the deviation 1 that they had on the training pairs."""
        standard: NDArray[np.float64] = (1 - distances - self.mean) / self.deviation
        return standard


def fit_cosine_layer(
    distances: Distances,
    similarities: NDArray[np.float64],
    judge: Callable[[CosineLayer], float],
) -> CosineLayer:
    """Find the weights under which the sigmoid gives human scores the greatest likelihood.

    The loss is convex and nothing is drawn: the same pairs give the same weights.

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
    start = CosineLayer(
        mean=cosines.mean(axis=0),
        deviation=deviation,
        weights=np.zeros(distances.shape[1]),
        offset=np.zeros(()),
        near=np.asarray(max(NEAR * distances.mean(), _TINY)),
    )
    found = [_fit(start, distances, similarities, penalty) for penalty in PENALTIES]
    # The first of equals has the smallest penalty.
    return max(found, key=judge)


def _fit(
    start: CosineLayer, distances: Distances, similarities: NDArray[np.float64], penalty: float
) -> CosineLayer:
    standard = start.standard(distances)

    def loss(numbers: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = numbers[:-1]
        raised = standard @ weights + numbers[-1]
        costs = np.logaddexp(0, raised) - similarities * raised
        slopes = (expit(raised) - similarities) / len(raised)
        gradient = np.append(standard.T @ slopes + 2 * penalty * weights, slopes.sum())
        return float(costs.mean() + penalty * np.square(weights).sum()), gradient

    numbers = minimize(loss, np.append(start.weights, start.offset), jac=True, method="L-BFGS-B").x
    return start._replace(weights=numbers[:-1], offset=np.asarray(numbers[-1]))
