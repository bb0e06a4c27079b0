"""How each step comes to what it measures with, and from its distance to people's range.

A step is refused where there are too few pairs for its parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from scope.errors import DataError
from scope.models.torch_setup import load_torch
from scope.probes.bases import Basis, cosine_distances, fit_basis, fit_scales, project
from scope.probes.checks import Latents, Scores
from scope.probes.correlations import pearson
from scope.probes.measures import (
    AllCosines,
    CosineLayer,
    RawLayer,
    SiameseNetwork,
    fit_cosine_layer,
)
from scope.probes.network import (
    SPAN,
    Encoders,
    Pairs,
    Parameters,
    Schedule,
    dissimilarity,
    encode,
    head_size,
    layer_distances,
    starting_head,
    train,
    train_autoencoders,
)
from scope.probes.recipes import RECIPES, Recipe, Step


def require_enough_pairs(pairs: int, layers: int, step: Step, hidden: int | None = None) -> None:
    """Check that there are at least as many training pairs as the step's head has parameters.

    The encoders, which start from a closed form or from sentences without labels, do not count.

    Parameters
    ----------
    hidden
        Units of the head's hidden layer; None: as the step has it.

    Raises
    ------
    DataError
        When there are fewer; the message says how small a head would do.

    Examples
    --------
    >>> require_enough_pairs(30, 5, "mlp")
    >>> require_enough_pairs(30, 5, "final")
    Traceback (most recent call last):
    ...
    scope.errors.DataError: found:    30 pairs to train a head of 118 parameters (step final)
    expected: at least 118 pairs with scores
    fix:      give more pairs, or write --hidden 3, or --step raw, which trains none
    """
    if step == "raw":
        return
    smaller = None
    if step == "mlp":
        parameters = layers + 1
    else:
        parameters = head_size(layers, RECIPES[step].hidden if hidden is None else hidden)
        smaller = max(
            (one for one in range(1, pairs) if head_size(layers, one) <= pairs), default=0
        )
    if pairs < parameters:
        way = f"or write --hidden {smaller}, " if smaller else ""
        raise DataError(
            f"{pairs} pairs to train a head of {parameters} parameters (step {step})",
            expected=f"at least {parameters} pairs with scores",
            fix=f"give more pairs, {way}or --step raw, which trains none",
        )


_WIDEST = 6.0
"""Scale and power lie between exp(-6) and exp(6)."""

_STARTS = ((0.0, 0.0), (-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0))
"""Logarithms of scale and power from which the least error is sought."""


class Calibration(NamedTuple):
    """``exp(-(scale * z / unit) ** power)``: falls with z, and is 1 at 0 whatever the numbers are.

    ``unit`` is a usual z, so that the scale is near 1 however small the distances of a model are.
    """

    scale: float = 1.0
    power: float = 1.0
    unit: float = 1.0


def scores_of(
    dissimilarities: NDArray[np.float64], calibration: Calibration, low: float, high: float
) -> Scores:
    """Scores from ``low`` to ``high``: the smaller the dissimilarity, the higher; ``high`` at 0.

    Examples
    --------
    >>> scores_of(np.array([0.0, np.log(2), 1e9]), Calibration(), 1.0, 5.0).tolist()
    [5.0, 3.0, 1.0]
    """
    # What is too great for a number is as far apart as can be.
    with np.errstate(over="ignore"):
        powered = (calibration.scale * (dissimilarities / calibration.unit)) ** calibration.power
    return np.clip(high + (high - low) * np.expm1(-powered), low, high)


def calibrate(
    dissimilarities: NDArray[np.float64], scores: Scores, low: float, high: float
) -> Calibration:
    """The scale and the power with the least squared error on scored pairs.

    The unit is the median of the dissimilarities above 0. The order of the pairs stays, so their
    rank correlation does.

    Examples
    --------
    >>> dissimilarities = np.array([0.1, 0.5, 1.0, 2.0])
    >>> found = calibrate(dissimilarities, 5 * np.exp(-((2 * dissimilarities) ** 0.5)), 0.0, 5.0)
    >>> round(found.scale / found.unit, 2), round(found.power, 2), found.unit
    (2.0, 0.5, 0.75)
    """
    some = dissimilarities[dissimilarities > 0]
    unit = float(np.median(some)) if some.size else 1.0

    def error(logarithms: NDArray[np.float64]) -> float:
        given = scores_of(dissimilarities, _from(logarithms, unit), low, high)
        return float(np.square(given - scores).mean())

    found = [minimize(error, np.array(start), method="Nelder-Mead") for start in _STARTS]
    # The first of equals.
    return _from(min(found, key=lambda one: float(one.fun)).x, unit)


def _from(logarithms: NDArray[np.float64], unit: float) -> Calibration:
    scale, power = np.exp(np.clip(logarithms, -_WIDEST, _WIDEST))
    return Calibration(float(scale), float(power), unit)


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
    trained = train(start, given, recipe, schedule, judge, generator)
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
