"""Whole files of a run: replaced in one step, so that a kill leaves the old one or the new one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from scope.store.trouble import damaged, guarded, require_file


def write_atomically(path: Path, text: str) -> None:
    """Write a text file so that every reader sees either the old content or all of the new.

    Raises
    ------
    RunError
        When the disk is full or may not be written; the old content stays.
    """
    with open_atomically(path) as file:
        file.write(text)


@contextmanager
def open_atomically(path: Path) -> Iterator[TextIO]:
    """A text file to write to bit by bit; readers see it only when all is written.

    Raises
    ------
    RunError
        As for `write_atomically`.
    """
    with (
        guarded(path),
        _replacing(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as file,
    ):
        yield file
        file.flush()
        os.fsync(file.fileno())


def write_bytes_atomically(path: Path, content: bytes) -> None:
    """The same for a file of bytes.

    Raises
    ------
    RunError
        As for `write_atomically`.
    """
    with guarded(path), _replacing(path) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A file to write beside the one that it replaces once all is written."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove the half-written files of processes that were killed."""
    with guarded(folder):
        for path in filter(is_leftover, folder.iterdir()):
            path.unlink(missing_ok=True)


def is_leftover(path: Path) -> bool:
    """Whether a file of this name was being written when its process was killed."""
    return path.name.startswith(".") and path.suffix == ".tmp"


def read_text(path: Path) -> str | None:
    """Content of a text file, or None where there is no such file.

    Raises
    ------
    RunError
        When it cannot be read, or is not text.
    """
    with guarded(path):
        require_file(path)
        try:
            return path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError as error:
            raise damaged(path, "it is not UTF-8 text") from error
