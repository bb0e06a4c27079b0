"""Refuses configurations that claim more than the weights hold, before anything is built."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from scope.foreign import unreadable
from scope.models.files import read_json
from scope.printing import first_line

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
    for key, number in _sizes(config):
        is_count_of_layers = _LAYERS.fullmatch(key)
        # Of fewer than none the library builds none, and answers at random.
        if is_count_of_layers and not 0 <= number <= max(_MOST_LAYERS, tensors):
            raise unreadable(name, f"config.json says {key} {number}; there are {tensors} tensors")
        if number > max(_MOST, size):
            raise unreadable(
                name, f"config.json says {key} {number}; the weights have {size} bytes"
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
