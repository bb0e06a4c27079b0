"""What a fitted probe measures pairs with: one layer, all layers' cosines, or a siamese network."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from scope.models.torch_setup import load_torch
from scope.probes.bases import Basis
from scope.probes.checks import Latents
from scope.probes.network import HEAD, Parameters, encode, layer_distances, strain
from scope.probes.raw_cosines import CosineLayer, Distances, raw_distances

_AT_ONCE = 256
"""So many pairs are encoded together, always: the kernel of a product follows its size."""


class Measure(Protocol):
    """Two stages: distances a layer, and how far apart a pair is by all of them together."""

    def distances(self, first: Latents, second: Latents) -> Distances:
        """Of shape (pairs, layers); exactly 0 for equal latents, the same both ways round."""

    def strain(self, distances: Distances, without: int | None = None) -> NDArray[np.float64]:
        """Of shape (pairs,), from 0; ``without`` leaves a layer out."""


class RawLayer(NamedTuple):
    """The cosine of one layer's latents as they are; all layers' correlations tell which."""

    correlations: NDArray[np.float64]

    @property
    def layer(self) -> int:
        """The layer of the highest correlation with development scores; the first of equals."""
        return int(np.argmax(self.correlations))

    def distances(self, first: Latents, second: Latents) -> Distances:
        """1 - cosine of each layer."""
        return raw_distances(first, second)

    def strain(self, distances: Distances, without: int | None = None) -> NDArray[np.float64]:
        """The best layer's distance; without that layer the next best's."""
        if without is None:
            return distances[:, self.layer]
        others = self.correlations.copy()
        others[without] = -np.inf
        return distances[:, int(np.argmax(others))]


class AllCosines(NamedTuple):
    """The cosines of all layers' latents as they are, weighed by one layer of numbers."""

    weighed: CosineLayer

    def distances(self, first: Latents, second: Latents) -> Distances:
        """1 - cosine of each layer."""
        return raw_distances(first, second)

    def strain(self, distances: Distances, without: int | None = None) -> NDArray[np.float64]:
        """As `scope.probes.raw_cosines.CosineLayer` has it."""
        return self.weighed.strain(distances, without)


class SiameseNetwork(NamedTuple):
    """Encoders that take latents as they are, and a head; arrays named as `Parameters` has them.

    ``centre``, shape (layers, width), is taken from the latents first.
    """

    centre: NDArray[np.float32]
    arrays: dict[str, NDArray[np.float32]]
    nonlinear: bool

    @classmethod
    def folded(cls, basis: Basis, parameters: Parameters, *, nonlinear: bool) -> SiameseNetwork:
        """The network with a basis and the encoders after it multiplied into one matrix a layer."""
        arrays = {name: np.array(tensor.numpy()) for name, tensor in parameters.items()}
        exact = basis.projection.astype(np.float64) @ arrays["encoders"].astype(np.float64)
        arrays["encoders"] = exact.astype(np.float32)
        return cls(basis.centre, arrays, nonlinear)

    def distances(self, first: Latents, second: Latents) -> Distances:
        """Between each layer's encodings."""
        torch = load_torch()
        parameters = self._tensors("encoders", "offsets")
        found = np.empty(first.shape[:2])
        with torch.inference_mode():
            for start in range(0, len(first), _AT_ONCE):
                rows = slice(start, start + _AT_ONCE)
                encoded = (self._encoded(side[rows], parameters) for side in (first, second))
                found[rows] = layer_distances(*encoded)[: len(first) - start].numpy()
        return found

    def strain(self, distances: Distances, without: int | None = None) -> NDArray[np.float64]:
        """As the head has it; a layer that is left out has no weight and stirs no gate."""
        torch = load_torch()
        parameters = {name: tensor.double() for name, tensor in self._tensors(*HEAD).items()}
        kept = None
        if without is not None:
            kept = torch.ones(distances.shape[1], dtype=torch.float64)
            kept[without] = 0
            parameters["hidden"][without] = 0
        with torch.inference_mode():
            found: NDArray[np.float64] = strain(
                torch.from_numpy(distances), parameters, kept
            ).numpy()
        return found

    def _encoded(self, latents: Latents, parameters: Parameters) -> Any:
        _, layers, width = latents.shape
        centred = load_torch().zeros(layers, _AT_ONCE, width)
        centred[:, : len(latents)] = load_torch().from_numpy(latents - self.centre).transpose(0, 1)
        return encode(centred, parameters, nonlinear=self.nonlinear)

    def _tensors(self, *names: str) -> Parameters:
        torch = load_torch()
        return {name: torch.from_numpy(self.arrays[name]) for name in names}
