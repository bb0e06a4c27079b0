"""A checkpoint's files, looked at before a library opens them: none may hang or fill the memory."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scope.foreign import unreadable
from scope.printing import first_line

OTHER_FORMATS = ("onnx", "openvino", "coreml")
"""Folders with the same weights once more, which nobody reads here."""

_OTHERS = [(name,) for name in OTHER_FORMATS]
_MEBIBYTE = 2**20
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth")
_MOST_BYTES = {"tokenizer.json": 256 * _MEBIBYTE, ".model": 256 * _MEBIBYTE}
_MOST_BYTES_OF_OTHERS = 32 * _MEBIBYTE
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
    most = _MOST_BYTES.get(path.name, _MOST_BYTES.get(path.suffix, _MOST_BYTES_OF_OTHERS))
    if path.suffix not in _WEIGHTS and size > most:
        raise unreadable(
            name,
            f"{shown} has {size / _MEBIBYTE:.0f} MiB: more than {most // _MEBIBYTE} MiB are not "
            "read of such a file",
        )
