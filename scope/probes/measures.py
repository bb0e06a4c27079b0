"""What a fitted probe measures pairs with: one layer, all layers' cosines, or a siamese network.

All layers' cosines are the second step: one layer of numbers on them, and a sigmoid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from scope.models.torch_setup import load_torch
from scope.probes.bases import Basis, Distances, Scales, cosine_distances
from scope.probes.checks import Latents
from scope.probes.network import HEAD, Parameters, dissimilarity, encode, head_size, layer_distances

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


_AT_ONCE = 256
"""So many pairs are encoded together, always: the kernel of a product follows its size."""


class RawLayer(NamedTuple):
    """The cosine of one layer's latents as they are; all layers' correlations tell which."""

    correlations: NDArray[np.float64]

    @property
    def trained(self) -> int:
        """0: a layer is selected."""
        return 0

    @property
    def layer(self) -> int:
        """The layer of the highest correlation with development scores; the first of equals."""
        return int(np.argmax(self.correlations))

    def distances(self, first: Latents, second: Latents) -> Distances:
        """1 - cosine of each layer."""
        return cosine_distances(first, second)

    def dissimilarity(
        self, distances: Distances, without: int | None = None
    ) -> NDArray[np.float64]:
        """The best layer's distance; without that layer the next best's."""
        if without is None:
            return distances[:, self.layer]
        others = self.correlations.copy()
        others[without] = -np.inf
        return distances[:, int(np.argmax(others))]


class AllCosines(NamedTuple):
    """The cosines of all layers' latents, standardised, and weighed by one layer of numbers.

    The paper's layer has the cosines of the latents as they are. Where a few dimensions decide
    them, no weighing of layers makes up for it: with SmolLM2-135M it came to .785 on development
    pairs, beside .761 of the best layer alone, and to .830 with standardised dimensions.
    """

    scales: Scales
    weighed: CosineLayer

    @property
    def trained(self) -> int:
        """A weight a layer, and an offset."""
        return len(self.weighed.weights) + 1

    def distances(self, first: Latents, second: Latents) -> Distances:
        """1 - cosine of each layer."""
        return cosine_distances(first, second, self.scales)

    def dissimilarity(
        self, distances: Distances, without: int | None = None
    ) -> NDArray[np.float64]:
        """As `scope.probes.measures.CosineLayer` has it."""
        return self.weighed.dissimilarity(distances, without)


class SiameseNetwork(NamedTuple):
    """Encoders that take latents as they are, and a head; arrays named as `Parameters` has them.

    ``centre``, shape (layers, width), is taken from the latents first. ``trained`` counts what was
    trained, before a basis and the encoders became one matrix.
    """

    centre: NDArray[np.float32]
    arrays: dict[str, NDArray[np.float32]]
    nonlinear: bool
    trained: int

    @classmethod
    def folded(cls, basis: Basis, parameters: Parameters, *, nonlinear: bool) -> SiameseNetwork:
        """The network with a basis and the encoders after it multiplied into one matrix a layer."""
        arrays = {name: np.array(tensor.numpy()) for name, tensor in parameters.items()}
        exact = basis.projection.astype(np.float64) @ arrays["encoders"].astype(np.float64)
        arrays["encoders"] = exact.astype(np.float32)
        return cls(basis.centre, arrays, nonlinear, _count_trained(parameters, nonlinear=nonlinear))

    def distances(self, first: Latents, second: Latents) -> Distances:
        """Between each layer's encodings."""
        torch = load_torch()
        # In double precision, squares of the greatest latent that there can be are finite.
        parameters = self._tensors("encoders", "offsets")
        found = np.empty(first.shape[:2])
        with torch.inference_mode():
            for start in range(0, len(first), _AT_ONCE):
                rows = slice(start, start + _AT_ONCE)
                encoded = (self._encoded(side[rows], parameters) for side in (first, second))
                found[rows] = layer_distances(*encoded)[: len(first) - start].numpy()
        return found

    def dissimilarity(
        self, distances: Distances, without: int | None = None
    ) -> NDArray[np.float64]:
        """As the head has it; a layer that is left out has no weight and stirs no gate."""
        torch = load_torch()
        parameters = self._tensors(*HEAD)
        kept = None
        if without is not None:
            kept = torch.ones(distances.shape[1], dtype=torch.float64)
            kept[without] = 0
            parameters["hidden"][without] = 0
        with torch.inference_mode():
            found: NDArray[np.float64] = dissimilarity(
                torch.from_numpy(distances), parameters, kept
            ).numpy()
        return found

    def _encoded(self, latents: Latents, parameters: Parameters) -> Any:
        _, layers, width = latents.shape
        torch = load_torch()
        centred = torch.zeros(layers, _AT_ONCE, width, dtype=torch.float64)
        given = torch.from_numpy(latents - self.centre.astype(np.float64))
        centred[:, : len(latents)] = given.transpose(0, 1)
        return encode(centred, parameters, nonlinear=self.nonlinear)

    def _tensors(self, *names: str) -> Parameters:
        torch = load_torch()
        return {name: torch.from_numpy(self.arrays[name].astype(np.float64)) for name in names}


Measure = RawLayer | AllCosines | SiameseNetwork
"""Two stages: distances a layer, and how far apart a pair is by all of them together.

``trained`` counts numbers that were trained on scored pairs. ``distances`` are of shape (pairs,
layers), exactly 0 for equal latents and the same both ways round; a ``dissimilarity`` is from 0.
"""


def _count_trained(parameters: Parameters, *, nonlinear: bool) -> int:
    """An output that a layer does not have is 0 throughout, and not trained."""
    encoders = parameters["encoders"]
    outputs = int((encoders != 0).any(dim=1).sum())
    layers, hidden = parameters["hidden"].shape
    inputs: int = encoders.shape[1]
    return outputs * (inputs + nonlinear) + head_size(layers, hidden)
