"""How each step comes to what it measures with."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.models.torch_setup import load_torch
from scope.probes.autoencoders import Encoders, train_autoencoders
from scope.probes.bases import Basis, fit_basis, project
from scope.probes.checks import Latents, Scores
from scope.probes.correlation_values import pearson
from scope.probes.cosine_layer import CosineLayer, fit_cosine_layer
from scope.probes.cosines import cosine_distances
from scope.probes.measures import AllCosines, RawLayer, SiameseNetwork
from scope.probes.network import Parameters, dissimilarity, encode, layer_distances, starting_head
from scope.probes.recipes import Recipe
from scope.probes.scales import fit_scales
from scope.probes.training import SPAN, Pairs, Schedule, train


class ScoredPairs(NamedTuple):
    """Latents of both sentences of each pair, and how alike people find them, from 0 to 1."""

    first: Latents
    second: Latents
    similarities: Scores


class PretrainedEncoders(NamedTuple):
    """What is learned of each layer before any score is seen; encoders of autoencoders alone."""

    basis: Basis
    encoders: Encoders | None = None


def fit_raw_layer(development: ScoredPairs) -> RawLayer:
    """Each layer's correlation with the scores of the development pairs.

    A layer in which all pairs have the same cosine counts as -1, the worst there is.
    """
    distances = cosine_distances(development.first, development.second)
    found = [pearson(-column, development.similarities) for column in distances.T]
    return RawLayer(np.nan_to_num(np.array(found), nan=-1.0))


def fit_all_cosines(pairs: ScoredPairs, development: ScoredPairs) -> AllCosines:
    """Scales and weights of all layers' cosines, from the pairs; the penalty, from the others."""
    scales = fit_scales((pairs.first, pairs.second))
    tried = cosine_distances(development.first, development.second, scales)

    def judge(layer: CosineLayer) -> float:
        return _judged(layer.dissimilarity(tried), development.similarities)

    distances = cosine_distances(pairs.first, pairs.second, scales)
    return AllCosines(scales, fit_cosine_layer(distances, pairs.similarities, judge))


def lay_pretrained(
    parts: Sequence[Latents], recipe: Recipe, *, components: int, seed: int
) -> PretrainedEncoders:
    """The basis of each layer, and its autoencoder where the recipe bends."""
    basis = fit_basis(parts, min(components, parts[0].shape[2]), whitened=recipe.whitened)
    if not recipe.nonlinear:
        return PretrainedEncoders(basis)
    inputs = project(basis, parts)
    return PretrainedEncoders(
        basis, train_autoencoders(inputs, min(recipe.outputs, inputs.shape[2]), seed)
    )


def fit_network(
    pairs: ScoredPairs,
    development: ScoredPairs,
    pretrained: PretrainedEncoders,
    recipe: Recipe,
    schedule: Schedule,
    *,
    seed: int,
) -> SiameseNetwork:
    """Encoders from where the pretrained leaves them, a new head, and both trained together."""
    torch = load_torch()
    generator = torch.Generator().manual_seed(seed)
    basis = pretrained.basis
    layers, _, components = basis.projection.shape
    encoders = pretrained.encoders or _first_encoders(layers, components, recipe, generator)
    start = {
        "encoders": encoders.weights,
        "offsets": encoders.offsets,
        **starting_head(layers, recipe.hidden, generator),
    }
    given = Pairs(
        project(basis, (pairs.first,)),
        project(basis, (pairs.second,)),
        torch.from_numpy(pairs.similarities * SPAN).float(),
    )
    judge = _judge_of(basis, development, recipe)
    trained = train(start, given, recipe, schedule, judge=judge, generator=generator)
    return SiameseNetwork.folded(basis, trained, nonlinear=recipe.nonlinear)


def _first_encoders(layers: int, components: int, recipe: Recipe, generator: Any) -> Encoders:
    """The leading components as they are where they are whitened; else drawn by chance."""
    torch = load_torch()
    outputs = min(recipe.outputs, components)
    if recipe.whitened:
        weights = torch.eye(components)[:, :outputs].repeat(layers, 1, 1)
    else:
        drawn = torch.randn(layers, components, outputs, generator=generator)
        weights = drawn / components**0.5
    return Encoders(weights, torch.zeros(layers, 1, outputs))


def _judge_of(
    basis: Basis, development: ScoredPairs, recipe: Recipe
) -> Callable[[Parameters], float]:
    torch = load_torch()
    sides = [project(basis, (side,)) for side in (development.first, development.second)]

    def judge(parameters: Parameters) -> float:
        with torch.inference_mode():
            encoded = (encode(side, parameters, nonlinear=recipe.nonlinear) for side in sides)
            dissimilarities = dissimilarity(layer_distances(*encoded), parameters).double().numpy()
        return _judged(dissimilarities, development.similarities)

    return judge


def _judged(dissimilarities: NDArray[np.float64], similarities: Scores) -> float:
    """Pearson's correlation of the similarities; the worst there is where they are all alike."""
    found = pearson(np.exp(-dissimilarities), similarities)
    return -math.inf if math.isnan(found) else found
