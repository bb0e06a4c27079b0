"""``hf:NAME_OR_PATH[@REVISION]``: what a checkpoint's architecture can be asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

from scope.foreign import loading
from scope.models.checkpoint import fetch_checkpoint
from scope.models.options import ModelOptions
from scope.models.torch_setup import quiet_transformers

CLASSIFIER = "scope.models.huggingface"

FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        "MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES": "scope.models.extractive",
        "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES": "scope.models.text_to_text",
        "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES": "scope.models.causal",
        "MODEL_FOR_MASKED_LM_MAPPING_NAMES": "scope.models.masked",
    }
)
"""The transformers library's tables of architectures, and the module that asks their models.

The first table that names an architecture decides: BART, which is in two, is text-to-text.
"""


def load(rest: str, options: ModelOptions) -> Any:
    """Load a checkpoint in all the roles that its architecture has.

    A checkpoint that names no architecture, or none of the families, is loaded as a classifier,
    which then says what it lacks.

    Raises
    ------
    ModelError
        When it is not there, is a pickle, or cannot be read.
    """
    checkpoint = fetch_checkpoint(rest, options)
    with loading(rest):
        return import_module(_module(checkpoint.folder)).load(rest, options)


def _module(folder: Path) -> str:
    architectures = _architectures(folder)
    tables = quiet_transformers().models.auto.modeling_auto
    for table, module in FAMILIES.items():
        known = set(getattr(tables, table).values())
        if known.intersection(architectures):
            return module
    return CLASSIFIER


def _architectures(folder: Path) -> tuple[str, ...]:
    """The names in config.json; none where the file is missing or damaged, as the loader says."""
    try:
        named = json.loads((folder / "config.json").read_text(encoding="utf-8"))["architectures"]
        return tuple(map(str, named))
    except (OSError, ValueError, KeyError, TypeError):
        return ()
