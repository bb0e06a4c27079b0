"""The latents of one model on disk: portions of rows in files of numbers, and an index of texts.

A portion is a ``.npy`` file that is written whole and never changed. The index, in SQLite, says
which row of which portion a text has. A portion is added after its file is complete, in one
transaction: of a process that is killed between the two nothing remains but a file that the next
one overwrites. Any number of processes may read while one writes.

Each row of the index has a checksum over its text, its place and its numbers, which are compared
when a process first looks for them: those of a damaged row are unknown, and computed again.
"""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, cast, get_args

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from scope.errors import RunError
from scope.protocols import Precision, Progress
from scope.store.files import (
    damaged,
    guarded,
    opening,
    read_text,
    require_file,
    require_tables,
    tables_in,
    write_atomically,
)
from scope.store.latent_rows import Shape, is_whole, packed, row_checksum, stored_type

VERSION = 2
_SECONDS_TO_WAIT = 60.0
_SECONDS_BETWEEN_LOOKS = 1.0
_LONGEST_NAME = 100
_MOST_PORTIONS = 10**9
# Below the limit on variables of any SQLite, which was 999 before version 3.32.
_TEXTS_A_QUERY = 900

_TABLES = """
CREATE TABLE shape (layers INTEGER, width INTEGER, precision TEXT);
CREATE TABLE latents (
    text BLOB PRIMARY KEY,
    portion INTEGER NOT NULL,
    row INTEGER NOT NULL,
    truncated INTEGER NOT NULL,
    checksum INTEGER NOT NULL
) WITHOUT ROWID;
"""
_SCHEMA = f"""
PRAGMA journal_mode = WAL;
BEGIN IMMEDIATE;
{_TABLES}
PRAGMA user_version = {VERSION};
COMMIT;
"""


class LatentPlace(NamedTuple):
    """Where a text's latents stand, and whether the end of the text was left out of them."""

    portion: int
    row: int
    truncated: bool


class LatentFolder:
    """The latents that are kept of one model, read in one way.

    ``damaged`` counts the texts whose latents were found damaged.

    Raises
    ------
    RunError
        When the folder cannot be written, or is damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._index = path, path / "index.sqlite"
        self._holder = path / "writer.txt"
        self._statement = path / "reproducible.txt"
        self._damaged: set[bytes] = set()
        self._whole: dict[bytes, LatentPlace] = {}
        with self._mendable():
            path.mkdir(parents=True, exist_ok=True)
            # SQLite does not wait where two at once turn a new file to its log of writes.
            lock = FileLock(path / "index.lock", timeout=_SECONDS_TO_WAIT)
            with lock, opening(self._index), self._connected() as connection:
                version = int(connection.execute("PRAGMA user_version").fetchone()[0])
                if version not in (0, VERSION):
                    raise damaged(self._index, f"its format is {version}, {VERSION} is known")
                if version == 0 and not tables_in(connection):
                    connection.executescript(_SCHEMA)
                require_tables(connection, self._index, _TABLES)

    @property
    def damaged(self) -> int:
        """Texts whose latents are kept, and are not what was written."""
        return len(self._damaged)

    @contextmanager
    def writing(self, progress: Progress) -> Iterator[None]:
        """Only one process at a time adds latents; others wait, and then find what it has added.

        Parameters
        ----------
        progress
            Where to show which process is waited for.
        """
        lock = FileLock(self._path / "writer.lock")
        if not self._taken(lock, 0):
            waiting = progress.task(f"waiting for {self._writer()} to keep this model's latents", 1)
            with waiting as advance:
                while not self._taken(lock, _SECONDS_BETWEEN_LOOKS):
                    advance(0)
                advance()
        try:
            with self._mendable():
                write_atomically(self._holder, f"process {os.getpid()} on {platform.node()}")
            yield
        finally:
            lock.release()

    def _taken(self, lock: FileLock, seconds: float) -> bool:
        """Whether the lock is this process's after that long a wait at most."""
        with self._mendable():
            try:
                lock.acquire(timeout=seconds)
            except Timeout:
                return False
        return True

    def _writer(self) -> str:
        """The process that adds latents, in words for people: the file may be of an earlier one."""
        with self._mendable():
            return (read_text(self._holder) or "another process")[:_LONGEST_NAME]

    @property
    def reproducible(self) -> str:
        """How equal latents are in any batch; empty if not stated."""
        with self._mendable():
            return (read_text(self._statement) or "")[:_LONGEST_NAME]

    @reproducible.setter
    def reproducible(self, statement: str) -> None:
        with self._mendable():
            write_atomically(self._statement, statement)

    @property
    def shape(self) -> Shape | None:
        """Of all latents that are kept; None where there are none."""
        with self._mendable(), self._connected() as connection:
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
        """Where the latents of those texts stand that have any; of damaged ones nowhere."""
        found: dict[str, LatentPlace] = {}
        shape = self.shape
        if shape is None:
            return found
        portions: dict[object, NDArray[np.generic] | None] = {}
        with self._mendable(), self._connected() as connection:
            for start in range(0, len(texts), _TEXTS_A_QUERY):
                by_key = {_key(text): text for text in texts[start : start + _TEXTS_A_QUERY]}
                marks = ",".join("?" * len(by_key))
                query = f"SELECT * FROM latents WHERE text IN ({marks}) ORDER BY portion"  # noqa: S608 - marks only
                for key, *place, known in connection.execute(query, tuple(by_key)):
                    if key not in self._whole:
                        if place[0] not in portions:
                            portions = {place[0]: self._portion_if_whole(place[0], shape)}
                        if not is_whole(portions[place[0]], key, place, shape, known):
                            self._damaged.add(key)
                            continue
                        self._whole[key] = LatentPlace(place[0], place[1], bool(place[2]))
                    found[by_key[key]] = self._whole[key]
        return found

    def _portion_if_whole(self, number: object, shape: Shape) -> NDArray[np.generic] | None:
        if not isinstance(number, int) or not 0 <= number < _MOST_PORTIONS:
            return None
        try:
            return self.portion(number, shape)
        except RunError:
            # Whatever is wrong with the file: its rows are computed again, and kept elsewhere.
            return None

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
            with self._mendable():
                raise damaged(self._index, f"it is of {self.shape}, where the model has {shape}")
        with self._mendable(), self._connected() as connection:
            last = connection.execute(
                "SELECT max(portion) FROM latents WHERE typeof(portion) = 'integer' "
                "AND portion BETWEEN 0 AND ?",
                (_MOST_PORTIONS,),
            ).fetchone()[0]
            portion = 0 if last is None else last + 1
            rows = packed(latents, precision)
            self._write(self._file(portion), rows)
            places = [
                (_key(text), portion, row, int(truncated))
                for row, (text, truncated) in enumerate(texts.items())
            ]
            with connection:
                connection.execute("DELETE FROM shape")
                connection.execute("INSERT INTO shape VALUES (?, ?, ?)", shape)
                # What is there already is damaged.
                connection.executemany(
                    "INSERT OR REPLACE INTO latents VALUES (?, ?, ?, ?, ?)",
                    [(*place, row_checksum(*place, shape, rows)) for place in places],
                )
            for key, number, row, truncated in places:
                self._whole[key] = LatentPlace(number, row, bool(truncated))

    def portion(self, number: int, shape: Shape) -> NDArray[np.generic]:
        """A portion on disk, of which only the used part is read; see `unpacked`."""
        path = self._file(number)
        with self._mendable():
            require_file(path)
            try:
                rows = np.lib.format.open_memmap(path, mode="r")
            # Gone, no array, or shorter than it says.
            except (FileNotFoundError, ValueError, OverflowError, SyntaxError) as error:
                raise damaged(path, str(error)) from error
            if rows.shape[1:] != shape[:2] or rows.dtype != stored_type(shape.precision):
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
        connection = sqlite3.connect(self._index, timeout=_SECONDS_TO_WAIT)
        # Damaged text is to be seen, not to fail.
        connection.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
        try:
            # What a commit has handed to the operating system survives the death of the process.
            connection.execute("PRAGMA synchronous = NORMAL")
            yield connection
        finally:
            connection.close()

    @contextmanager
    def _mendable(self) -> Iterator[None]:
        """Turns every error of the folder into one that gives a fix."""
        try:
            with guarded(self._path):
                yield
        except RunError as error:
            raise RunError(
                error.found,
                expected="a folder for latents",
                fix=f"delete `{self._path}`, which is then rebuilt, or set the "
                "environment variable SCOPE_CACHE to another folder",
            ) from error


def _is_count(value: object) -> bool:
    return isinstance(value, int) and value > 0


def _key(text: str) -> bytes:
    """A hash of sixteen bytes in place of the text, which may be long."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
