"""Values by key in SQLite: what all caches of answers, predictions, vectors and latents share.

A key is a hash of sixteen bytes in place of a text, which may be long and is only looked up. Each
row has a checksum over its key and all else in it; what does not match is unknown, and is found
again.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from scope.checksums import checksum
from scope.errors import RunError
from scope.store.files import (
    damaged,
    guarded,
    opening,
    require_file,
    require_tables,
    tables_in,
)

# Below the limit on variables of any SQLite, which was 999 before version 3.32.
_KEYS_A_QUERY = 900


def key_of(content: bytes) -> bytes:
    """Sixteen bytes: two of 10**12 texts share a key with a chance of one in 10**14."""
    return blake2b(content, digest_size=16).digest()


def text_key(text: str) -> bytes:
    """The key of a text, which may hold halves of a pair of surrogates."""
    return key_of(text.encode("utf-8", "surrogatepass"))


def cache_name(fingerprint: str) -> str:
    """The name of a file or folder for what is kept under a fingerprint."""
    name = re.sub(r"[^A-Za-z0-9._-]", "-", fingerprint)
    if name != fingerprint or not name.strip("."):
        # Two fingerprints must not come to share a name.
        name = key_of(fingerprint.encode()).hex()
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


def opened(path: Path, version: int, tables: str, seconds_to_wait: float) -> sqlite3.Connection:
    """A connection to a cache's file, which is made if there is none."""
    from filelock import FileLock

    path.parent.mkdir(parents=True, exist_ok=True)
    require_file(path)
    connection = connect(path, seconds_to_wait)
    with ExitStack() as unless_prepared:
        unless_prepared.callback(connection.close)
        # SQLite does not wait where two at once turn a new file to its log of writes.
        with FileLock(path.with_suffix(".lock"), timeout=seconds_to_wait), opening(path):
            # So that space is given back when entries go; it must stand before any table.
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            make_tables(connection, path, version, tables)
            connection.execute("PRAGMA synchronous = NORMAL")
        unless_prepared.pop_all()
    return connection


@contextmanager
def in_cache(path: Path, expected: str) -> Iterator[None]:
    """Turns every error of a file or folder in the cache into one that gives a fix."""
    try:
        with guarded(path):
            yield
    except RunError as error:
        raise type(error)(
            error.found,
            expected=expected,
            fix=f"delete `{path}`, which is then rebuilt, or set the "
            "environment variable SCOPE_CACHE to another folder",
        ) from error


def look_up(
    connection: sqlite3.Connection, query: str, fixed: Sequence[object], keys: Iterable[bytes]
) -> Iterator[tuple[Any, ...]]:
    """The rows of the keys, however many these are.

    Parameters
    ----------
    query
        Ends where the keys follow in brackets; gives the key first and the checksum last.
    fixed
        What its other marks stand for.
    """
    remaining = iter(keys)
    while batch := tuple(islice(remaining, _KEYS_A_QUERY)):
        marks = ",".join("?" * len(batch))
        yield from connection.execute(f"{query} ({marks})", (*fixed, *batch))


class KeyedRows(NamedTuple):
    """Rows by their key, without key and checksum; and the keys of damaged ones."""

    whole: dict[bytes, tuple[Any, ...]]
    damaged: list[bytes]


def whole_rows(rows: Iterable[tuple[Any, ...]], *owner: str) -> KeyedRows:
    """The rows that match their checksum, which is over their owner, too."""
    found = KeyedRows({}, [])
    for key, *values, known in rows:
        if checksum(*owner, key, *values) == known:
            found.whole[key] = tuple(values)
        else:
            found.damaged.append(key)
    return found


def as_kept(value: Any) -> Any:
    r"""A value of a row as SQLite can be asked for it: of a damaged text its bytes.

    Examples
    --------
    >>> as_kept("film"), as_kept("\udcb1"), as_kept(3)
    ('film', b'\xb1', 3)
    """
    if not isinstance(value, str):
        return value
    kept = value.encode("utf-8", "surrogateescape")
    return value if kept.decode("utf-8", "replace") == value else kept
