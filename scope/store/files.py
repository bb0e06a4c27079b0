"""Files of a run: those replaced whole in one step, its lock, and long lists written bit by bit.

A kill leaves the old file or the new one. One process at a time may write a run. What the system
and the database report about a run folder becomes an error with a fix. A fitted object is two files
that go together: arrays as safetensors, the rest as JSON with their digest.

Long lists of a result are parquet files, read when they are used. A file holds the lists of one
name one after the other, with a column for each field of their records. Its own name ends in a hash
of its content, so that a result never reads the file of another one.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, is_dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    TextIO,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from numpy.typing import NDArray

from scope.errors import DamagedError, RunError, first_line
from scope.paths import FULL, sealed, sha256_of, unsealed
from scope.protocols import converting

if TYPE_CHECKING:
    import pyarrow as pa


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
                # The holder's file is missing for a moment.
                holder = read_text(folder / HOLDER) or "another process"
                raise RunError(
                    f"run `{folder.name}` is being written by {holder}",
                    expected="a run that no other process writes",
                    fix="wait until it has finished, or choose another name with --run",
                ) from error
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


ROWS_AT_ONCE = 1_000
"""Records that are in memory while a list is written or read."""

_HASH = 16


class LongLists:
    """The files that a result's long lists are written into.

    Parameters
    ----------
    folder
        That of the result.
    encode
        Makes the dict that stands for a record, or the number or text that an entry is.
    """

    def __init__(self, folder: Path, encode: Callable[[Any], Any]) -> None:
        self._folder, self._encode = folder, encode
        self._writers: dict[str, _Writer] = {}
        self.names: tuple[str, ...] = ()

    def put(self, name: str, entry: Any, values: Iterable[Any]) -> dict[str, object]:
        """Write a list whose entries are of this type; what names it in the result."""
        writer = self._writers.get(name)
        if writer is None:
            path = self._folder / f".{name}.{os.getpid()}.tmp"
            writer = self._writers[name] = _Writer(path, entry)
        start = writer.written
        for value in values:
            writer.add(self._encode(value))
        return {"in": name, "rows": [start, writer.written]}

    def close(self) -> dict[str, str]:
        """Give every file its name, by the name of its lists."""
        named = {}
        for name, writer in self._writers.items():
            writer.close()
            named[name] = f"{name}-{sha256_of(writer.path)[:_HASH]}.parquet"
            writer.path.replace(self._folder / named[name])
        self._writers.clear()
        self.names = tuple(named.values())
        return named

    def discard(self) -> None:
        """Remove unfinished files."""
        for writer in self._writers.values():
            writer.close()
            writer.path.unlink(missing_ok=True)


@contextmanager
def long_lists(folder: Path, encode: Callable[[Any], Any]) -> Iterator[LongLists]:
    """The files of the next result; what was begun is removed where it fails."""
    with guarded(folder):
        lists = LongLists(folder, encode)
        try:
            yield lists
        finally:
            lists.discard()


def remove_other_lists(folder: Path, kept: Iterable[str]) -> None:
    """Remove the long lists of earlier results."""
    with guarded(folder):
        for path in folder.glob(f"*-{'[0-9a-f]' * _HASH}.parquet"):
            if path.name not in kept:
                path.unlink()


class _Writer:
    """One file; ``written`` counts its rows."""

    def __init__(self, path: Path, entry: Any) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        self.path, self.written = path, 0
        self._schema = _schema(entry)
        self._single = not is_dataclass(entry)
        self._waiting: list[Any] = []
        self._bytes = path.open("wb")
        self._file = parquet.ParquetWriter(self._bytes, self._schema, compression="zstd")
        self._table = pa.Table

    def add(self, row: Any) -> None:
        self._waiting.append({"value": row} if self._single else row)
        self.written += 1
        if len(self._waiting) == ROWS_AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        self._file.write_table(self._table.from_pylist(self._waiting, schema=self._schema))
        self._waiting.clear()

    def close(self) -> None:
        if self._waiting:
            self._flush()
        self._file.close()
        # The files are on the disk before the result that names them.
        self._bytes.flush()
        os.fsync(self._bytes.fileno())
        self._bytes.close()


class ListFile:
    """A file of long lists.

    Raises
    ------
    DamagedError
        When it is missing or was changed.
    """

    def __init__(self, path: Path, entry: Any) -> None:
        self.path, self._entry = path, entry
        with guarded(path):
            if not path.is_file():
                raise damaged(path, "the file is missing")
            if not path.name.endswith(f"-{sha256_of(path)[:_HASH]}.parquet"):
                raise damaged(path, "its content does not match its name")

    @cached_property
    def _parquet(self) -> Any:
        import pyarrow as pa
        from pyarrow import parquet

        try:
            with guarded(self.path):
                file = parquet.ParquetFile(self.path)
        except pa.ArrowException as error:
            raise damaged(self.path, f"it is no parquet file ({type(error).__name__})") from error
        if not file.schema_arrow.equals(_schema(self._entry)):
            raise damaged(self.path, "its columns differ from SCoPE's")
        return file

    @property
    def rows(self) -> int:
        """How many it holds."""
        return int(self._parquet.metadata.num_rows)

    def group(self, number: int) -> list[Any]:
        """The records of one group; all groups but the last have `ROWS_AT_ONCE`."""
        with guarded(self.path):
            table = self._parquet.read_row_group(number)
        single = not is_dataclass(self._entry)
        if single:
            values: list[Any] = table.column(0).to_pylist()
            return values
        rows = _without_nothing(table.to_pylist())
        records: list[Any] = _reader(self._entry).validate_python(rows)
        return records

    def __getstate__(self) -> Mapping[str, object]:
        return {"path": self.path, "_entry": self._entry}


class StoredList(Sequence[Any]):
    """A long list of a result, read from its file whenever it is used; equal to the same tuple."""

    def __init__(self, file: ListFile, start: int, stop: int) -> None:
        if not 0 <= start <= stop <= file.rows:
            raise damaged(file.path, "it has too few rows")
        self._file, self._start, self._stop = file, start, stop
        self._group = -1
        self._rows: list[Any] = []

    def __len__(self) -> int:
        return self._stop - self._start

    def __iter__(self) -> Iterator[Any]:
        place = self._start
        while place < self._stop:
            group, first = divmod(place, ROWS_AT_ONCE)
            # What another reader of this list loads meanwhile does not matter to this one.
            rows = self._of_group(group)[first : first + self._stop - place]
            yield from rows
            place += len(rows)

    def __getitem__(self, place: Any) -> Any:
        places = range(self._start, self._stop)[place]
        if isinstance(places, range):
            return tuple(map(self._at, places))
        return self._at(places)

    def _at(self, place: int) -> Any:
        group, first = divmod(place, ROWS_AT_ONCE)
        return self._of_group(group)[first]

    def _of_group(self, group: int) -> list[Any]:
        # The last one that was used stays in memory: what is read is mostly read in order.
        if self._group != group:
            self._group, self._rows = group, self._file.group(group)
        return self._rows

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple | StoredList):
            return NotImplemented
        return len(self) == len(other) and all(
            mine == theirs for mine, theirs in zip(self, other, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, islice(self, 3)))
        return f"<{len(self)} entries: {shown}{', ...' if len(self) > 3 else ''}>"


def _schema(entry: Any) -> pa.Schema:
    import pyarrow as pa

    if not is_dataclass(entry):
        return pa.schema([("value", _column(entry))])
    return pa.schema([(name, _column(hint)) for name, hint in get_type_hints(entry).items()])


def _column(hint: Any) -> Any:
    """The type of the column that holds values of this type; every column may hold nothing."""
    import pyarrow as pa

    plain = {float: pa.float64(), int: pa.int64(), bool: pa.bool_(), str: pa.string()}
    if hint in plain:
        return plain[hint]
    if is_dataclass(hint):
        members = get_type_hints(hint).items()
        return pa.struct([(name, _column(inner)) for name, inner in members])
    arguments = get_args(hint)
    if get_origin(hint) is tuple and len({*arguments} - {Ellipsis}) == 1:
        return pa.list_(_column(arguments[0]))
    if get_origin(hint) is Literal:
        return pa.string()
    (inner,) = (argument for argument in arguments if argument is not NoneType)
    return _column(inner)


@cache
def _reader(entry: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(list[entry])


def _without_nothing(value: Any) -> Any:
    """A row without its empty columns: a record has its default there."""
    if isinstance(value, dict):
        return {key: _without_nothing(each) for key, each in value.items() if each is not None}
    return [_without_nothing(each) for each in value] if isinstance(value, list) else value


def list_files(folder: Path, files: Mapping[str, str]) -> Callable[[str, Any], ListFile]:
    """Opens the files that a result names, each once, by the name of their lists.

    Raises
    ------
    RunError
        When it names a file that is none of its own.
    """
    for name in files.values():
        if Path(name).name != name or not name.endswith(".parquet"):
            raise _not_beside(name)
    opened: dict[str, ListFile] = {}

    def file(name: str, entry: Any) -> ListFile:
        if name not in files:
            raise _not_beside(name)
        if name not in opened:
            opened[name] = ListFile(folder / files[name], entry)
        return opened[name]

    return file


def _not_beside(name: str) -> RunError:
    return RunError(
        f"a result that keeps its lists in `{name}`",
        expected="files beside it",
        fix="run the same command again, which rewrites the file",
    )
