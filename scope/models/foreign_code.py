"""Refuses checkpoints whose files have a library run code, or read weights, from elsewhere.

The libraries take names of classes, packages and other checkpoints from many files and follow them
to any depth; some need no permission for that where the checkpoint is a local folder, as every
checkpoint is here. So all files are looked through before any is given to a library.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scope.errors import ModelError
from scope.models.files import read_json
from scope.models.torch_setup import quiet_transformers

_CONFIGURATIONS = (
    "config.json",
    "tokenizer_config.json",
    "generation_config.json",
    "special_tokens_map.json",
    "processor_config.json",
    "preprocessor_config.json",
    "video_preprocessor_config.json",
)
_ATTENTION = ("attn_implementation", "_attn_implementation")
_WEIGHT_FILES = ".safetensors"
_VOCABULARY = re.compile(r".*_(file|spm)")
# Tokenizers keep these, and open what lies in the folder instead.
_UNREAD = ("special_tokens_map_file", "added_tokens_file", "tokenizer_config_file")


def refuse_foreign_code(name: str, folder: Path) -> None:
    """Refuse a checkpoint that names code or files other than the libraries' and its own.

    Raises
    ------
    ModelError
        When it is an adapter, brings its own ``generate``, names a class or an attention that is
        not the library's, or files outside its folder.
    """
    for path in sorted(folder.rglob("custom_generate")):
        raise foreign(name, f"{path.relative_to(folder)}/ contains its own code")
    for path in sorted(folder.glob("adapter_config.json")):
        raise is_adapter(name, path.relative_to(folder))
    for path in sorted(folder.rglob("*.json")):
        if path.name in _CONFIGURATIONS:
            for said in _named(read_json(name, path), path.parent):
                raise foreign(name, f"{path.relative_to(folder)} names {said}")
        elif path.name.endswith(".index.json"):
            _refuse_shards_elsewhere(name, path)


def foreign(name: str, what: str) -> ModelError:
    """The error of code that is not the libraries' own."""
    return ModelError(
        f"`{name}` runs its own code: {what}",
        expected="only classes of the transformers and sentence-transformers libraries",
        fix="if you trust its author, add --trust-remote-code; else choose another model",
    )


def _named(held: Any, folder: Path) -> Iterator[str]:
    """What a configuration names, at any depth, that is not the libraries' own."""
    if isinstance(held, list):
        for one in held:
            yield from _named(one, folder)
    if not isinstance(held, dict):
        return
    if "auto_map" in held and not _is_known_type(held.get("model_type", "")):
        yield f"the code of the model_type {str(held['model_type'])[:80]!r}"
    for key, value in held.items():
        yield from _named(value, folder)
        if _is_foreign(key, value, folder):
            yield f"the {key} {str(value)[:80]!r}"


def _is_foreign(key: str, value: Any, folder: Path) -> bool:
    if key == "tokenizer_class":
        return value is not None and str(value) not in _tokenizers()
    if key in _ATTENTION:
        # The name of a repository whose kernels the library would fetch and run.
        return "/" in str(value)
    return bool(_VOCABULARY.fullmatch(key)) and key not in _UNREAD and _is_elsewhere(value, folder)


def _is_known_type(kind: Any) -> bool:
    """Whether the library has the class of a configuration: then it ignores the author's own."""
    known = quiet_transformers().models.auto.configuration_auto.CONFIG_MAPPING_NAMES
    return kind == "" or str(kind) in known


def _tokenizers() -> frozenset[str]:
    """The classes of tokenizers that the library has; of other classes it would load a model."""
    table = quiet_transformers().models.auto.tokenization_auto.TOKENIZER_MAPPING_NAMES
    known = {name for names in table.values() for name in names or () if name}
    known |= {"PreTrainedTokenizer", "PreTrainedTokenizerFast"}
    # The library takes `BertTokenizer` for either; of RAG it opens two folders more.
    return frozenset(known | {name.removesuffix("Fast") for name in known}) - {"RagTokenizer"}


def _is_elsewhere(value: Any, folder: Path) -> bool:
    """Whether it is a path that can be opened, outside the checkpoint's folder.

    Old tokenizers name files of the machine that they were saved on, which do no harm elsewhere.
    """
    if not isinstance(value, str) or not value:
        return False
    # Not what a link leads to: the files of the hub's cache are links to others.
    here, path = (Path(os.path.normpath(one.absolute())) for one in (folder, folder / value))
    try:
        return not path.is_relative_to(here) and path.exists()
    except (OSError, ValueError):
        return False


def _refuse_shards_elsewhere(name: str, path: Path) -> None:
    index = read_json(name, path)
    weights = index.get("weight_map") if isinstance(index, dict) else None
    for shard in set(map(str, weights.values())) if isinstance(weights, dict) else ():
        if (
            Path(shard).name != shard
            or shard.startswith(".")
            or not (shard.endswith(_WEIGHT_FILES) or _WEIGHT_FILES not in path.name)
        ):
            raise foreign(name, f"{path.name} names the weights {shard[:80]!r}")


def is_adapter(name: str, shown: Path) -> ModelError:
    """The error of an adapter, whose base model the library would load from elsewhere."""
    return ModelError(
        f"`{name}` is an adapter ({shown}), whose base model is another checkpoint",
        expected="a checkpoint with all of its weights",
        fix="merge the adapter into its base model with peft's merge_and_unload and save that; "
        "or, if you trust both authors, add --trust-remote-code",
    )
