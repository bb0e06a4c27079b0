"""The siamese network: an encoder a layer, distances, a head that knows no order; its training.

``z = (sum of softplus(w) * d over the layers) * exp(gate(cosines))``, and the similarity is
``exp(-z)``: 1 for equal sentences whatever was learned, since every ``d`` is then exactly 0, and
the same both ways round, since distances and cosines are. The paper's head, a perceptron and a
sigmoid on the cosines, scored identical sentences .47 of 1.

`train` fits all layers' encoders and the head at once, and keeps the best epoch;
`train_autoencoders` is the paper's start: one autoencoder a layer, all at once, without labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from scope.models.torch_setup import load_torch
from scope.probes.recipes import Recipe

Parameters = dict[str, Any]
"""Tensors by name: ``encoders`` (layers, inputs, outputs), ``offsets`` (layers, 1, outputs), and
the head's ``weights`` (layers,), ``hidden`` (layers, hidden), ``hidden_offsets`` (hidden,),
``out`` (hidden,) and ``out_offset`` ()."""

HEAD = ("weights", "hidden", "hidden_offsets", "out", "out_offset")

_FIRST_SUM = 3.0
"""What the weights of all layers sum to before training."""

_WIDEST_GATE = 3.0


def head_size(layers: int, hidden: int) -> int:
    """How many parameters the head has.

    Examples
    --------
    >>> head_size(30, 16)
    543
    """
    return layers + layers * hidden + hidden + hidden + 1


def starting_head(layers: int, hidden: int, generator: Any) -> Parameters:
    """A head whose gate is 1 and whose weights are equal."""
    torch = load_torch()
    reach = layers**-0.5
    return {
        "weights": torch.full((layers,), math.log(math.expm1(_FIRST_SUM / layers))),
        "hidden": (torch.rand(layers, hidden, generator=generator) * 2 - 1) * reach,
        "hidden_offsets": (torch.rand(hidden, generator=generator) * 2 - 1) * reach,
        "out": torch.zeros(hidden),
        "out_offset": torch.zeros(()),
    }


def encode(inputs: Any, parameters: Parameters, *, nonlinear: bool) -> Any:
    """Vectors of length 1, shape (layers, sentences, outputs), from (layers, sentences, inputs)."""
    torch = load_torch()
    encoded = torch.bmm(inputs, parameters["encoders"])
    if nonlinear:
        encoded = torch.tanh(encoded + parameters["offsets"])
    return torch.nn.functional.normalize(encoded, dim=-1)


def layer_distances(first: Any, second: Any) -> Any:
    """Half the squared distance of unit vectors, which is 1 - cosine; shape (pairs, layers).

    Exactly 0 for equal vectors, where 1 - cosine would leave the error of rounding.
    """
    return 0.5 * (first - second).square().sum(-1).T


def dissimilarity(distances: Any, parameters: Parameters, kept: Any = None) -> Any:
    """How far apart the sentences of each pair are: z, from 0.

    Parameters
    ----------
    distances
        Shape (pairs, layers).
    parameters
        The head's.
    kept
        By how much each layer's distance counts, for dropout; None: all by 1.
    """
    torch = load_torch()
    weights = torch.nn.functional.softplus(parameters["weights"])
    apart = ((distances if kept is None else distances * kept) * weights).sum(1)
    # 4 * cosine - 2: from -2 to 2 where cosines are from 0 to 1.
    cosines = 2 - 4 * distances
    hidden = torch.tanh(cosines @ parameters["hidden"] + parameters["hidden_offsets"])
    gate = hidden @ parameters["out"] + parameters["out_offset"]
    return apart * torch.exp(gate.clamp(-_WIDEST_GATE, _WIDEST_GATE))


_PULL = 0.1


def squared(errors: Any) -> Any:
    """The mean squared error.

    Examples
    --------
    >>> squared(load_torch().tensor([1.0, -3.0])).item()
    5.0
    """
    return errors.square().mean()


def log_variance(errors: Any) -> Any:
    """The logarithm of the errors' variance, with a tenth of their squared mean.

    The paper has the variance alone, which leaves the mean of the scores free; the second term
    holds it, so that scores stay in their range.

    Examples
    --------
    A variance of 1 and a mean of 2:

    >>> round(log_variance(load_torch().tensor([1.0, 2.0, 3.0])).item(), 3)
    0.4
    """
    return load_torch().log(errors.var() + 1e-6) + _PULL * errors.mean() ** 2


LOSSES: Mapping[str, Callable[[Any], Any]] = {"squared": squared, "log_variance": log_variance}


SPAN = 5.0
"""Scores run from 0 to this in training whatever their range, as the recipes' numbers suppose."""

_HEAD_RATE, _HEAD_DECAY = 1e-2, 1e-3
_WARM = 20
"""So many batches until the learning rate is at its height."""


class Pairs(NamedTuple):
    """Training pairs: inputs of shape (layers, pairs, inputs), and scores from 0 to SPAN."""

    first: Any
    second: Any
    scores: Any


class Schedule(NamedTuple):
    """How long to train: at most so many epochs, and so many without a gain."""

    epochs: int
    batch: int
    patience: int


def train(
    start: Parameters,
    pairs: Pairs,
    recipe: Recipe,
    schedule: Schedule,
    judge: Callable[[Parameters], float],
    generator: Any,
) -> Parameters:
    """Train from ``start``, and return the parameters of the epoch that ``judge`` finds best.

    Parameters
    ----------
    start
        As `scope.probes.network.Parameters`; they stay as they are.
    pairs
        At least two.
    recipe, schedule
        The step's numbers, and the user's.
    judge
        How good parameters are on the development pairs.
    generator
        Draws the order of the pairs and what is dropped.
    """
    torch = load_torch()
    parameters = {name: tensor.clone().requires_grad_() for name, tensor in start.items()}
    optimizer = _optimizer(parameters, recipe)
    count = len(pairs.scores)
    batch = min(schedule.batch, count)
    rates = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: _pace(step, schedule.epochs * max(1, count // batch))
    )
    best, best_value, waited = start, -math.inf, 0
    for _ in range(schedule.epochs):
        order = torch.randperm(count, generator=generator)
        # A last part of less than half a batch is left out: its variance says little.
        for place in range(0, count - batch // 2, batch):
            loss = _loss(parameters, pairs, order[place : place + batch], recipe, generator)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            rates.step()
        now = {name: tensor.detach().clone() for name, tensor in parameters.items()}
        value = judge(now)
        if value > best_value:
            best, best_value, waited = now, value, 0
        else:
            waited += 1
            if waited >= schedule.patience:
                break
    return best


def _optimizer(parameters: Parameters, recipe: Recipe) -> Any:
    encoders = [parameters["encoders"]]
    # Only a bend makes use of offsets: the inputs of a linear encoder are centred.
    if recipe.nonlinear:
        encoders.append(parameters["offsets"])
    head = [parameters[name] for name in HEAD]
    return load_torch().optim.AdamW(
        [
            {"params": encoders, "lr": recipe.rate, "weight_decay": 0.0},
            {"params": head, "lr": _HEAD_RATE, "weight_decay": _HEAD_DECAY},
        ]
    )


def _pace(step: int, steps: int) -> float:
    """The share of the learning rate: up over the first batches, then down along a cosine to 5%."""
    fall = 0.05 + 0.475 * (1 + math.cos(math.pi * min(step, steps) / steps))
    return min(1.0, (step + 1) / _WARM) * fall


def _loss(parameters: Parameters, pairs: Pairs, rows: Any, recipe: Recipe, generator: Any) -> Any:
    torch = load_torch()
    first, second = (
        encode(
            side[:, rows] * _kept(side[:, rows].shape, recipe.dropout, generator),
            parameters,
            nonlinear=recipe.nonlinear,
        )
        for side in (pairs.first, pairs.second)
    )
    distances = layer_distances(first, second)
    # The same layers for the whole batch.
    kept = _kept((1, distances.shape[1]), recipe.layer_dropout, generator)
    given = SPAN * torch.exp(-dissimilarity(distances, parameters, kept))
    return LOSSES[recipe.loss](given - pairs.scores[rows])


def _kept(shape: tuple[int, ...], dropped: float, generator: Any) -> Any:
    """Factors of dropout, drawn from the probe's own generator: 0, or above 1 to make up for it."""
    kept = load_torch().rand(shape, generator=generator) >= dropped
    return kept / (1 - dropped)


EPOCHS, RATE, BATCH = 8, 2e-3, 256


class Encoders(NamedTuple):
    """All layers' encoders; an output that a layer does not have is 0 throughout.

    ``weights`` has the shape (layers, inputs, outputs), ``offsets`` (layers, 1, outputs).
    """

    weights: Any
    offsets: Any


def output_mask(layers: int, outputs: int) -> Any:
    """Which outputs each layer has, shape (layers, 1, outputs): 1 or 0.

    The earlier half of the layers has half of them. Reconstruction is the harder the later the
    layer, and with one narrow bottleneck throughout the paper gained nothing.

    Examples
    --------
    >>> output_mask(2, 4).tolist()
    [[[1.0, 1.0, 0.0, 0.0]], [[1.0, 1.0, 1.0, 1.0]]]
    """
    mask = load_torch().ones(layers, 1, outputs)
    mask[: layers // 2, :, max(1, outputs // 2) :] = 0
    return mask


def train_autoencoders(inputs: Any, outputs: int, seed: int) -> Encoders:
    """Train a tanh encoder and a linear decoder a layer to give back their inputs.

    The layers do not share a parameter, so the sum of their losses trains each by itself, and all
    are one batched product.

    Parameters
    ----------
    inputs
        Shape (layers, sentences, inputs), of mean 0 and mean square 1.
    outputs
        The width of the bottleneck in the later half of the layers.
    seed
        Of the start and of the order of the sentences.
    """
    torch = load_torch()
    generator = torch.Generator().manual_seed(seed)
    layers, sentences, width = inputs.shape
    mask = output_mask(layers, outputs)
    weights = torch.randn(layers, width, outputs, generator=generator) / width**0.5 * mask
    back = torch.randn(layers, outputs, width, generator=generator) / outputs**0.5
    offsets = torch.zeros(layers, 1, outputs)
    parameters = [one.requires_grad_() for one in (weights, back, offsets)]
    optimizer = torch.optim.Adam(parameters, lr=RATE)
    for _ in range(EPOCHS):
        for rows in torch.randperm(sentences, generator=generator).split(BATCH):
            wanted = inputs[:, rows]
            hidden = torch.tanh(torch.bmm(wanted, weights) + offsets) * mask
            loss = (torch.bmm(hidden, back) - wanted).square().mean((1, 2)).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return Encoders((weights * mask).detach(), (offsets * mask).detach())
