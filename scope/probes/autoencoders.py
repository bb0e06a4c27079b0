"""The paper's autoencoders: one a layer, trained at once on sentences without labels."""

from __future__ import annotations

from typing import Any, NamedTuple

from scope.models.torch_setup import load_torch

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
