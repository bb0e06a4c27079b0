"""All caches in SCoPE's folder: what they hold, how large they may grow, and how they are cleared.

Answers, searches and vectors lie in one file, latents in a folder a model.
Where they are larger than their limit, what was not used for the longest time goes first.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from scope.answers.table import Table
from scope.errors import DamagedError, RunError, SpecError
from scope.store.files import guarded

CacheKind = Literal["answers", "searches", "vectors", "latents"]
"""What is kept across runs: answers of models, results of searches, vectors of questions, and
latents of texts."""

DEFAULT_LIMIT = "5 GB"

INDEX = "index.sqlite"
"""The table of a folder of latents."""

SECONDS_IN_USE = 24 * 3600
"""Latents that were opened so recently may be in use: they are not removed for their size."""

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


class CacheSize(NamedTuple):
    """How many entries a cache has, and about how many bytes they take."""

    kind: CacheKind
    entries: int
    bytes: int


class _Removable(NamedTuple):
    """What goes at once, and when it was last used, in seconds since 1970."""

    used: float
    bytes: int
    remove: Callable[[], None]


def answer_file(folder: Path) -> Path:
    """The file of the answers, searches and vectors that runs share."""
    return folder / "shared-answers.sqlite"


def shared_table(folder: Path, seconds_to_wait: float | None = None) -> Table:
    """The table that runs share.

    Raises
    ------
    RunError
        When it is damaged, or cannot be read or written.
    """
    return Table(answer_file(folder), answer_file(folder), seconds_to_wait)


def latent_folders(folder: Path) -> Path:
    """The folder of the latents, a folder a model."""
    return folder / "latents"


def size_limit() -> int:
    """The most bytes of the folder: the variable SCOPE_CACHE_LIMIT, such as 500MB.

    Raises
    ------
    SpecError
        When the variable is no size.
    """
    given = os.environ.get("SCOPE_CACHE_LIMIT") or DEFAULT_LIMIT
    read = re.fullmatch(r"(\d+(?:\.\d+)?) *([KMGT]?)B?", given.strip(), re.IGNORECASE)
    if read is None:
        raise SpecError(
            f"SCOPE_CACHE_LIMIT={given}",
            expected="a number of bytes, or of KB, MB, GB or TB; 0 shares nothing across runs",
            fix="write for example SCOPE_CACHE_LIMIT=5GB, or unset it",
        )
    return int(float(read[1]) * _UNITS[read[2].upper()])


def bytes_of(path: Path) -> int:
    """The size of a file, or of all files in a folder; 0 where there is nothing."""
    if path.is_file():
        return path.stat().st_size
    return sum(_size(Path(at, name)) for at, _, names in os.walk(path) for name in names)


def _size(file: Path) -> int:
    """The size of a file; 0 of one that another process has just removed."""
    try:
        return file.lstat().st_size
    except FileNotFoundError:
        return 0


def bytes_of_caches(folder: Path) -> int:
    """The size of all files whose sum is limited."""
    return bytes_of(answer_file(folder)) + bytes_of(latent_folders(folder))


def sizes(folder: Path) -> list[CacheSize]:
    """What each cache holds.

    Raises
    ------
    RunError
        When one of them cannot be read.
    """
    found = dict.fromkeys(get_args(CacheKind), (0, 0))
    if answer_file(folder).exists():
        with shared_table(folder) as table:
            found |= {kind: table.count(kind) for kind in get_args(CacheKind)}
    with guarded(folder):
        latents = latent_folders(folder)
        found["latents"] = (sum(map(_rows, latents.glob("*/"))), bytes_of(latents))
    return [CacheSize(kind, *size) for kind, size in found.items()]


def clear_cache(folder: Path, kind: CacheKind) -> None:
    """Remove all that a cache holds. No run should be using its latents.

    Raises
    ------
    RunError
        When something cannot be removed.
    """
    if kind == "latents":
        with guarded(folder):
            for path in latent_folders(folder).glob("*/"):
                shutil.rmtree(path)
    elif answer_file(folder).exists():
        try:
            with shared_table(folder) as table:
                table.clear(kind)
        except DamagedError:
            # As a whole: nothing in it can be read, of any kind.
            with guarded(folder):
                _remove_database(answer_file(folder))


def enforce_limit(folder: Path, limit: int) -> None:
    """Remove what was not used for the longest time until the caches are within their limit.

    What else lies in the folder, such as the demo's models, does not count.

    Raises
    ------
    RunError
        When something cannot be read or removed.
    """
    with guarded(folder):
        excess = bytes_of_caches(folder) - limit
        if excess <= 0:
            return
        with shared_table(folder) as table:
            for one in sorted(_removable(folder, table), key=lambda one: one.used):
                if excess <= 0:
                    break
                one.remove()
                excess -= one.bytes


def _removable(folder: Path, table: Table) -> Iterator[_Removable]:
    for portion in table.portions():
        remove = partial(table.remove_unused_since, portion.used)
        yield _Removable(portion.used, portion.bytes, remove)
    for path in latent_folders(folder).glob("*/"):
        used = path.stat().st_mtime
        if time.time() - used > SECONDS_IN_USE:
            yield _Removable(used, bytes_of(path), partial(shutil.rmtree, path))


def _remove_database(path: Path) -> None:
    """Remove a database with the files that belong to it."""
    for ending in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    path.with_suffix(".lock").unlink(missing_ok=True)


def _rows(path: Path) -> int:
    """The texts of which a folder has latents; 0 where its index cannot be read."""
    index = path / INDEX
    if not index.is_file():
        return 0
    try:
        with Table(index, path) as table:
            return table.count("latents")[0]
    except RunError:
        return 0
