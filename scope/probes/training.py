"""Trains all layers' encoders and the head at once, and keeps the best epoch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from scope.models.torch_setup import load_torch
from scope.probes.losses import LOSSES
from scope.probes.network import HEAD, Parameters, dissimilarity, encode, layer_distances
from scope.probes.recipes import Recipe

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
    *,
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
