"""What runs share by content, in one SQLite file: answers, results of searches, question vectors.

Any number of processes may read and write at once. An entry is text under a key: a hash of its
kind, its owner and its content. The owner names all that decides the value beside the content.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, NamedTuple, Self

from scope.checksums import checksum
from scope.store.keyed import in_cache, key_of, look_up, opened, whole_rows

VERSION = 1
EntryKind = Literal["answers", "searches", "vectors"]

_SECONDS_TO_WAIT = 5.0
_BYTES_BESIDE_THE_VALUE = 64
"""About what a row and its place in the index take."""

_TABLES = """
CREATE TABLE entries (
    key BLOB PRIMARY KEY,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    checksum INTEGER NOT NULL,
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

    One that does not match its checksum is removed when it is read, and found again.

    Raises
    ------
    RunError
        When the file cannot be read or written, or is damaged as a whole.

    Examples
    --------
    >>> import tempfile
    >>> with EntryFile(Path(tempfile.mkdtemp()) / "entries.sqlite") as file:
    ...     file.put("answers", "model", {"good": "0.75"})
    ...     file.get("answers", "model", ["good", "bad"]), file.get("answers", "other", ["good"])
    ({'good': '0.75'}, {})
    """

    def __init__(self, path: Path, seconds_to_wait: float = _SECONDS_TO_WAIT) -> None:
        self._path = path
        self._now = int(time.time())
        self._read: set[bytes] = set()
        with self._in_cache():
            self._connection = opened(path, VERSION, _TABLES, seconds_to_wait)

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

    def get(self, kind: EntryKind, owner: str, contents: Iterable[str]) -> dict[str, str]:
        """The values that are known, by content."""
        by_key = {_key(kind, owner, content): content for content in contents}
        with self._in_cache():
            query = "SELECT key, value, checksum FROM entries WHERE key IN"
            rows = whole_rows(look_up(self._connection, query, (), by_key))
            if rows.damaged:
                self._remove("key = ?", [(key,) for key in rows.damaged])
        self._read.update(rows.whole)
        return {by_key[key]: value for key, (value,) in rows.whole.items()}

    def put(self, kind: EntryKind, owner: str, values: Mapping[str, str]) -> None:
        """Keep values by content; when this returns they survive a kill."""
        rows = sorted((_key(kind, owner, content), value) for content, value in values.items())
        with self._in_cache(), self._connection:
            self._connection.executemany(
                "INSERT INTO entries VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [(key, kind, value, checksum(key, value), self._now) for key, value in rows],
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
        self._remove("used <= ?", [(used,)])
        self._give_space_back()

    def clear(self, kind: EntryKind) -> None:
        """Remove all entries of a kind, and give back their space."""
        self._remove("kind = ?", [(kind,)])
        self._give_space_back()

    def _remove(self, where: str, values: Sequence[tuple[object, ...]]) -> None:
        with self._in_cache(), self._connection:
            self._connection.executemany(f"DELETE FROM entries WHERE {where}", values)  # noqa: S608 - own names

    def _give_space_back(self) -> None:
        with self._in_cache():
            # As a script: executed alone, it gives back one page.
            self._connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint;")

    def _in_cache(self) -> AbstractContextManager[None]:
        return in_cache(self._path, "a file of answers that runs share")


def _key(kind: EntryKind, owner: str, content: str) -> bytes:
    return key_of(json.dumps([kind, owner, content]).encode())
