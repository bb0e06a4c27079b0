"""The table that runs share in SCoPE's folder: its contents, its limit and its removal.

When the table exceeds its limit, the least recently used entries are removed first.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple, get_args

from scope.answers.table import Table
from scope.errors import DamagedError, SpecError
from scope.paths import CacheKind
from scope.store.files import guarded

DEFAULT_LIMIT = "5 GB"

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


class CacheSize(NamedTuple):
    """How many entries of a kind there are, and about how many bytes they take."""

    kind: CacheKind
    entries: int
    bytes: int


def answer_file(folder: Path) -> Path:
    """The file of all that runs share."""
    return folder / "shared-answers.sqlite"


def shared_table(folder: Path, seconds_to_wait: float | None = None) -> Table:
    """The table that runs share.

    Raises
    ------
    RunError
        When it is damaged, or cannot be read or written.
    """
    return Table(answer_file(folder), cached=True, seconds_to_wait=seconds_to_wait)


def size_limit() -> int:
    """The most bytes of the table: the variable SCOPE_CACHE_LIMIT, such as 500MB.

    Raises
    ------
    SpecError
        When the variable is not a size.
    """
    limit = os.environ.get("SCOPE_CACHE_LIMIT") or DEFAULT_LIMIT
    parts = re.fullmatch(r"(\d+(?:\.\d+)?) *([KMGT]?)B?", limit.strip(), re.IGNORECASE)
    if parts is None:
        raise SpecError(
            f"SCOPE_CACHE_LIMIT={limit}",
            expected="a number of bytes, or of KB, MB, GB or TB; 0 shares nothing across runs",
            fix="write for example SCOPE_CACHE_LIMIT=5GB, or unset it",
        )
    return int(float(parts[1]) * _UNITS[parts[2].upper()])


def bytes_of_cache(folder: Path) -> int:
    """The size of the table; 0 where there is none."""
    file = answer_file(folder)
    return file.stat().st_size if file.is_file() else 0


def sizes(folder: Path) -> list[CacheSize]:
    """What the table holds, by kind.

    Raises
    ------
    RunError
        When it cannot be read.
    """
    if not answer_file(folder).exists():
        return [CacheSize(kind, 0, 0) for kind in get_args(CacheKind)]
    with shared_table(folder) as table:
        return [CacheSize(kind, *table.count(kind)) for kind in get_args(CacheKind)]


def clear_cache(folder: Path, kind: CacheKind) -> None:
    """Remove all entries of a kind. No run should be using its latents.

    Raises
    ------
    RunError
        When something cannot be removed.
    """
    file = answer_file(folder)
    if not file.exists():
        return
    try:
        with shared_table(folder) as table:
            table.clear(kind)
    except DamagedError:
        # As a whole: nothing in it can be read, of any kind.
        with guarded(folder):
            for name in (f"{file.name}{ending}" for ending in ("", "-journal", "-wal", "-shm")):
                file.with_name(name).unlink(missing_ok=True)
            file.with_suffix(".lock").unlink(missing_ok=True)


def enforce_limit(folder: Path, limit: int) -> None:
    """Remove the least recently used entries until the table is within its limit.

    Raises
    ------
    RunError
        When something cannot be read or removed.
    """
    with guarded(folder):
        excess = bytes_of_cache(folder) - limit
    if excess <= 0:
        return
    with shared_table(folder) as table:
        table.remove_oldest(excess)
