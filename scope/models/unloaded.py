"""What is known of a model before it is loaded: that its file is there, and its labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from scope.models.labels import require_words
from scope.models.loading import split_spec
from scope.models.options import ModelOptions
from scope.models.safety import MOST_BYTES_OF_OTHERS
from scope.paths import expanded
from scope.registry import find

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
        bool(architectures) and all(one.endswith(CAUSAL) for one in architectures)
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
