"""Ways to make another model out of a model's own weights, without any training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scope.models.torch_setup import load_torch

_INT8_STEPS = 127


def weight_matrices(model: Any) -> Iterator[tuple[str, Any]]:
    """The weights of all linear layers by name, each of shape (outputs, inputs)."""
    linear = load_torch().nn.Linear
    for name, module in model.named_modules():
        if isinstance(module, linear):
            yield name, module.weight.data


def round_to_int8(model: Any) -> None:
    """Round each row of each weight matrix to 255 equal steps, in place.

    The largest magnitude of a row becomes 127 steps: symmetric quantization per output, as int8
    inference does it; the weights are kept as the numbers that the steps stand for.
    """
    for _, weights in weight_matrices(model):
        step = weights.abs().amax(dim=1, keepdim=True) / _INT8_STEPS
        # A row of zeros has no step, and stays.
        step[step == 0] = 1.0
        weights.copy_((weights / step).round() * step)


def prune_magnitudes(model: Any, share: float) -> None:
    """Set the share of smallest magnitudes of each weight matrix to zero, in place."""
    for _, weights in weight_matrices(model):
        count = round(share * weights.numel())
        smallest = weights.abs().flatten().argsort(stable=True)[:count]
        weights.view(-1)[smallest] = 0.0


def add_noise(model: Any, size: float, seed: int) -> None:
    """Add Gaussian noise to each weight matrix, in place.

    Parameters
    ----------
    size
        Standard deviation of the noise as a share of that of the matrix's weights.
    """
    torch = load_torch()
    generator = torch.Generator().manual_seed(seed)
    for _, weights in weight_matrices(model):
        noise = torch.randn(weights.shape, generator=generator)
        weights.add_(noise * (size * weights.std()))


def keep_layers(model: Any, layers: Sequence[int]) -> None:
    """Drop all but these layers of a BERT-like or a Llama-like classifier, in place."""
    torch = load_torch()
    body = model.base_model
    owner, attribute = (body.encoder, "layer") if hasattr(body, "encoder") else (body, "layers")
    kept = [getattr(owner, attribute)[index] for index in layers]
    for position, layer in enumerate(kept):
        attention = getattr(layer, "self_attn", None)
        if attention is not None:
            # By this number a layer of a causal model finds its place in the cache of keys.
            attention.layer_idx = position
    setattr(owner, attribute, torch.nn.ModuleList(kept))
    model.config.num_hidden_layers = len(kept)


def freeze_embeddings(model: Any) -> None:
    """Leave the embeddings of tokens out of any training to come."""
    model.get_input_embeddings().weight.requires_grad_(False)
