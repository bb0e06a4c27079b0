"""The long lists of a result in parquet files, written bit by bit and read when they are used.

A file holds the lists of one name one after the other, with a column for each field of their
records. Its own name ends in a hash of its content, so that a result never reads the file of
another one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from scope.errors import RunError
from scope.paths import sha256_of
from scope.store.files import damaged, guarded

if TYPE_CHECKING:
    import pyarrow as pa

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
    if get_origin(hint) is tuple and arguments[1:] == (Ellipsis,):
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
