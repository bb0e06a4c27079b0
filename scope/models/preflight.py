"""What is known of a model before it is loaded: that its file is there, its labels and its size."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from scope.errors import ModelError
from scope.models.checkpoint import fetch_checkpoint
from scope.models.labels import require_words
from scope.models.loading import split_spec
from scope.models.options import ModelOptions
from scope.models.safety import MOST_BYTES_OF_OTHERS
from scope.paths import expanded
from scope.registry import SAVED, find

CLASSIFIER, CAUSAL = "ForSequenceClassification", "ForCausalLM"
"""How the transformers library names architectures with labels of their own, and without."""


class KnownLabels(NamedTuple):
    """The labels of a model, and whether they are the user's label words."""

    spec: str
    labels: tuple[str, ...]
    by_words: bool = False


def labels_before_loading(spec: str, options: ModelOptions) -> KnownLabels | None:
    """The labels of a model in the role of classifier; None where only the model itself has them.

    Raises
    ------
    SpecError
        When no scheme has that name.
    ModelError
        When the model's file is missing, or it is a language model without a word for each label.

    Examples
    --------
    >>> words = ModelOptions(label_words={"positive": "good", "negative": "bad"})
    >>> labels_before_loading("openai:http://localhost:8000/v1#ours", words).labels
    ('positive', 'negative')
    """
    scheme, rest = require_there(spec)
    named = f"{scheme}:{rest}"
    config = _config(expanded(rest)) if scheme == "hf" else {}
    architectures = [str(one) for one in _listed(config.get("architectures"))]
    is_language_model = scheme in ("gguf", "openai") or (
        bool(architectures) and all(architecture.endswith(CAUSAL) for architecture in architectures)
    )
    if is_language_model:
        require_words(named, options)
        return KnownLabels(named, tuple(options.label_words), by_words=True)
    names = config.get("id2label")
    if isinstance(names, dict) and architectures and architectures[0].endswith(CLASSIFIER):
        labels = tuple(str(names[key]) for key in sorted(names, key=_number))
        return KnownLabels(named, labels)
    return None


def require_there(spec: str) -> tuple[str, str]:
    """Scheme and rest of a spec whose scheme exists and whose file, where it has one, is there.

    Raises
    ------
    SpecError
        When no scheme has that name.
    ModelError
        When a GGUF file is missing, or is none.
    """
    scheme, rest = split_spec(spec)
    find("models", scheme)
    if scheme == "gguf":
        from scope.models.gguf import require_gguf

        require_gguf(expanded(rest))
    return scheme, rest


def _config(folder: Path) -> dict[str, object]:
    """The checkpoint's config.json; empty where it cannot be read, as the loader will say."""
    path = folder / "config.json"
    try:
        # A pipe would be waited for, a device read without end.
        if not path.is_file() or path.stat().st_size > MOST_BYTES_OF_OTHERS:
            return {}
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _number(key: str) -> tuple[int, str]:
    return (int(key) if key.isdecimal() else 0, key)


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
        stored=sum(file.stat().st_size for file in files),
        dtype=options.dtype,
        memory=parameters * _BYTES[options.dtype],
    )


def _count(path: Path) -> int:
    """The numbers in a file of weights."""
    from safetensors import safe_open

    with safe_open(path, "numpy") as tensors:
        return sum(math.prod(tensors.get_slice(name).get_shape()) for name in tensors.keys())  # noqa: SIM118 - no dict
