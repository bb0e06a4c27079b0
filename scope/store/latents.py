"""The latents of one model on disk: portions of rows in files of numbers, and an index of texts.

A portion is a ``.npy`` file that is written whole and never changed. The index, in SQLite, says
which row of which portion a text has. A portion is added after its file is complete, in one
transaction: of a process that is killed between the two nothing remains but a file that the next
one overwrites. Any number of processes may read while one writes.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple, cast, get_args

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from scope.protocols import Precision, Progress
from scope.store.files import damaged, read_text, require_file, write_atomically
from scope.store.keyed import connect, in_cache, key_of, look_up, make_tables

VERSION = 3
_SECONDS_TO_WAIT = 60.0
_SECONDS_BETWEEN_LOOKS = 1.0
_LONGEST_STATEMENT = 100

_TABLES = """
CREATE TABLE shape (layers INTEGER, width INTEGER, precision TEXT);
CREATE TABLE latents (
    text BLOB PRIMARY KEY,
    portion INTEGER NOT NULL,
    row INTEGER NOT NULL,
    truncated INTEGER NOT NULL
) WITHOUT ROWID;
"""


class Shape(NamedTuple):
    """What all latents of a folder have in common."""

    layers: int
    width: int
    precision: Precision


class LatentPlace(NamedTuple):
    """Where a text's latents stand, and whether the end of the text was left out of them."""

    portion: int
    row: int
    truncated: bool


class LatentFolder:
    """The latents that are kept of one model, read in one way.

    Raises
    ------
    RunError
        When the folder cannot be written, or is damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._index = path, path / "index.sqlite"
        self._statement = path / "reproducible.txt"
        with self._in_cache():
            path.mkdir(parents=True, exist_ok=True)
            # SQLite does not wait where two at once turn a new file to its log of writes.
            lock = FileLock(path / "index.lock", timeout=_SECONDS_TO_WAIT)
            with lock, self._connected() as connection:
                make_tables(connection, self._index, VERSION, _TABLES)
            os.utime(path)  # when it was last used

    @contextmanager
    def writing(self, progress: Progress) -> Iterator[None]:
        """Only one process at a time adds latents; others wait, and then find what it has added.

        Parameters
        ----------
        progress
            Where to show that another process is waited for.
        """
        lock = FileLock(self._path / "writer.lock")
        if not self._taken(lock, 0):
            waiting = progress.task("waiting for another process to keep this model's latents", 1)
            with waiting as advance:
                while not self._taken(lock, _SECONDS_BETWEEN_LOOKS):
                    advance(0)
                advance()
        try:
            yield
        finally:
            lock.release()

    def _taken(self, lock: FileLock, seconds: float) -> bool:
        """Whether the lock is this process's after that long a wait at most."""
        with self._in_cache():
            try:
                lock.acquire(timeout=seconds)
            except Timeout:
                return False
        return True

    @property
    def reproducible(self) -> str:
        """How equal latents are in any batch; empty if not stated."""
        with self._in_cache():
            return (read_text(self._statement) or "")[:_LONGEST_STATEMENT]

    @reproducible.setter
    def reproducible(self, statement: str) -> None:
        with self._in_cache():
            write_atomically(self._statement, statement)

    @property
    def shape(self) -> Shape | None:
        """Of all latents that are kept; None where there are none."""
        with self._in_cache(), self._connected() as connection:
            found = connection.execute("SELECT layers, width, precision FROM shape").fetchone()
            if found is None:
                return None
            shape = Shape(*found)
            if not _is_count(shape.layers) or not _is_count(shape.width):
                raise damaged(self._index, f"it is of {shape}")
            if shape.precision not in get_args(Precision):
                raise damaged(self._index, f"it is of {shape}")
        return shape

    def places(self, texts: Sequence[str]) -> dict[str, LatentPlace]:
        """Where the latents of those texts stand that have any."""
        by_key = {key_of(text): text for text in texts}
        query = "SELECT text, portion, row, truncated FROM latents WHERE text IN"
        found: dict[str, LatentPlace] = {}
        with self._in_cache(), self._connected() as connection:
            for key, portion, row, truncated in look_up(connection, query, by_key):
                if not (_is_count(portion + 1) and _is_count(row + 1)):
                    raise damaged(self._index, f"it has the place {portion}, {row}")
                found[by_key[key]] = LatentPlace(portion, row, bool(truncated))
        return found

    def add(
        self, texts: Mapping[str, bool], latents: NDArray[np.float32], precision: Precision
    ) -> None:
        """Keep the latents of new texts; when this returns they survive a kill.

        Parameters
        ----------
        texts
            Whether each is truncated, in the order of the rows.
        latents
            Of shape (texts, layers, width).
        """
        shape = Shape(latents.shape[1], latents.shape[2], precision)
        if (self.shape or shape) != shape:
            with self._in_cache():
                raise damaged(self._index, f"it is of {self.shape}, where the model has {shape}")
        with self._in_cache(), self._connected() as connection:
            last = connection.execute("SELECT max(portion) FROM latents").fetchone()[0]
            portion = 0 if last is None else last + 1
            self._write(self._file(portion), _packed(latents, precision))
            places = [
                (key_of(text), portion, row, int(truncated))
                for row, (text, truncated) in enumerate(texts.items())
            ]
            with connection:
                connection.execute("DELETE FROM shape")
                connection.execute("INSERT INTO shape VALUES (?, ?, ?)", shape)
                connection.executemany("INSERT OR REPLACE INTO latents VALUES (?, ?, ?, ?)", places)

    def rows(self, portion: int, numbers: Sequence[int], shape: Shape) -> NDArray[np.float32]:
        """Rows of a portion on disk, of which only these are read."""
        with self._in_cache():
            try:
                return unpacked(self.portion(portion, shape)[numbers], shape.precision)
            except IndexError as error:
                raise damaged(self._file(portion), str(error)) from error

    def portion(self, number: int, shape: Shape) -> NDArray[np.generic]:
        """A portion on disk, of which only the used part is read; see `unpacked`."""
        path = self._file(number)
        with self._in_cache():
            require_file(path)
            try:
                rows = np.lib.format.open_memmap(path, mode="r")
            # Gone, no array, or shorter than it says.
            except (FileNotFoundError, ValueError, OverflowError, SyntaxError) as error:
                raise damaged(path, str(error)) from error
            if rows.shape[1:] != shape[:2] or rows.dtype != _stored_type(shape.precision):
                raise damaged(path, f"it holds {rows.dtype} of shape {rows.shape}")
        return cast(NDArray[np.generic], rows)

    def _file(self, portion: int) -> Path:
        return self._path / f"{portion:06}.npy"

    def _write(self, path: Path, rows: NDArray[np.generic]) -> None:
        # Not through a memory map: a full disk would kill the process in place of an error.
        unfinished = path.with_suffix(".unfinished")
        with unfinished.open("wb") as file:
            np.save(file, rows, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        require_file(self._index)
        connection = connect(self._index, _SECONDS_TO_WAIT)
        try:
            # What a commit has handed to the operating system survives the death of the process.
            connection.execute("PRAGMA synchronous = NORMAL")
            yield connection
        finally:
            connection.close()

    def _in_cache(self) -> AbstractContextManager[None]:
        return in_cache(self._path, "a folder for latents")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and value > 0


def unpacked(rows: NDArray[np.generic], precision: Precision) -> NDArray[np.float32]:
    """Numbers as they were kept, as float32 in memory.

    Examples
    --------
    >>> unpacked(np.array([0x3F80, 0xC040], dtype=np.uint16), "bfloat16").tolist()
    [1.0, -3.0]
    """
    if precision == "bfloat16":
        return (rows.astype(np.uint32) << 16).view(np.float32)
    return np.asarray(rows, dtype=np.float32)


def _packed(latents: NDArray[np.float32], precision: Precision) -> NDArray[np.generic]:
    """Of bfloat16 the upper half of each number, which is all of it."""
    if precision == "bfloat16":
        bits = np.ascontiguousarray(latents, dtype=np.float32).view(np.uint32)
        return (bits >> 16).astype(_stored_type(precision))
    return latents.astype(_stored_type(precision))


def _stored_type(precision: Precision) -> np.dtype[np.generic]:
    """How numbers of a precision are kept."""
    return np.dtype("<u2" if precision == "bfloat16" else "<f4")
