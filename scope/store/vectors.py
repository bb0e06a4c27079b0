"""Vectors by text, in one SQLite file for each encoder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scope.checksums import checksum
from scope.store.files import damaged
from scope.store.keyed import in_cache, look_up, opened, text_key, whole_rows

VERSION = 3
_SECONDS_TO_WAIT = 60.0
_TABLE = """
CREATE TABLE vectors (
    digest BLOB PRIMARY KEY,
    vector BLOB NOT NULL,
    checksum INTEGER NOT NULL
);
"""

Vectors = dict[str, NDArray[np.float32]]


class VectorFile:
    """Vectors by text in an SQLite file, which several processes may read and write at once.

    One that does not match its checksum is unknown, and counted in ``damaged``.

    Raises
    ------
    RunError
        When the file cannot be written, or is damaged as a whole.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._damaged: set[bytes] = set()
        with self._in_cache():
            self._connection = opened(path, VERSION, _TABLE, _SECONDS_TO_WAIT)
            os.utime(path)  # when it was last used

    @property
    def damaged(self) -> int:
        """Texts whose vector is kept, and is not what was written."""
        return len(self._damaged)

    def close(self) -> None:
        """Close the file."""
        with self._in_cache():
            self._connection.close()

    def get(self, texts: Sequence[str]) -> Vectors:
        """The vectors that are known, by text."""
        by_key = {text_key(text): text for text in texts}
        with self._in_cache():
            query = "SELECT digest, vector, checksum FROM vectors WHERE digest IN"
            rows = whole_rows(look_up(self._connection, query, (), by_key))
        self._damaged.update(rows.damaged)
        return {
            by_key[key]: np.frombuffer(vector, dtype="<f4").astype(np.float32)
            for key, (vector,) in rows.whole.items()
        }

    def put(self, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Keep vectors; when this returns they survive a kill."""
        rows = [(text_key(text), row.astype("<f4").tobytes()) for text, row in vectors.items()]
        with self._in_cache(), self._connection:
            # What is there already is damaged, or another process's, and then the same.
            self._connection.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
                [(*row, checksum(*row)) for row in rows],
            )

    def rows(self, known: Vectors, texts: Sequence[str]) -> NDArray[np.float32]:
        """What is known of the texts, as a table."""
        rows = [known[text] for text in texts]
        if len({len(row) for row in rows}) > 1:
            with self._in_cache():
                raise damaged(self._path, "its vectors differ in length")
        return np.stack(rows)

    def _in_cache(self) -> AbstractContextManager[None]:
        return in_cache(self._path, "a file for question vectors")
