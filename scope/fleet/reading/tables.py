"""Long tables, one answer a row, are read column by column: millions of rows in some seconds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.data.guard import UNREADABLE
from scope.data.sources import Source
from scope.data.specs import open_source
from scope.errors import DataError
from scope.fleet.reading.codes import Coded, Coder, WantedColumn
from scope.fleet.reading.values import UnreadableError
from scope.paths import expanded

_ROWS_AT_ONCE = 1 << 16
_BYTES_AT_ONCE = 1 << 23
_DELIMITERS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}


class Table(NamedTuple):
    """A table that has been opened: its source, and what was asked for of it."""

    source: Source
    spec: str


def open_table(spec: str) -> Table:
    """Open what a spec names, without reading its rows yet; see `scope.data.specs`."""
    return Table(open_source(spec), spec)


def read_columns(table: Table, wanted: Sequence[WantedColumn]) -> list[Coded]:
    """Read columns whole, each with its distinct values once.

    Files of delimited text and of parquet are read by pyarrow. Whatever it meets that cannot be
    read, the reader that goes row by row says in which line it stands, or reads it.

    Raises
    ------
    DataError
        When a value cannot be read, or is not there and required; with its line or row.
    """
    import pyarrow

    batches = _arrow_batches(table, wanted)
    if batches is not None:
        with suppress(pyarrow.ArrowException, *UNREADABLE, UnreadableError, DataError):
            return _gather(batches, wanted)
    return _gather(_row_batches(table.source, wanted), wanted)


class _Batch(NamedTuple):
    """Some rows: for each column wanted some values, and which of them each row has.

    Values stand in a list, or in one of pyarrow's arrays, each once.
    """

    columns: list[tuple[Any, NDArray[np.intp]]]
    place: Callable[[int], str]


def _gather(batches: Iterable[_Batch], wanted: Sequence[WantedColumn]) -> list[Coded]:
    coders = [Coder(one) for one in wanted]
    for batch in batches:
        for coder, (values, rows) in zip(coders, batch.columns, strict=True):
            coder.take(values, rows, batch.place)
    return [coder.coded() for coder in coders]


def _row_batches(source: Source, wanted: Sequence[WantedColumn]) -> Iterator[_Batch]:
    """Any source, row by row."""
    columns = [column for one in wanted for column in one.columns]
    starts = list(itertools.accumulate((len(one.columns) for one in wanted), initial=0))
    rows = source.read(columns)
    while portion := list(itertools.islice(rows, _ROWS_AT_ONCE)):
        held = list(zip(*(row.values for row in portion), strict=True))
        every = np.arange(len(portion))
        yield _Batch(
            [(_joined(held[start:end]), every) for start, end in itertools.pairwise(starts)],
            lambda number, portion=portion: source.place(portion[number]),  # type: ignore[misc]
        )


def _joined(columns: Sequence[Sequence[object]]) -> list[Any]:
    return list(columns[0]) if len(columns) == 1 else list(zip(*columns, strict=True))


def _arrow_batches(table: Table, wanted: Sequence[WantedColumn]) -> Iterator[_Batch] | None:
    """The same of files that pyarrow reads by column; None for others."""
    path = expanded(table.spec)
    if any(len(one.columns) != 1 for one in wanted) or not path.is_file():
        return None
    columns = [one.columns[0] for one in wanted]
    if path.name.casefold().endswith(".parquet"):
        return _coded_by_arrow(_parquet(path, columns))
    for suffix, delimiter in _DELIMITERS.items():
        if path.name.casefold().endswith(suffix):
            return _coded_by_arrow(_delimited(path, delimiter, table.source.columns, columns))
    return None


def _parquet(path: Path, columns: Sequence[str]) -> Iterator[list[Any]]:
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=list(set(columns))):
            yield [batch.column(column) for column in columns]


def _delimited(
    path: Path, delimiter: str, header: Sequence[str], columns: Sequence[str]
) -> Iterator[list[Any]]:
    import pyarrow
    from pyarrow import csv

    # Values stay as they are written: what looks like a number may be a name.
    kinds = dict.fromkeys(columns, pyarrow.string())
    reader = csv.open_csv(
        path,
        csv.ReadOptions(
            use_threads=False,
            block_size=_BYTES_AT_ONCE,
            column_names=list(header),
            skip_rows_after_names=1,
        ),
        csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        csv.ConvertOptions(include_columns=list(kinds), column_types=kinds, null_values=[]),
    )
    with reader:
        for batch in reader:
            yield [batch.column(column) for column in columns]


def _coded_by_arrow(batches: Iterable[list[Any]]) -> Iterator[_Batch]:
    import pyarrow.compute

    for columns in batches:
        encoded = [_plain(column).dictionary_encode() for column in columns]
        yield _Batch(
            [
                (
                    one.dictionary,
                    pyarrow.compute.fill_null(one.indices, -1).to_numpy().astype(np.intp),
                )
                for one in encoded
            ],
            # Never shown: where something is wrong, the file is read again, row by row.
            place=str,
        )


def _plain(column: Any) -> Any:
    """The column's values themselves, for a dictionary may hold some that no row has."""
    import pyarrow.types

    return (
        column.cast(column.type.value_type) if pyarrow.types.is_dictionary(column.type) else column
    )
