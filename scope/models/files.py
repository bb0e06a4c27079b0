"""A checkpoint's files, looked at before a library opens them: none may hang or fill the memory.

Refused are configurations that claim more than the weights hold, before anything is built, and
checkpoints whose files have a library run code, or read weights, from elsewhere. The libraries take
names of classes, packages and other checkpoints from many files and follow them to any depth; some
need no permission for that where the checkpoint is a local folder, as every checkpoint is here. So
all files are looked through before any is given to a library.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scope.errors import ModelError
from scope.foreign import unreadable
from scope.models.torch_setup import quiet_transformers
from scope.printing import first_line, shown

OTHER_FORMATS = ("onnx", "openvino", "coreml")
"""Folders with the same weights once more, which nobody reads here."""

_OTHERS = [(name,) for name in OTHER_FORMATS]
_MEBIBYTE = 2**20
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth")
_MOST_BYTES = {"tokenizer.json": 256 * _MEBIBYTE, ".model": 256 * _MEBIBYTE}
MOST_BYTES_OF_OTHERS = 32 * _MEBIBYTE
"""The largest vocabularies in use have a tokenizer.json of 60 and a vocab.txt of 5 MiB."""


def wanted_files(name: str, folder: Path, patterns: Sequence[str]) -> list[Path]:
    """The files that match a pattern, at any depth, all of which can be read.

    Raises
    ------
    ModelError
        When one is a dangling link, a pipe, a folder, not readable or too large; or when any file
        is a pipe or device, at which a library that opens it would wait for ever.
    """
    found = []
    for path in _walk(folder):
        is_wanted = any(path.match(pattern) for pattern in patterns)
        shown = path.relative_to(folder)
        try:
            status = path.stat()
        except OSError as error:
            if is_wanted:
                raise unreadable(name, f"{shown}: {error.strerror}") from error
            continue
        if not stat.S_ISREG(status.st_mode):
            raise unreadable(name, f"{shown} is not a regular file")
        if is_wanted:
            _require_readable(name, path, shown, status.st_size)
            found.append(path)
    return sorted(found)


def is_left_out(path: Path) -> bool:
    """Whether a path in a checkpoint's folder is one that `wanted_files` does not look at."""
    return any(part.startswith(".") for part in path.parts) or path.parts[:1] in _OTHERS


def read_json(name: str, path: Path) -> Any:
    """What a file of JSON holds.

    Raises
    ------
    ModelError
        When it cannot be read, is damaged, or is nested too deeply.
    """
    # A pipe would be waited for: this is asked of files, too, that `wanted_files` leaves out.
    if path.exists() and not path.is_file():
        raise unreadable(name, f"{path.name} is not a regular file")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    # Nested too deeply, JSON ends in a RecursionError.
    except (OSError, ValueError, RecursionError) as error:
        raise unreadable(name, f"{path.name}: {first_line(error)}") from error


def _walk(folder: Path) -> Iterator[Path]:
    """All that is no folder; what is hidden, such as a repository's own files, is left out."""
    for here, folders, files in os.walk(folder):
        inner = [name for name in folders if not name.startswith(".")]
        if Path(here) == folder:
            inner = [name for name in inner if name not in OTHER_FORMATS]
        folders[:] = inner
        yield from (Path(here, name) for name in files if not name.startswith("."))


def _require_readable(name: str, path: Path, shown: Path, size: int) -> None:
    if not os.access(path, os.R_OK):
        raise unreadable(name, f"{shown}: Permission denied")
    most = _MOST_BYTES.get(path.name, _MOST_BYTES.get(path.suffix, MOST_BYTES_OF_OTHERS))
    if path.suffix not in _WEIGHTS and size > most:
        raise unreadable(
            name,
            f"{shown} has {size / _MEBIBYTE:.0f} MiB: more than {most // _MEBIBYTE} MiB are not "
            "read of such a file",
        )


_SIZE = re.compile(r"(num|n|d)_.*|.*_(size|dim|head|position|embedding)s?|.*_layers|dims?|depths?")
_LAYERS = re.compile(r"(num|n)_.*(layer|block)s?|.*_layers|depths?")
_MOST_LAYERS = 1000
_MOST = 10_000_000
"""No table of positions or words in use is longer."""

_LENGTH_OF_LENGTH = 8
_MOST_HEADER = 100_000_000


class _Weights(NamedTuple):
    tensors: int
    size: int


def refuse_false_sizes(name: str, folder: Path) -> None:
    """Refuse damaged files of weights, and sizes that no model with these weights has.

    Each layer has at least one tensor, and each row of a matrix at least one byte: a library that
    builds what the configuration claims, before it looks at the weights, would fill the memory.

    Raises
    ------
    ModelError
        When the header of a *.safetensors file is not true of the file, or config.json claims
        more layers than there are tensors, or larger sizes than the weights have bytes.
    """
    files = [_weights(name, path) for path in sorted(folder.glob("*.safetensors"))]
    if not files or not (folder / "config.json").is_file():
        return
    tensors, size = sum(file.tensors for file in files), sum(file.size for file in files)
    config = read_json(name, folder / "config.json")
    if not isinstance(config, dict):
        raise unreadable(name, f"config.json holds a {type(config).__name__} in place of an object")
    refuse_unknown_quantization(name, config)
    for key, number in _sizes(config):
        is_count_of_layers = _LAYERS.fullmatch(key)
        # Of fewer than none the library builds none, and answers at random.
        if is_count_of_layers and not 0 <= number <= max(_MOST_LAYERS, tensors):
            raise unreadable(name, f"config.json says {key} {number}; there are {tensors} tensors")
        if number > max(_MOST, size):
            raise unreadable(
                name, f"config.json says {key} {number}; the weights have {size} bytes"
            )


def refuse_unknown_quantization(name: str, config: Mapping[str, Any]) -> None:
    """Refuse weights that were quantized by a method that the installed library does not know.

    The library would skip the quantization, and answer from weights that are not read as meant.

    Raises
    ------
    ModelError
        When there is such a method.
    """
    held, library = config.get("quantization_config"), quiet_transformers()
    if held and not library.quantizers.AutoHfQuantizer.supports_quant_method(held):
        raise ModelError(
            f"`{name}` is quantized by the method {shown(held['quant_method'])}, which "
            f"transformers {library.__version__} does not know",
            expected="weights without quantization, or quantized by a method that it knows",
            fix="install a version that knows the method, or choose the model in another precision",
        )


def _weights(name: str, path: Path) -> _Weights:
    """What the header of a file says, if the file is as long as it says."""
    size = path.stat().st_size
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(_LENGTH_OF_LENGTH), "little")
            if not 2 <= length <= min(_MOST_HEADER, size - _LENGTH_OF_LENGTH):
                raise ValueError(f"a header of {length} bytes in a file of {size}")
            header = json.loads(file.read(length))
        tensors = [held for key, held in header.items() if key != "__metadata__"]
        ends = [int(held["data_offsets"][1]) for held in tensors]
    # Nested too deeply, JSON ends in a RecursionError.
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise unreadable(name, f"{path.name}: {first_line(error)}") from error
    whole = _LENGTH_OF_LENGTH + length + max(ends, default=0)
    if whole != size:
        raise unreadable(
            name,
            f"{path.name} has {size} bytes, and its header describes {whole}: it is incomplete",
        )
    return _Weights(len(tensors), size)


def _sizes(held: Any, key: str = "") -> Iterator[tuple[str, int]]:
    """Every number under a key that names a size, at any depth."""
    if isinstance(held, dict):
        for name, value in held.items():
            yield from _sizes(value, name)
    elif isinstance(held, list):
        for value in held:
            yield from _sizes(value, key)
    elif isinstance(held, int) and _SIZE.fullmatch(key) and not key.endswith("_id"):
        yield key, int(held)


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
