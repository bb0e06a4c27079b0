"""The steps' recipes, and the siamese network: encoders, distances, head, and their training.

``z = (sum of softplus(w) * d over the layers) * exp(gate(cosines))``, and the similarity is
``exp(-z)``: 1 for equal sentences with any weights, since every ``d`` is then exactly 0, and
symmetric, since distances and cosines are. FREEZE's head, a perceptron and a sigmoid on the
cosines, does not ensure the maximum for equal sentences; the step ``published`` uses it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from scope.errors import SpecError
from scope.models.torch_setup import load_torch

Step = Literal["raw", "mlp", "siamese", "autoencoder", "published", "final"]
Loss = Literal["squared", "log_variance", "log_variance_and_mean"]

STEPS: tuple[Step, ...] = ("raw", "mlp", "siamese", "autoencoder", "published", "final")
"""FREEZE's steps as SCoPE implements them, each an extension of the one before; ``published`` is
the last step of the paper, and ``final`` is SCoPE's."""

RANDOM_STEPS: tuple[Step, ...] = ("siamese", "autoencoder", "published", "final")
"""Steps with encoders, whose training is random: each seed gives another probe."""

PRETRAINED: tuple[Step, ...] = ("autoencoder", "published", "final")
"""Steps that learn from sentences without scores first."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a step with encoders is trained; the numbers were chosen on development pairs.

    ``rate`` is the encoders' learning rate; ``dropout`` applies to single inputs,
    ``layer_dropout`` to whole layers. Training lasts at most ``epochs``, and ``patience`` epochs
    without a gain. Without ``hidden`` units the head is one layer of weights and a sigmoid, and the
    encoders take all dimensions of the latents.
    """

    outputs: int
    hidden: int
    dropout: float
    layer_dropout: float
    rate: float
    loss: Loss
    whitened: bool = False
    nonlinear: bool = False
    epochs: int = 8
    batch: int = 128
    patience: int = 3


_SIAMESE = Recipe(outputs=192, hidden=32, dropout=0.1, layer_dropout=0.1, rate=1e-3, loss="squared")
_BENT = replace(_SIAMESE, nonlinear=True)

RECIPES: Mapping[Step, Recipe] = {
    "siamese": _SIAMESE,
    "autoencoder": _BENT,
    # The bottleneck is 512 in the later half of the layers and 256 in the earlier, as in the paper.
    "published": replace(
        _BENT, outputs=512, hidden=0, dropout=0.0, layer_dropout=0.0, loss="log_variance"
    ),
    # The paper's last step trains the autoencoders by gradient. In closed form they take a seventh
    # of the time, and the correlation on development pairs was higher, .851 in place of .845.
    "final": Recipe(
        outputs=128,
        hidden=16,
        dropout=0.05,
        layer_dropout=0.2,
        rate=2e-3,
        loss="log_variance_and_mean",
        whitened=True,
    ),
}


def checked_step(step: str) -> Step:
    """The step, or a SpecError if it is unknown.

    Examples
    --------
    >>> checked_step("finale")
    Traceback (most recent call last):
    ...
    scope.errors.SpecError: found:    the step `finale` of a probe
    expected: one of raw, mlp, siamese, autoencoder, published, final
    fix:      name one of these
    """
    for known in STEPS:
        if step == known:
            return known
    raise SpecError(
        f"the step `{step}` of a probe",
        expected=f"one of {', '.join(STEPS)}",
        fix="name one of these",
    )


Parameters = dict[str, Any]
"""Tensors by name: ``encoders`` (layers, inputs, outputs), ``offsets`` (layers, 1, outputs), and
the head's ``weights`` (layers,), ``hidden`` (layers, hidden), ``hidden_offsets`` (hidden,),
``out`` (hidden,) and ``out_offset`` (). A head without hidden units has ``weights`` and
``out_offset`` alone."""

HEAD = ("weights", "hidden", "hidden_offsets", "out", "out_offset")

_FIRST_SUM = 3.0
"""The sum of the weights of all layers before training."""

_WIDEST_GATE = 3.0


def head_size(layers: int, hidden: int) -> int:
    """The number of parameters of the head.

    Examples
    --------
    >>> head_size(30, 16)
    543
    """
    return layers + layers * hidden + hidden + hidden + 1


def starting_head(layers: int, hidden: int, generator: Any) -> Parameters:
    """A head whose gate is 1 and whose weights are equal."""
    torch = load_torch()
    if not hidden:
        weights = torch.full((layers,), _FIRST_SUM / layers)
        return {"weights": weights, "out_offset": torch.zeros(())}
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
    """z of each pair, from 0.

    Parameters
    ----------
    distances
        Shape (pairs, layers).
    parameters
        Those of the head.
    kept
        Factors of each layer's distance, for dropout; None: all 1.
    """
    torch = load_torch()
    if "hidden" not in parameters:
        cosines = 1 - distances if kept is None else (1 - distances) * kept
        raised = (cosines * parameters["weights"]).sum(1) + parameters["out_offset"]
        return -torch.nn.functional.logsigmoid(raised)
    weights = torch.nn.functional.softplus(parameters["weights"])
    apart = ((distances if kept is None else distances * kept) * weights).sum(1)
    # 4 * cosine - 2: from -2 to 2 where cosines are from 0 to 1.
    cosines = 2 - 4 * distances
    hidden = torch.tanh(cosines @ parameters["hidden"] + parameters["hidden_offsets"])
    gate = hidden @ parameters["out"] + parameters["out_offset"]
    return apart * torch.exp(gate.clamp(-_WIDEST_GATE, _WIDEST_GATE))


def squared(errors: Any) -> Any:
    """The mean squared error.

    Examples
    --------
    >>> squared(load_torch().tensor([1.0, -3.0])).item()
    5.0
    """
    return errors.square().mean()


def log_variance(errors: Any) -> Any:
    """The logarithm of the errors' variance, FREEZE's loss; it leaves the mean of the scores free.

    Examples
    --------
    >>> round(log_variance(load_torch().tensor([1.0, 2.0, 3.0])).item(), 3)
    0.0
    """
    return load_torch().log(errors.var() + 1e-6)


def log_variance_and_mean(errors: Any) -> Any:
    """`log_variance` and a tenth of the squared mean, which keeps the scores in their range.

    Examples
    --------
    A variance of 1 and a mean of 2:

    >>> round(log_variance_and_mean(load_torch().tensor([1.0, 2.0, 3.0])).item(), 3)
    0.4
    """
    return log_variance(errors) + 0.1 * errors.mean() ** 2


LOSSES: Mapping[str, Callable[[Any], Any]] = {
    function.__name__: function for function in (squared, log_variance, log_variance_and_mean)
}

SPAN = 5.0
"""In training, scores are scaled to the range from 0 to this, as the recipes assume."""

_HEAD_RATE, _HEAD_DECAY = 1e-2, 1e-3
_WARM = 20
"""Number of batches until the learning rate is at its maximum."""


def train(
    start: Parameters,
    sides: tuple[Any, Any],
    scores: Any,
    recipe: Recipe,
    judge: Callable[[Parameters], float],
    generator: Any,
) -> Parameters:
    """Train encoders and head, and return the parameters of the best epoch.

    Parameters
    ----------
    start
        The initial parameters; they are not changed.
    sides
        Inputs of the first and of the second sentences, each of shape (layers, pairs, inputs).
    scores
        Shape (pairs,), from 0 to `SPAN`; at least two pairs.
    judge
        The quality of parameters on the development pairs.
    generator
        Draws the order of the pairs and the dropout.
    """
    torch = load_torch()
    parameters = {name: tensor.clone().requires_grad_() for name, tensor in start.items()}
    # Only a nonlinear encoder uses offsets: the inputs of a linear one are centred.
    encoders = ("encoders", "offsets") if recipe.nonlinear else ("encoders",)
    optimizer = torch.optim.AdamW(
        [
            {"params": [parameters[n] for n in encoders], "lr": recipe.rate, "weight_decay": 0.0},
            {
                "params": [parameters[name] for name in HEAD if name in parameters],
                "lr": _HEAD_RATE,
                "weight_decay": _HEAD_DECAY,
            },
        ]
    )
    count = len(scores)
    batch = min(recipe.batch, count)
    steps = recipe.epochs * max(1, count // batch)
    rates = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _pace(step, steps))
    best, best_value, waited = start, -math.inf, 0
    for _ in range(recipe.epochs):
        order = torch.randperm(count, generator=generator)
        # A last batch of less than half the size is skipped: its variance is uncertain.
        for place in range(0, count - batch // 2, batch):
            rows = order[place : place + batch]
            inputs = (side[:, rows] for side in sides)
            loss = _loss(parameters, inputs, scores[rows], recipe, generator)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            rates.step()
        current = {name: tensor.detach().clone() for name, tensor in parameters.items()}
        value = judge(current)
        if value > best_value:
            best, best_value, waited = current, value, 0
        else:
            waited += 1
            if waited >= recipe.patience:
                break
    return best


def _pace(step: int, steps: int) -> float:
    """The share of the learning rate: up over the first batches, then down along a cosine to 5%."""
    fall = 0.05 + 0.475 * (1 + math.cos(math.pi * min(step, steps) / steps))
    return min(1.0, (step + 1) / _WARM) * fall


def _loss(parameters: Parameters, sides: Any, scores: Any, recipe: Recipe, generator: Any) -> Any:
    first, second = (
        encode(
            inputs * _kept(inputs.shape, recipe.dropout, generator),
            parameters,
            nonlinear=recipe.nonlinear,
        )
        for inputs in sides
    )
    distances = layer_distances(first, second)
    # The same layers for the whole batch.
    kept = _kept((1, distances.shape[1]), recipe.layer_dropout, generator)
    similarities = load_torch().exp(-dissimilarity(distances, parameters, kept))
    return LOSSES[recipe.loss](SPAN * similarities - scores)


def _kept(shape: tuple[int, ...], dropped: float, generator: Any) -> Any:
    """Factors of dropout, drawn from the probe's own generator: 0, or above 1 to compensate."""
    kept = load_torch().rand(shape, generator=generator) >= dropped
    return kept / (1 - dropped)


EPOCHS, RATE, BATCH = 8, 2e-3, 256


def train_autoencoders(inputs: Any, outputs: int, seed: int) -> Parameters:
    """Train a tanh encoder and a linear decoder a layer to reconstruct their inputs.

    The decoders are returned beside the encoders, as ``decoders`` (layers, outputs, inputs).

    The layers share no parameter, so the sum of their losses trains each by itself, and all are one
    batched product. The earlier half of the layers has half of the outputs, and 0 in the others:
    reconstruction is harder in later layers, and one narrow bottleneck throughout gained nothing in
    the paper.

    Parameters
    ----------
    inputs
        Shape (layers, sentences, inputs), of mean 0 and mean square 1.
    outputs
        The width of the bottleneck in the later half of the layers.
    seed
        Seed of the initial weights and of the order of the sentences.
    """
    torch = load_torch()
    generator = torch.Generator().manual_seed(seed)
    layers, sentences, width = inputs.shape
    mask = torch.ones(layers, 1, outputs)
    mask[: layers // 2, :, max(1, outputs // 2) :] = 0
    weights = torch.randn(layers, width, outputs, generator=generator) / width**0.5 * mask
    back = torch.randn(layers, outputs, width, generator=generator) / outputs**0.5
    offsets = torch.zeros(layers, 1, outputs)
    trained = [tensor.requires_grad_() for tensor in (weights, back, offsets)]
    optimizer = torch.optim.Adam(trained, lr=RATE)
    for _ in range(EPOCHS):
        for rows in torch.randperm(sentences, generator=generator).split(BATCH):
            wanted = inputs[:, rows]
            hidden = torch.tanh(torch.bmm(wanted, weights) + offsets) * mask
            loss = (torch.bmm(hidden, back) - wanted).square().mean((1, 2)).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    parts = {"encoders": weights * mask, "offsets": offsets * mask, "decoders": back}
    return {name: tensor.detach() for name, tensor in parts.items()}
