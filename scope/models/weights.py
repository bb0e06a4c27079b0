"""How large a model is, read off its files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

from scope.errors import ModelError
from scope.models.checkpoint import fetch_checkpoint
from scope.models.loading import split_spec
from scope.models.options import ModelOptions
from scope.paths import expanded
from scope.registry import SAVED

_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}


class Weights(NamedTuple):
    """The size of a model; None is unknown, and ``reason`` says why.

    ``stored`` counts the bytes of the files of weights, and ``memory`` those of the parameters as
    they are loaded, in the precision ``dtype``: what a batch takes comes on top.
    """

    parameters: int | None = None
    stored: int | None = None
    dtype: str | None = None
    memory: int | None = None
    reason: str = ""


def weights_of(spec: str, options: ModelOptions) -> Weights:
    """The size of the model behind a spec.

    Examples
    --------
    >>> weights_of("openai:http://localhost:8000/v1#ours", ModelOptions()).reason
    'it runs on a server'
    """
    scheme, rest = split_spec(spec)
    if scheme == "gguf":
        size = expanded(rest).stat().st_size
        return Weights(stored=size, memory=size, reason="a GGUF file mixes precisions")
    if scheme != "hf":
        reasons = {"openai": "it runs on a server"} | dict.fromkeys(SAVED, "its answers are saved")
        return Weights(reason=reasons.get(scheme, "its code is the user's"))
    try:
        files = sorted(fetch_checkpoint(rest, options).folder.glob("*.safetensors"))
    except ModelError as error:
        return Weights(reason=error.found)
    if not files:
        return Weights(reason="its weights are no safetensors")
    parameters = sum(map(_count, files))
    return Weights(
        parameters=parameters,
        stored=sum(one.stat().st_size for one in files),
        dtype=options.dtype,
        memory=parameters * _BYTES[options.dtype],
    )


def _count(path: Path) -> int:
    """The numbers in a file of weights."""
    from safetensors import safe_open

    with safe_open(path, "numpy") as tensors:
        return sum(math.prod(tensors.get_slice(name).get_shape()) for name in tensors.keys())  # noqa: SIM118 - no dict
