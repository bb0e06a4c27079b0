"""Whole files of a run, replaced in one step, its lock, and errors that a user can fix.

A kill leaves the old file or the new one. One process at a time may write a run. What the system
and the database report about a run folder becomes an error with a fix. A fitted object is two files
that go together: arrays as safetensors, the rest as JSON with their digest.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from scope.errors import DamagedError, RunError, first_line
from scope.paths import FULL, sealed, unsealed
from scope.untrusted import converting

_UNUSABLE = (
    *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR),
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL),
)
"""Errors of SQLite that are not the file's; all others are damage."""

# The database may fail to grow its shared memory just before it would call the disk full.
_HARDLY_ANY_BYTES = 1 << 20


@contextmanager
def guarded(path: Path) -> Iterator[None]:
    """Raise a RunError about ``path`` for every failure of the disk or the database inside.

    Examples
    --------
    >>> import errno
    >>> with guarded(Path("runs/x")):
    ...     raise OSError(errno.EROFS, "Read-only file system")
    Traceback (most recent call last):
    ...
    scope.errors.RunError: found:    `runs/x` cannot be read or written: Read-only file system
    expected: a folder that only this run writes, on a working disk
    fix:      choose another folder with --run, change its permissions, or close the program that \
has it open
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise (full(path) if error.errno in FULL else unusable(path, reason)) from error
    except sqlite3.DatabaseError as error:
        raise _from_database(path, error) from error


def _from_database(path: Path, error: sqlite3.DatabaseError) -> RunError:
    # The low byte names the kind of failure, the others its particulars.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
    no_room = code == sqlite3.SQLITE_IOERR and free_bytes(path) < _HARDLY_ANY_BYTES
    if code == sqlite3.SQLITE_FULL or no_room:
        return full(path)
    return unusable(path, str(error)) if code in _UNUSABLE else damaged(path, str(error))


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """The same while stored values are read: one that does not fit its record is damage."""
    with guarded(path):
        try:
            yield
        except (ValueError, TypeError, KeyError) as error:
            raise damaged(path, first_line(error)) from error


def require_file(path: Path) -> None:
    """Refuse a path that is neither file nor folder, such as a pipe, which has no end.

    Raises
    ------
    RunError
        When it is a pipe, a device or a socket.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise damaged(path, "it is not a file")


def damaged(path: Path, reason: str) -> DamagedError:
    """The error of a file in a run that was not written, or was changed, by anything but SCoPE."""
    return DamagedError(
        f"`{path}` is damaged: {reason}",
        expected="an unchanged file",
        fix=f"restore it from a copy, or delete the folder `{path.parent}` to start again",
    )


def full(path: Path, expected: str = "space for the rest of the run") -> RunError:
    """The error of a disk with too little room."""
    return RunError(
        f"the disk is full under `{path}`: {free_bytes(path) / 1e6:.1f} MB are free",
        expected=expected,
        fix="free some space and run the same command again; finished work is kept",
    )


def unusable(path: Path, reason: str) -> RunError:
    """The error of a file or folder that the system, or another program, keeps from this one."""
    return RunError(
        f"`{path}` cannot be read or written: {reason}",
        expected="a folder that only this run writes, on a working disk",
        fix="choose another folder with --run, change its permissions, or close the program that "
        "has it open",
    )


def free_bytes(path: Path) -> int:
    """Free bytes on the disk of the nearest folder that exists."""
    return shutil.disk_usage(nearest_folder(path)).free


def nearest_folder(path: Path) -> Path:
    """The path itself, or the first above it that exists."""
    return next(above for above in (path.absolute(), *path.absolute().parents) if above.exists())


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that every reader sees either the old content or all of the new.

    Raises
    ------
    RunError
        When the disk is full or may not be written; the old content stays.
    """
    with open_atomically(path) as file:
        file.buffer.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def open_atomically(path: Path) -> Iterator[TextIO]:
    """A text file to write to bit by bit; readers see it only when all is written.

    Raises
    ------
    RunError
        As for `write_atomically`.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with guarded(path):
        try:
            with temporary.open("w", encoding="utf-8", newline="\n") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove the half-written files of processes that were killed."""
    with guarded(folder):
        for path in filter(is_leftover, folder.iterdir()):
            path.unlink(missing_ok=True)


def is_leftover(path: Path) -> bool:
    """Whether a file of this name was being written when its process was killed."""
    return path.name.startswith(".") and path.suffix == ".tmp"


def read_text(path: Path) -> str | None:
    """Content of a text file, or None where there is no such file.

    Raises
    ------
    RunError
        When it cannot be read, or is not text.
    """
    with guarded(path):
        require_file(path)
        try:
            return path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError as error:
            raise damaged(path, "it is not UTF-8 text") from error


LOCK = "run.lock"
HOLDER = "lock.txt"


class RunLock:
    """The right to write a run folder, held from construction until `release`.

    The operating system keeps the lock and drops it when the process dies, however it dies. The
    file beside it only says who holds the lock and is believed by nobody who could take it.

    Raises
    ------
    RunError
        When another process, or another part of this one, holds the run.
    """

    def __init__(self, folder: Path) -> None:
        from filelock import FileLock, Timeout

        self._holder = folder / HOLDER
        # A lock bound to its thread could not be released by another one at exit.
        self._lock = FileLock(folder / LOCK, timeout=0, thread_local=False)
        with guarded(folder):
            try:
                self._lock.acquire()
            except Timeout as error:
                raise _held(folder) from error
        try:
            since = datetime.now(UTC).isoformat(timespec="seconds")
            holder = f"process {os.getpid()} on {platform.node()} since {since}"
            write_atomically(self._holder, holder)
        except RunError:
            self._lock.release()
            raise

    def release(self) -> None:
        """Let others write; releasing twice does nothing."""
        if not self._lock.is_locked:
            return
        try:
            with guarded(self._holder):
                self._holder.unlink(missing_ok=True)
        finally:
            self._lock.release()


def _held(folder: Path) -> RunError:
    # The holder's file is missing for a moment.
    holder = read_text(folder / HOLDER) or "another process"
    return RunError(
        f"run `{folder.name}` is being written by {holder}",
        expected="a run that no other process writes",
        fix="wait until it has finished, or choose another name with --run",
    )


Described = TypeVar("Described")

Scalar = bool | int | float | str | None
"""A parameter as JSON has it."""


@dataclass(frozen=True, kw_only=True)
class SavedParts:
    """The names of two files that go together, and how to come by them.

    ``numbers`` holds the arrays, ``description`` all else, and the digest of the other. ``origin``
    says in a few words what writes them, ``first`` what to do where there are none yet, and
    ``again`` where they are lost.
    """

    numbers: str
    description: str
    origin: str
    first: str
    again: str

    def write(self, folder: Path, arrays: Mapping[str, NDArray[Any]]) -> str:
        """Write arrays in one step, in a folder made if there is none; return their SHA-256.

        Raises
        ------
        RunError
            When the disk is full or may not be written; the old file stays.
        """
        from safetensors.numpy import save

        with guarded(folder):
            folder.mkdir(parents=True, exist_ok=True)
        content = save(dict(arrays))
        write_atomically(folder / self.numbers, content)
        return hashlib.sha256(content).hexdigest()

    def read(self, folder: Path, sha256: str) -> dict[str, NDArray[Any]]:
        """Read arrays, if the file has this digest.

        Raises
        ------
        RunError
            When there is no such file, or it was changed.
        """
        from safetensors import SafetensorError
        from safetensors.numpy import load

        path = folder / self.numbers
        with guarded(path):
            require_file(path)
            try:
                content = path.read_bytes()
            except FileNotFoundError as error:
                raise self.damaged(path, "there is no such file") from error
        if hashlib.sha256(content).hexdigest() != sha256:
            raise self.damaged(path, f"its digest is not the one in `{self.description}`")
        try:
            # Copied: the arrays that were read may be unaligned and are read-only.
            return {name: np.array(array) for name, array in load(content).items()}
        except (SafetensorError, KeyError) as error:
            # A KeyError is of a kind of number that NumPy does not have.
            raise self.damaged(path, str(error)) from error

    def describe(self, folder: Path, record: object) -> None:
        """Write a record in one step, after the arrays whose digest it holds.

        Raises
        ------
        RunError
            When the disk is full or may not be written; the old file stays.
        """
        from pydantic import TypeAdapter

        plain = TypeAdapter(type(record)).dump_python(record)
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1)
        write_atomically(folder / self.description, sealed(text + "\n"))

    def described(self, folder: Path, kind: type[Described], formats: int) -> Described:
        """Read a record of that kind, whose field ``format`` must be of this release.

        Raises
        ------
        RunError
            When there is none, or it is damaged or of another format.
        """
        from pydantic import TypeAdapter, ValidationError

        path = folder / self.description
        text = read_text(path)
        if text is None:
            raise RunError(
                f"no `{self.description}` in `{folder}`",
                expected=f"a folder that {self.origin} wrote",
                fix=f"name that folder, or {self.first}",
            )
        try:
            content = unsealed(text).text
        except ValueError as error:
            raise self.damaged(path, str(error)) from error
        try:
            # Earlier releases wrote no checksum; a broken one is an unknown field.
            return TypeAdapter(kind).validate_json(content, strict=True)
        except ValidationError as error:
            complaints = error.errors(include_url=False, include_context=False)
        # Another format outweighs all other complaints.
        for complaint in complaints:
            if complaint["loc"] == ("format",) and complaint["type"] == "literal_error":
                raise RunError(
                    f"`{path}` has format {complaint['input']!r}",
                    expected=f"format {formats}",
                    fix=f"read it with the release of SCoPE that wrote it, or {self.again}",
                )
        place = ".".join(map(str, complaints[0]["loc"]))
        where = f"at `{place}`: " if place else ""
        raise self.damaged(path, f"{where}{complaints[0]['msg']}")

    def restoring(self, folder: Path) -> AbstractContextManager[None]:
        """Report parts that cannot be reassembled as damaged, for any error."""

        def not_together(error: BaseException) -> RunError:
            reason = f"its parts do not go together ({first_line(error)})"
            return self.damaged(folder / self.description, reason)

        return converting(not_together, passing=(KeyboardInterrupt,))

    def damaged(self, path: Path, reason: str) -> RunError:
        """The error of a file that SCoPE did not write as it is."""
        return RunError(
            f"`{path}` is damaged: {reason}",
            expected=f"`{self.numbers}` and `{self.description}` as SCoPE wrote them together",
            fix=f"restore both from a copy, or {self.again}",
        )


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """An estimator's parameters as JSON has them; a search over them gives NumPy's numbers."""
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in parameters.items()
    }


def digest_of(known: object, arrays: Mapping[str, NDArray[Any]]) -> str:
    """16 hexadecimal digits: a hash of a description and its numbers."""
    digest = hashlib.sha256(repr(known).encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]
