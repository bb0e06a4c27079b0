"""Values by key in SQLite: what runs and all caches of answers, vectors and latents share.

A key is a hash of sixteen bytes in place of a text, which may be long and is only looked up.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

from scope.errors import RunError
from scope.store.files import damaged, reading, require_tables, tables_in

# Below the limit on variables of any SQLite, which was 999 before version 3.32.
_KEYS_A_QUERY = 900


def key_of(text: str) -> bytes:
    """Sixteen bytes: two of 10**12 texts share a key with a chance of one in 10**14.

    The text may hold halves of a pair of surrogates.
    """
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def cache_name(fingerprint: str) -> str:
    """The name of a file or folder for what is kept under a fingerprint."""
    name = re.sub(r"[^A-Za-z0-9._-]", "-", fingerprint)
    if name != fingerprint or not name.strip("."):
        # Two fingerprints must not come to share a name.
        name = key_of(fingerprint).hex()
    return name


def connect(path: Path, seconds_to_wait: float = 5.0) -> sqlite3.Connection:
    """A connection that shows damaged text in place of failing on it."""
    connection = sqlite3.connect(path, timeout=seconds_to_wait)
    connection.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
    return connection


def make_tables(connection: sqlite3.Connection, path: Path, version: int, tables: str) -> None:
    """Make the tables of a new cache, and see that those of an old one are ours.

    Raises
    ------
    RunError
        When they are of another version, or are not those that the statements make.
    """
    found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if found not in (0, version):
        raise damaged(path, f"its format is {found}, {version} is known")
    if found == 0 and not tables_in(connection):
        connection.executescript(
            "PRAGMA journal_mode = WAL;"
            f"BEGIN IMMEDIATE; {tables} PRAGMA user_version = {version}; COMMIT;"
        )
    require_tables(connection, path, tables)


@contextmanager
def in_cache(path: Path, expected: str) -> Iterator[None]:
    """Turns every error of a file or folder in the cache into one that gives a fix."""
    try:
        with reading(path):
            yield
    except RunError as error:
        raise type(error)(
            error.found,
            expected=expected,
            fix=f"delete `{path}`, which is then rebuilt, or set the "
            "environment variable SCOPE_CACHE to another folder",
        ) from error


def look_up(
    connection: sqlite3.Connection, query: str, keys: Iterable[bytes]
) -> list[tuple[Any, ...]]:
    """The rows of the keys, however many these are.

    Parameters
    ----------
    query
        Ends where the keys follow in brackets.
    """
    remaining = iter(keys)
    rows: list[tuple[Any, ...]] = []
    while batch := tuple(islice(remaining, _KEYS_A_QUERY)):
        marks = ",".join("?" * len(batch))
        rows += connection.execute(f"{query} ({marks})", batch)
    return rows
