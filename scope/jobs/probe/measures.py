"""How each step measures a pair: one layer, all layers' cosines, or a siamese network.

A measure has two stages: distances per layer, of shape (pairs, layers), symmetric and exactly 0 for
equal latents; and one dissimilarity per pair, from 0. ``trained`` is the number of parameters
trained on scored pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from scope.jobs.probe.latents import (
    Basis,
    Distances,
    Latents,
    Scales,
    Scores,
    cosine_distances,
    fit_basis,
    fit_scales,
    pearson,
    project,
    raw_basis,
)
from scope.jobs.probe.network import (
    HEAD,
    SPAN,
    Parameters,
    Recipe,
    dissimilarity,
    encode,
    layer_distances,
    starting_head,
    train,
    train_autoencoders,
)
from scope.models.torch_setup import load_torch


class ScoredPairs(NamedTuple):
    """Latents of both sentences of each pair, and human similarities from 0 to 1."""

    first: Latents
    second: Latents
    similarities: Scores


def _quality(dissimilarities: NDArray[np.float64], similarities: Scores) -> float:
    """Pearson's correlation with human similarities; the minimum if all pairs are alike."""
    correlation = pearson(np.exp(-dissimilarities), similarities)
    return -math.inf if math.isnan(correlation) else correlation


class RawLayer(NamedTuple):
    """The cosine of one layer's raw latents.

    ``correlations`` are those of all layers with the development scores.
    """

    correlations: NDArray[np.float64]

    @classmethod
    def fit(cls, development: ScoredPairs) -> RawLayer:
        """Correlate each layer; a layer with constant cosines has -1, the minimum."""
        distances = cosine_distances(development.first, development.second)
        correlations = [pearson(-column, development.similarities) for column in distances.T]
        return cls(np.nan_to_num(np.array(correlations), nan=-1.0))

    @property
    def trained(self) -> int:
        """0: a layer is selected."""
        return 0

    @property
    def layer(self) -> int:
        """The layer with the highest correlation; the first of equals."""
        return int(np.argmax(self.correlations))

    def distances(self, first: Latents, second: Latents) -> Distances:
        """1 - cosine of each layer."""
        return cosine_distances(first, second)

    def dissimilarity(
        self, distances: Distances, without: int | None = None
    ) -> NDArray[np.float64]:
        """The best layer's distance; without that layer the next best's."""
        correlations = self.correlations.copy()
        if without is not None:
            correlations[without] = -np.inf
        return distances[:, int(np.argmax(correlations))]


PENALTIES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
"""Penalties on the squared weights; the development pairs select one."""

NEAR = 0.03
"""Share of the mean distance below which a pair is increasingly treated as equal."""

_TINY = 1e-30


class AllCosines(NamedTuple):
    """The standardised cosines of all layers, weighted and summed; a sigmoid on the sum.

    ``z = -log(sigmoid(weights . cosines + offset)) * (1 - exp(-mean distance / near))``. The first
    factor is the paper's, which scores equal sentences below the top. The second is 0 for them, and
    within a few per cent of 1 for all other pairs.

    The paper takes the cosines of raw latents. If a few dimensions decide them, no weighting of
    layers compensates: with SmolLM2-135M it reached .785 on development pairs, compared with .761
    of the best layer alone, and .830 with standardised dimensions.

    The first two arrays have the shape (layers, width), the last two (), the others (layers,).
    """

    latent_mean: NDArray[np.float32]
    latent_deviation: NDArray[np.float32]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    weights: NDArray[np.float64]
    offset: NDArray[np.float64]
    near: NDArray[np.float64]

    @classmethod
    def fit(cls, pairs: ScoredPairs, development: ScoredPairs) -> AllCosines:
        """The maximum-likelihood weights for the human scores, under the best penalty.

        The loss is convex and the fit deterministic: the same pairs give the same weights.
        """
        scales = fit_scales((pairs.first, pairs.second))
        distances = cosine_distances(pairs.first, pairs.second, scales)
        deviation = (1 - distances).std(axis=0)
        deviation[deviation == 0] = 1.0
        start = cls(
            *scales,
            mean=(1 - distances).mean(axis=0),
            deviation=deviation,
            weights=np.zeros(distances.shape[1]),
            offset=np.zeros(()),
            near=np.asarray(max(NEAR * distances.mean(), _TINY)),
        )
        fitted = [start._weighted(distances, pairs.similarities, penalty) for penalty in PENALTIES]
        tried = cosine_distances(development.first, development.second, scales)
        # The first of equals has the smallest penalty.
        return max(
            fitted, key=lambda fit: _quality(fit.dissimilarity(tried), development.similarities)
        )

    def _weighted(self, distances: Distances, similarities: Scores, penalty: float) -> AllCosines:
        standard = self._standard(distances)

        def loss(numbers: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            weights = numbers[:-1]
            raised = standard @ weights + numbers[-1]
            costs = np.logaddexp(0, raised) - similarities * raised
            slopes = (expit(raised) - similarities) / len(raised)
            gradient = np.append(standard.T @ slopes + 2 * penalty * weights, slopes.sum())
            return float(costs.mean() + penalty * np.square(weights).sum()), gradient

        start = np.append(self.weights, self.offset)
        numbers = minimize(loss, start, jac=True, method="L-BFGS-B").x
        return self._replace(weights=numbers[:-1], offset=np.asarray(numbers[-1]))

    def _standard(self, distances: Distances) -> NDArray[np.float64]:
        """The cosines, standardised by their mean and deviation on the training pairs."""
        standard: NDArray[np.float64] = (1 - distances - self.mean) / self.deviation
        return standard

    @property
    def trained(self) -> int:
        """A weight a layer, and an offset."""
        return len(self.weights) + 1

    def distances(self, first: Latents, second: Latents) -> Distances:
        """1 - cosine of each layer's standardised latents."""
        return cosine_distances(first, second, Scales(self.latent_mean, self.latent_deviation))

    def dissimilarity(
        self, distances: Distances, without: int | None = None
    ) -> NDArray[np.float64]:
        """z of each pair; ``without`` removes a layer."""
        counted = np.ones(len(self.mean))
        if without is not None:
            counted[without] = 0.0
        # Row by row: the order of sums in a matrix product depends on its size.
        raised = (self._standard(distances) * self.weights * counted).sum(axis=1) + self.offset
        apart = (distances * counted).sum(axis=1) / counted.sum()
        dissimilarities: NDArray[np.float64] = -np.logaddexp(0, -raised) * np.expm1(
            -apart / self.near
        )
        return dissimilarities


class Pretrained(NamedTuple):
    """What is learned of each layer without scores; encoders only with autoencoders.

    The encoders include the decoders trained with them.
    """

    basis: Basis
    encoders: Parameters | None = None

    @classmethod
    def fit(
        cls, parts: Sequence[Latents], recipe: Recipe, *, components: int, seed: int
    ) -> Pretrained:
        """The basis of each layer, and its autoencoder if the recipe is nonlinear."""
        layers, width = parts[0].shape[1:]
        basis = raw_basis(layers, width)
        if recipe.hidden:
            basis = fit_basis(parts, min(components, width), whitened=recipe.whitened)
        if not recipe.nonlinear:
            return cls(basis)
        inputs = project(basis, parts)
        return cls(basis, train_autoencoders(inputs, min(recipe.outputs, inputs.shape[2]), seed))

    def of_layers(self, kept: NDArray[np.int64]) -> Pretrained:
        """The same for some of the layers, which are learned independently."""
        encoders = self.encoders and {name: each[kept] for name, each in self.encoders.items()}
        return Pretrained(Basis(*(each[kept] for each in self.basis)), encoders)

    def reconstruction_errors(self, latents: Latents) -> NDArray[np.float64]:
        """The squared error of each sentence in each layer, as a share of the layer's variance.

        The variance of the inputs is that over these sentences. The shape is (sentences, layers).
        """
        torch, inputs, trained = load_torch(), project(self.basis, (latents,)), self.encoders or {}
        with torch.inference_mode():
            hidden = torch.tanh(torch.bmm(inputs, trained["encoders"]) + trained["offsets"])
            errors = (torch.bmm(hidden, trained["decoders"]) - inputs).square().mean(2)
            variances = inputs.var(1, correction=0).mean(1, keepdim=True)
        return np.asarray((errors / variances.clamp_min(_TINY)).T.numpy(), dtype=np.float64)


_AT_ONCE = 256
"""Fixed number of pairs encoded together: the kernel of a product depends on its size."""


class SiameseNetwork(NamedTuple):
    """Encoders of raw latents, and a head; arrays named as in `Parameters`.

    ``centre``, shape (layers, width), is subtracted from the latents first. ``trained`` counts the
    numbers before a basis and the encoders became one matrix.
    """

    centre: NDArray[np.float32]
    arrays: dict[str, NDArray[np.float32]]
    nonlinear: bool
    trained: int

    @classmethod
    def fit(
        cls,
        pairs: ScoredPairs,
        development: ScoredPairs,
        pretrained: Pretrained,
        recipe: Recipe,
        *,
        seed: int,
    ) -> SiameseNetwork:
        """Train the pretrained encoders and a new head together."""
        torch = load_torch()
        generator = torch.Generator().manual_seed(seed)
        basis = pretrained.basis
        layers, _, components = basis.projection.shape
        encoders = pretrained.encoders or _first_encoders(layers, components, recipe, generator)
        start = {name: encoders[name] for name in ("encoders", "offsets")}
        start |= starting_head(layers, recipe.hidden, generator)
        tried = [project(basis, (side,)) for side in (development.first, development.second)]

        def judge(parameters: Parameters) -> float:
            with torch.inference_mode():
                encoded = (encode(side, parameters, nonlinear=recipe.nonlinear) for side in tried)
                dissimilarities = dissimilarity(layer_distances(*encoded), parameters)
            return _quality(dissimilarities.double().numpy(), development.similarities)

        sides = project(basis, (pairs.first,)), project(basis, (pairs.second,))
        scores = torch.from_numpy(pairs.similarities * SPAN).float()
        trained = train(start, sides, scores, recipe, judge, generator)
        return cls.folded(basis, trained, nonlinear=recipe.nonlinear)

    @classmethod
    def folded(cls, basis: Basis, parameters: Parameters, *, nonlinear: bool) -> SiameseNetwork:
        """The network with a basis and the encoders after it multiplied into one matrix a layer."""
        arrays = {name: np.array(tensor.numpy()) for name, tensor in parameters.items()}
        # An output missing in a layer is always 0, and not trained.
        outputs = int((arrays["encoders"] != 0).any(axis=1).sum())
        inputs = arrays["encoders"].shape[1]
        head = sum(arrays[name].size for name in HEAD if name in arrays)
        trained = outputs * (inputs + nonlinear) + head
        exact = basis.projection.astype(np.float64) @ arrays["encoders"].astype(np.float64)
        arrays["encoders"] = exact.astype(np.float32)
        return cls(basis.centre, arrays, nonlinear, trained)

    def distances(self, first: Latents, second: Latents) -> Distances:
        """1 - cosine of each layer's encodings."""
        torch = load_torch()
        # In double precision, squares of the greatest possible latent are finite.
        parameters = self._tensors("encoders", "offsets")
        distances = np.empty(first.shape[:2])
        with torch.inference_mode():
            for start in range(0, len(first), _AT_ONCE):
                rows = slice(start, start + _AT_ONCE)
                encoded = (self._encoded(side[rows], parameters) for side in (first, second))
                distances[rows] = layer_distances(*encoded)[: len(first) - start].numpy()
        return distances

    def _encoded(self, latents: Latents, parameters: Parameters) -> Any:
        torch = load_torch()
        _, layers, width = latents.shape
        padded = torch.zeros(layers, _AT_ONCE, width, dtype=torch.float64)
        centred = torch.from_numpy(latents - self.centre.astype(np.float64))
        padded[:, : len(latents)] = centred.transpose(0, 1)
        return encode(padded, parameters, nonlinear=self.nonlinear)

    def dissimilarity(
        self, distances: Distances, without: int | None = None
    ) -> NDArray[np.float64]:
        """z of each pair by the head; a removed layer has no weight and no input to the gate."""
        torch = load_torch()
        parameters, kept = self._tensors(*HEAD), None
        if without is not None:
            kept = torch.ones(distances.shape[1], dtype=torch.float64)
            kept[without] = 0
            if "hidden" in parameters:
                parameters["hidden"][without] = 0
        with torch.inference_mode():
            dissimilarities: NDArray[np.float64] = dissimilarity(
                torch.from_numpy(distances), parameters, kept
            ).numpy()
        return dissimilarities

    def _tensors(self, *names: str) -> Parameters:
        torch = load_torch()
        kept = {name: self.arrays[name] for name in names if name in self.arrays}
        return {name: torch.from_numpy(kept[name].astype(np.float64)) for name in kept}


def _first_encoders(layers: int, components: int, recipe: Recipe, generator: Any) -> Parameters:
    """The leading components if they are whitened; otherwise random weights."""
    torch = load_torch()
    outputs = min(recipe.outputs, components)
    if recipe.whitened:
        weights = torch.eye(components)[:, :outputs].repeat(layers, 1, 1)
    else:
        weights = torch.randn(layers, components, outputs, generator=generator) / components**0.5
    return {"encoders": weights, "offsets": torch.zeros(layers, 1, outputs)}


Measure = RawLayer | AllCosines | SiameseNetwork
