"""The files that keep the latents of texts.

The latents of one model lie in a folder: portions of rows in files of numbers, and an index of
texts. A portion is a ``.npy`` file that is written whole and never changed. The index gives the row
and portion of a text. A portion is added after its file is complete, in one transaction: of a
process that is killed between the two nothing remains but a file that the next one overwrites. Any
number of processes may read while one writes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from scope.answers.cache import INDEX
from scope.answers.table import Table, in_cache
from scope.protocols import Precision, Progress
from scope.store.files import damaged, require_file

_SECONDS_TO_WAIT = 60.0
_SECONDS_BETWEEN_LOOKS = 1.0


class Shape(NamedTuple):
    """What all latents of a folder have in common."""

    layers: int
    width: int
    precision: Precision


class LatentPlace(NamedTuple):
    """Where a text's latents are, and whether the end of the text was left out of them."""

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
        self._path, self._index = path, path / INDEX
        with in_cache(path):
            path.mkdir(parents=True, exist_ok=True)
            with self._table():
                os.utime(path)  # when it was last used

    def _table(self) -> Table:
        return Table(self._index, self._path, _SECONDS_TO_WAIT)

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
        with in_cache(self._path):
            try:
                lock.acquire(timeout=seconds)
            except Timeout:
                return False
        return True

    @property
    def reproducible(self) -> str:
        """How equal latents are in any batch; empty if not stated."""
        return self._fact("reproducible", str) or ""

    @reproducible.setter
    def reproducible(self, statement: str) -> None:
        with self._table() as table:
            table.put("facts", "", {"reproducible": statement}, replace=True)

    @property
    def shape(self) -> Shape | None:
        """Of all latents that are kept; None where there are none."""
        shape: Shape | None = self._fact("shape", _read_shape)
        return shape

    def _fact(self, name: str, read: Any) -> Any:
        with self._table() as table:
            return table.get("facts", "", [name], read).get(name)

    def places(self, texts: Sequence[str]) -> dict[str, LatentPlace]:
        """Where the latents of those texts are that have any."""
        with self._table() as table:
            return table.get("latents", "", texts, _read_place)

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
        if (known := self.shape or shape) != shape:
            with in_cache(self._path):
                raise damaged(self._index, f"it is of {known}, where the model has {shape}")
        portion = self._fact("portions", int) or 0
        with in_cache(self._path):
            self._write(self._file(portion), _packed(latents, precision))
        places = {
            text: json.dumps([portion, row, int(truncated)])
            for row, (text, truncated) in enumerate(texts.items())
        }
        facts = {"shape": json.dumps(shape), "portions": str(portion + 1)}
        with self._table() as table:
            # The number of portions first: a file that no text names is never overwritten.
            table.put("facts", "", facts, replace=True)
            table.put("latents", "", places, replace=True)

    def rows(self, portion: int, numbers: Sequence[int], shape: Shape) -> NDArray[np.float32]:
        """Rows of a portion on disk, of which only these are read."""
        with in_cache(self._path):
            try:
                return unpacked(self.portion(portion, shape)[numbers], shape.precision)
            except IndexError as error:
                raise damaged(self._file(portion), str(error)) from error

    def portion(self, number: int, shape: Shape) -> NDArray[np.generic]:
        """A portion on disk, of which only the used part is read; see `unpacked`."""
        path = self._file(number)
        with in_cache(self._path):
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


def _read_shape(value: str) -> Shape:
    shape = Shape(*json.loads(value))
    if min(shape[:2]) < 1 or shape.precision not in get_args(Precision):
        raise ValueError(f"it is of {shape}")
    return shape


def _read_place(value: str) -> LatentPlace:
    portion, row, truncated = json.loads(value)
    if not isinstance(portion, int) or not isinstance(row, int) or min(portion, row) < 0:
        raise ValueError(f"it has the place {portion}, {row}")
    return LatentPlace(portion, row, bool(truncated))


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
