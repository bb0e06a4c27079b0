"""What runs share by content, in one SQLite file: answers, results of searches, question vectors.

Any number of processes may read and write at once. An entry is text under a key: a hash of its
kind, its owner and its content. The owner names all that decides the value beside the content.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Literal, NamedTuple, Self, TypeVar

from scope.store.files import require_file
from scope.store.keyed import connect, in_cache, key_of, look_up, make_tables

Value = TypeVar("Value")

VERSION = 2
EntryKind = Literal["answers", "searches", "vectors"]

_SECONDS_TO_WAIT = 5.0
_BYTES_BESIDE_THE_VALUE = 64
"""About what a row and its place in the index take."""

_TABLES = """
CREATE TABLE entries (
    key BLOB PRIMARY KEY,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    used INTEGER NOT NULL
);
CREATE INDEX entries_by_use ON entries (used);
"""


class Portion(NamedTuple):
    """Entries that were last used at one time, in seconds since 1970, and their size in bytes."""

    used: int
    bytes: int


class EntryFile:
    """Entries by content, for one process.

    Raises
    ------
    RunError
        When the file cannot be read or written, or is damaged as a whole.

    Examples
    --------
    >>> import tempfile
    >>> with EntryFile(Path(tempfile.mkdtemp()) / "entries.sqlite") as file:
    ...     file.put("answers", "model", {"good": "0.75"})
    ...     file.get("answers", "model", ["good", "bad"], float)
    {'good': 0.75}
    """

    def __init__(self, path: Path, seconds_to_wait: float = _SECONDS_TO_WAIT) -> None:
        from filelock import FileLock

        self._path = path
        self._now = int(time.time())
        self._read: set[bytes] = set()
        with self._in_cache():
            path.parent.mkdir(parents=True, exist_ok=True)
            require_file(path)
            self._connection = connect(path, seconds_to_wait)
            with ExitStack() as unless_prepared:
                unless_prepared.callback(self._connection.close)
                # SQLite does not wait where two at once turn a new file to its log of writes.
                with FileLock(path.with_suffix(".lock"), timeout=seconds_to_wait):
                    # So that space is given back when entries go; it must stand before any table.
                    self._connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
                    make_tables(self._connection, path, VERSION, _TABLES)
                self._connection.execute("PRAGMA synchronous = NORMAL")
                unless_prepared.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """Note which entries were read, and close the file; closing twice does nothing."""
        keys, self._read = self._read, set()
        try:
            if keys:
                with self._in_cache(), self._connection:
                    self._connection.executemany(
                        "UPDATE entries SET used = ? WHERE key = ?",
                        [(self._now, key) for key in sorted(keys)],
                    )
        finally:
            self._connection.close()

    def abandon(self) -> None:
        """Close the file and write nothing: something is wrong with it."""
        self._connection.close()

    def get(
        self, kind: EntryKind, owner: str, contents: Iterable[str], read: Callable[[str], Value]
    ) -> dict[str, Value]:
        """The values that are known, by content, as ``read`` makes them of their text."""
        by_key = {_key(kind, owner, content): content for content in contents}
        with self._in_cache():
            query = "SELECT key, value FROM entries WHERE key IN"
            rows = look_up(self._connection, query, by_key)
            found = {by_key[key]: read(value) for key, value in rows}
        self._read.update(_key(kind, owner, content) for content in found)
        return found

    def put(self, kind: EntryKind, owner: str, values: Mapping[str, str]) -> None:
        """Keep values by content; when this returns they survive a kill."""
        rows = sorted((_key(kind, owner, content), value) for content, value in values.items())
        with self._in_cache(), self._connection:
            self._connection.executemany(
                "INSERT INTO entries VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [(key, kind, value, self._now) for key, value in rows],
            )

    def count(self, kind: EntryKind) -> tuple[int, int]:
        """How many entries of a kind there are, and their size in bytes."""
        with self._in_cache():
            entries, letters = self._connection.execute(
                "SELECT count(*), coalesce(sum(length(CAST(value AS BLOB))), 0) "
                "FROM entries WHERE kind = ?",
                (kind,),
            ).fetchone()
        return entries, letters + entries * _BYTES_BESIDE_THE_VALUE

    def portions(self) -> list[Portion]:
        """The entries by the time of their last use, the oldest first."""
        with self._in_cache():
            rows = self._connection.execute(
                "SELECT used, sum(length(CAST(value AS BLOB)) + ?) FROM entries "
                "GROUP BY used ORDER BY used",
                (_BYTES_BESIDE_THE_VALUE,),
            )
            return [Portion(*row) for row in rows]

    def remove_unused_since(self, used: int) -> None:
        """Remove the entries that were last used then or before, and give back their space."""
        self._remove("used <= ?", used)

    def clear(self, kind: EntryKind) -> None:
        """Remove all entries of a kind, and give back their space."""
        self._remove("kind = ?", kind)

    def _remove(self, where: str, value: object) -> None:
        with self._in_cache():
            with self._connection:
                self._connection.execute(f"DELETE FROM entries WHERE {where}", (value,))  # noqa: S608 - own names
            # As a script: executed alone, it gives back one page.
            self._connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint;")

    def _in_cache(self) -> AbstractContextManager[None]:
        return in_cache(self._path, "a file of answers that runs share")


def _key(kind: EntryKind, owner: str, content: str) -> bytes:
    return key_of(json.dumps([kind, owner, content]))
