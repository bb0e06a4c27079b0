"""The siamese network: an encoder a layer, distances, and a head that knows no order.

``z = (sum of softplus(w) * d over the layers) * exp(gate(cosines))``, and the similarity is
``exp(-z)``: 1 for equal sentences whatever was learned, since every ``d`` is then exactly 0, and
the same both ways round, since distances and cosines are. The paper's head, a perceptron and a
sigmoid on the cosines, scored identical sentences .47 of 1.
"""

from __future__ import annotations

import math
from typing import Any

from scope.models.torch_setup import load_torch

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
