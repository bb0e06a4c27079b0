"""Sources of rows: the record that every reader gives, the lines of text files, data of Python.

`reading` is the border of all readers: it turns every error of theirs into a `DataError`.

Lists, data frames and data sets of a Python session become rows that are named by content. A
`MemorySpec` is a text like any other spec, ``memory:`` and a hash, and carries its rows. So tasks
and readers, also those of plugins, take data from Python wherever they take a spec.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from scope.errors import DataError, first_line, shown
from scope.progress import watched
from scope.records import MEMORY, LeftOut

UNREADABLE = (ArithmeticError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""Errors that pyarrow and other libraries raise on damaged content."""

MOST_BYTES_A_LINE = 1 << 24
MOST_BYTES_OF_A_FILE_READ_WHOLE = 1 << 28
UNPACKED, TIMES_ITS_SIZE = 1 << 25, 200
"""A packed file is refused that unpacks to more than both; texts shrink three to ten times."""


class UnusableRowError(DataError):
    """A row that cannot be used, while others can: it is left out and counted by its ``reason``.

    ``reason`` is the same for all rows with the same fault.
    """

    def __init__(self, reason: str, problem: str, expected: str = "usable rows") -> None:
        super().__init__(problem, expected=expected, fix="fix the row, or leave it out")
        self.reason = reason


NAMED = 3
"""Rows that are named of those that are left out for one reason."""


class LeftOutRows(Counter[str]):
    """Counts the rows that cannot be used by reason, and names some of them."""

    def __init__(self) -> None:
        super().__init__()
        self._examples: defaultdict[str, list[str]] = defaultdict(list)

    def add(self, error: UnusableRowError) -> None:
        """Count a row."""
        reason = error.reason
        self[reason] += 1
        if len(self._examples[reason]) < NAMED:
            self._examples[reason].append(error.found.removesuffix(f": {reason}"))

    def commonest(self) -> tuple[LeftOut, ...]:
        """The reasons, the commonest first."""
        return tuple(
            LeftOut(reason=reason, count=count, examples=tuple(self._examples[reason]))
            for reason, count in self.most_common()
        )


class SourceRow(NamedTuple):
    """The values of the requested columns, and the position of the row in its source.

    ``place`` is the one-based line for text files and the zero-based row for tables. ``unusable``
    says why the row cannot be used.
    """

    place: int
    values: tuple[object, ...]
    unusable: UnusableRowError | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A table of texts that has been opened but not yet read.

    Parameters
    ----------
    name
        The name in messages.
    columns
        The names of all columns, in order.
    string_columns
        Those that hold strings; in a file without types, those that are not all numbers.
    read
        Streams the rows from the start, with the columns asked for in the order asked for.
    unit
        The unit of ``SourceRow.place``.
    class_names
        The names behind the integers of a column, where the source knows them.
    batches
        Streams the columns asked for as pyarrow's record batches, where that is faster. It may
        accept or refuse other damage than ``read``, which decides what a message says.
    notes
        Sentences on how the source is read where it could be read otherwise; reading may add some.
    """

    name: str
    columns: tuple[str, ...]
    string_columns: tuple[str, ...]
    read: Callable[[Sequence[str]], Iterator[SourceRow]]
    unit: Literal["line", "row"]
    class_names: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    batches: Callable[[Sequence[str]], Iterator[Any]] | None = None
    notes: dict[str, None] = field(default_factory=dict)

    def place(self, row: SourceRow) -> str:
        """Where the row stands, for messages.

        Examples
        --------
        >>> row, columns = SourceRow(place=3, values=("good",)), ("text",)
        >>> Source("a.csv", columns, columns, lambda _: iter(()), "line").place(row)
        'line 3 of a.csv'
        >>> Source("a.parquet", columns, columns, lambda _: iter(()), "row").place(row)
        'row 3 of a.parquet (the first is 0)'
        """
        return place_in(self.name, self.unit, row.place)


def place_in(name: str, unit: str, number: int) -> str:
    """Where a line or row stands, for messages."""
    return f"{unit} {number} of {name}{' (the first is 0)' if unit == 'row' else ''}"


def numbered_rows(portions: Iterable[Sequence[Sequence[object]]]) -> Iterator[SourceRow]:
    """The rows of portions that are held by column, counted from 0."""
    rows = chain.from_iterable(zip(*columns, strict=True) for columns in portions)
    return (SourceRow(number, values) for number, values in enumerate(rows))


def table_source(
    name: str,
    columns: Mapping[str, Sequence[object]],
    class_names: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> Source:
    """A table that is in memory."""
    strings = (
        column for column, values in columns.items() if any(isinstance(v, str) for v in values)
    )

    def read(asked: Sequence[str]) -> Iterator[SourceRow]:
        return numbered_rows([[columns[column] for column in asked]])

    return Source(name, tuple(columns), tuple(strings), read, "row", class_names)


def require_distinct_names(columns: Sequence[str], name: str) -> None:
    """Refuse two columns of the same name: only one of them could be read."""
    twice = sorted({column for column in columns if columns.count(column) > 1})
    if twice:
        raise DataError(
            f"column `{twice[0]}` more than once in the header of {name}",
            expected="distinct column names",
            fix="rename one of them",
        )


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn errors within into a `DataError` that names what was read.

    Examples
    --------
    >>> with reading("a.csv"):
    ...     raise ValueError("month must be in 1..12")
    Traceback (most recent call last):
        ...
    scope.errors.DataError: found:    a.csv cannot be read: ValueError: month must be in 1..12
    expected: a complete file of the type that its name implies
    fix:      check the file and the program that wrote it
    """
    try:
        yield
    except (*UNREADABLE, AttributeError) as error:  # the latter of JSON in another shape
        raise DataError(
            f"{name} cannot be read: {first_line(error)}",
            expected="a complete file of the type that its name implies",
            fix="check the file and the program that wrote it",
        ) from error


def read_lines(path: Path) -> Generator[str, None, None]:
    """The lines of a UTF-8 file, plain or gzipped, with their line ends, one at a time.

    Raises
    ------
    DataError
        Naming the line that is too long, is not UTF-8, holds a NUL byte or cannot be unpacked;
        or when lines end in carriage returns alone.
    """
    for number, line in enumerate(_raw_lines(path, MOST_BYTES_A_LINE), start=1):
        if number == 1 and b"\r" in line.strip() and not line.endswith(b"\n"):
            raise DataError(
                f"the lines of {path.name} end in carriage returns alone",
                expected="lines that end in a line feed, with or without a carriage return",
                fix=f"convert it: tr '\\r' '\\n' < {path.name} > converted{path.suffix}",
            )
        yield _decode(line, path, number)


def read_whole(path: Path) -> str:
    """The text of a UTF-8 file, plain or gzipped, of at most 256 MiB.

    Raises
    ------
    DataError
        As of `read_lines`, or when it is longer.
    """
    with reading(str(path)):
        if path.exists() and not path.is_file():
            raise ValueError("a folder, pipe or device")  # A pipe may never end.
        require_length(path.stat().st_size, MOST_BYTES_OF_A_FILE_READ_WHOLE, path.name)
    lines, size = [], 0
    for number, line in enumerate(_raw_lines(path, MOST_BYTES_OF_A_FILE_READ_WHOLE), start=1):
        size += len(line)
        require_length(size, MOST_BYTES_OF_A_FILE_READ_WHOLE, path.name)
        lines.append(_decode(line, path, number))
    return "".join(lines)


def first_character(path: Path) -> str:
    """The first character of a file, plain or packed, that is no space; empty without any."""
    opened = gzip.open if path.suffix.casefold() == ".gz" else open
    with suppress(OSError, EOFError, zlib.error):
        # A pipe would wait for somebody to write.
        if path.is_file():
            with opened(path, "rb") as stream:
                return bytes(stream.read(1024)).decode("utf-8-sig", "ignore").strip()[:1]
    return ""


def read_small_text(path: Path, most: int = 1 << 20) -> str:
    """The text of a file such as a prompt; a pipe that the shell made may be one too.

    Raises
    ------
    DataError
        When it is not a file, is longer than ``most`` bytes, is not UTF-8 or holds a NUL byte.
    """
    with reading(str(path)):
        path = path.expanduser()
        of_the_shell = path == Path("/dev/stdin") or str(path.parent) in (
            "/dev/fd",
            "/proc/self/fd",
        )
        # Reading another pipe, into which nobody writes, would never end.
        if path.exists() and not path.is_file() and not of_the_shell:
            raise DataError(
                f"{path} is not a file but a folder, pipe or device",
                expected="a text file, UTF-8",
                fix="name a file",
            )
        with path.open("rb") as stream:
            content = stream.read(most + 1)
    require_length(len(content), most, path.name)
    return _decode(content, path, 1)


def _raw_lines(path: Path, most: int) -> Iterator[bytes]:
    packed, number = path.suffix.casefold() == ".gz", 0
    try:
        with gzip.open(path, "rb") if packed else path.open("rb") as stream:
            size = path.stat().st_size
            room = max(UNPACKED, TIMES_ITS_SIZE * size)
            lines = iter(lambda: stream.readline(most + 1), b"")
            for line in watched(
                lines, f"reading {path.name}, in bytes", None if packed else size, len
            ):
                number += 1
                room -= len(line)
                if len(line) > most:
                    require_length(len(line), most, f"line {number} of {path.name}")
                if room < 0:
                    raise DataError(
                        f"{path.name} decompresses to more than {TIMES_ITS_SIZE} times its size",
                        expected="a compressed text file, which grows three to ten times",
                        fix="check how it was compressed, or decompress it first",
                    )
                yield line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"{path.name} cannot be decompressed after line {number}: {error}",
            expected="a complete gzip file",
            fix="download or compress the file again",
        ) from error


def _decode(line: bytes, path: Path, number: int) -> str:
    try:
        if b"\0" not in line:
            # Spreadsheets put a byte order mark before the name of the first column.
            return line.decode("utf-8-sig" if number == 1 else "utf-8")
        fault = f"a NUL byte in line {number} of {path.name}"
    except UnicodeDecodeError as error:
        fault = f"line {number} of {path.name} is not UTF-8 (byte 0x{line[error.start]:02x})"
    encoding = "UTF-16" if b"\0" in line else "WINDOWS-1252"
    raise DataError(
        fault,
        expected="a text file in UTF-8",
        fix=f"convert it, for example: iconv -f {encoding} -t UTF-8",
    )


def require_length(length: int, most: int, name: str) -> None:
    """Refuse what would take too much memory."""
    if length > most:
        raise DataError(
            f"{name} is longer than {most} bytes",
            expected=f"at most {most >> 20} MiB",
            fix="check the program that wrote the file; split long texts into rows",
        )


ACCEPTED = (
    "a path or spec, a list of texts, of (text, label) pairs or of dicts, a pandas DataFrame, or a "
    "datasets.Dataset"
)

_COLUMNS: Mapping[object, tuple[str, ...]] = {
    2: ("text", "label"),
    3: ("sentence1", "sentence2", "score"),
}
"""The columns of rows without names, by their number."""


class MemorySpec(str):
    """The spec of rows that were passed from Python; ``source`` holds them.

    Examples
    --------
    >>> spec = data_spec([("good", 1), ("bad", 0)])
    >>> spec, spec.source.columns
    ('memory:a488892e9ff3', ('text', 'label'))
    """

    source: Source

    def __new__(cls, columns: Mapping[str, Sequence[object]], names: Mapping[str, Any]) -> Any:
        """Name the rows by their content."""
        count = max(map(len, columns.values()), default=0)
        digest = hashlib.sha256(json.dumps([list(columns), names]).encode())
        for row in zip(*columns.values(), strict=True):
            digest.update(json.dumps(row, default=repr).encode() + b"\n")
        spec = super().__new__(cls, f"{MEMORY}{digest.hexdigest()[:12]}")
        spec.source = table_source(f"{spec} ({count} rows from Python)", columns, names)
        return spec

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        # What a run keeps of its data is their name.
        return str, (str.__str__(self),)


def data_spec(data: Any) -> str:
    """The spec of any data that Python users have; specs and paths stay as they are.

    Raises
    ------
    DataError
        When it is nothing of the kind, or holds no row.

    Examples
    --------
    >>> data_spec("texts.csv"), data_spec(Path("texts.csv"))
    ('texts.csv', 'texts.csv')
    >>> data_spec(["good", "bad"]) == data_spec([{"text": "good"}, {"text": "bad"}])
    True
    """
    if isinstance(data, str):
        return data
    if isinstance(data, Path):
        return str(data)
    columns, names = _table(data)
    if not columns or not any(map(len, columns.values())):
        raise DataError(f"{_kind(data)} without a row", expected=ACCEPTED, fix="check the data")
    spec: str = MemorySpec(columns, names)
    return spec


def _table(data: Any) -> tuple[dict[str, list[object]], dict[str, Any]]:
    """Columns of plain values, and the names of the classes in them."""
    kinds = [f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(data).__mro__]
    if "pandas.DataFrame" in kinds:
        require_distinct_names(list(map(str, data.columns)), "the DataFrame")
        return {str(name): _plain_all(data[name].tolist()) for name in data.columns}, {}
    if "datasets.Dataset" in kinds:
        plain = data.with_format(None)
        return {name: _plain_all(plain[name]) for name in plain.column_names}, class_names(data)
    if isinstance(data, Mapping):
        splits = ", ".join(map(str, data))
        raise DataError(
            f"{_kind(data)} with the keys {splits[:80]}",
            expected=ACCEPTED,
            fix="pass one split of a DatasetDict, such as data['test']; or a DataFrame",
        )
    # A set has an order of its own in every process, and an array may have no dimension.
    several = hasattr(data, "__iter__") and getattr(data, "ndim", 1) != 0
    # Files have lines, and tables of other libraries have columns where rows are expected.
    other = isinstance(data, bytes | set | frozenset) or hasattr(data, "columns")
    if other or not several or hasattr(data, "readline"):
        fix = "pass one of these, such as the path of a file, or data.to_pandas()"
        raise DataError(f"{_kind(data)} as the data", expected=ACCEPTED, fix=fix)
    return _columns(_plain_all(data)), {}


def class_names(dataset: Any) -> dict[str, tuple[str, ...]]:
    """The names behind the numbers of each column of classes in a data set of `datasets`."""
    return {
        name: tuple(feature.names)
        for name, feature in dataset.features.items()
        if getattr(feature, "names", None)
    }


def _columns(rows: list[Any]) -> dict[str, list[object]]:
    """The columns of a list of texts, of tuples or of dicts."""
    if all(isinstance(row, Mapping) for row in rows):
        names = dict.fromkeys(name for row in rows for name in row)
        return {str(name): [row.get(name) for row in rows] for name in names}
    if all(isinstance(row, str | None) for row in rows):
        return {"text": rows}
    forms = [len(row) if isinstance(row, list) else type(row) for row in rows]
    place = next((n for n, form in enumerate(forms) if form != forms[0]), 0)
    columns = None if place else _COLUMNS.get(forms[0])
    if columns is None:
        raise DataError(
            f"{shown(rows[place])} as row {place} of a list (the first is 0)",
            expected="in each row a text, a pair (text, label), a triple (sentence, sentence, "
            "score), or a dict",
            fix="fix the row, or pass a DataFrame with named columns",
        )
    if rows[0] == list(columns):
        rows = rows[1:]
    return {name: [row[number] for row in rows] for number, name in enumerate(columns)}


def _plain_all(values: Any) -> list[Any]:
    return [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    """A value without the types of NumPy and pandas; None where it is missing."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {name: _plain(cell) for name, cell in value.items()}
    if isinstance(value, list | tuple):
        return _plain_all(value)
    if isinstance(value, str):
        return str(value)
    missing = isinstance(value, float) and math.isnan(value)
    return None if missing or type(value).__name__ in ("NAType", "NaTType") else value


def _kind(data: object) -> str:
    return f"a {type(data).__name__}"
