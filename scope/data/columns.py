"""Whole columns of a table with many rows, as numbers of their distinct values."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.data.fields import UnreadableError, read_rows
from scope.data.sources import UNREADABLE, LeftOutRows, Source, UnusableRowError
from scope.errors import DataError

Codes = NDArray[np.int32]
"""For each row the place of its value among the distinct ones; -1 where it has none."""


class WantedColumn(NamedTuple):
    """A column to be read, and what makes its values; several columns make one value together.

    ``read`` turns what the cells of a row hold into a value, None where nothing is said, or raises
    an `UnreadableError`.
    """

    columns: tuple[str, ...]
    read: Callable[..., Any]
    required: bool = False


class Coded(NamedTuple):
    """A column that was read: its distinct values, and which of them each row has."""

    values: list[Any]
    codes: Codes


class ReadColumns(NamedTuple):
    """Columns that were read, and the rows without them."""

    columns: list[Coded]
    left_out: LeftOutRows


def read_columns(source: Source, wanted: Sequence[WantedColumn]) -> ReadColumns:
    """Read columns whole: millions of rows in some seconds where pyarrow reads them.

    What pyarrow cannot read is read row by row; a row is left out in which a value cannot be read,
    or is not there and required.
    """
    import pyarrow

    if source.batches is not None and all(len(column.columns) == 1 for column in wanted):
        with suppress(pyarrow.ArrowException, *UNREADABLE, DataError):
            return ReadColumns(_by_column(source.batches, wanted), LeftOutRows())
    return _by_row(source, wanted)


class _Distinct:
    """The distinct values of a column, as they come."""

    def __init__(self, wanted: WantedColumn) -> None:
        self.wanted = wanted
        self.values: list[Any] = []
        self._known: dict[Any, int] = {}

    def code(self, *raw: object) -> int:
        value = self.wanted.read(*raw)
        if value is None:
            if self.wanted.required:
                raise UnreadableError("nothing", "a value")
            return -1
        code = self._known.setdefault(value, len(self.values))
        if code == len(self.values):
            self.values.append(value)
        return code


def _by_row(source: Source, wanted: Sequence[WantedColumn]) -> ReadColumns:
    """The columns of any source; codes are stored in arrays, as there may be many rows."""
    columns = [(_Distinct(column), array("i")) for column in wanted]
    left_out = LeftOutRows()
    names = {name: name for column in wanted for name in column.columns}
    for fields in read_rows(source, names):
        try:
            codes = [
                fields.read(first, known.code, *others)
                for known, _ in columns
                for first, *others in [known.wanted.columns]
            ]
        except UnusableRowError as error:
            left_out.add(error.reason, error.found)
            continue
        for (_, kept), code in zip(columns, codes, strict=True):
            kept.append(-1 if code is None else code)
    coded = [Coded(known.values, np.array(codes, dtype=np.int32)) for known, codes in columns]
    return ReadColumns(coded, left_out)


def _by_column(
    batches: Callable[[Sequence[str]], Iterator[Any]], wanted: Sequence[WantedColumn]
) -> list[Coded]:
    """The same by pyarrow: of each column only the distinct values go through Python."""
    import pyarrow.types

    chunks: dict[str, list[Any]] = {column.columns[0]: [] for column in wanted}
    for batch in batches(list(chunks)):
        for name, encoded in chunks.items():
            column = batch.column(name)
            # A dictionary of the file may hold values that no row has.
            if pyarrow.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            encoded.append(column.dictionary_encode())
    return [_coded(_Distinct(column), chunks[column.columns[0]]) for column in wanted]


def _coded(distinct: _Distinct, chunks: list[Any]) -> Coded:
    import pyarrow

    if not chunks:
        return Coded([], np.zeros(0, dtype=np.int32))
    chunks = pyarrow.chunked_array(chunks).unify_dictionaries().chunks
    codes = [distinct.code(value) for value in chunks[-1].dictionary.to_pylist()]
    rows = np.concatenate([chunk.indices.fill_null(-1).to_numpy() for chunk in chunks])
    # A null's place is -1, where the last code stands.
    codes.append(distinct.code(None) if (rows < 0).any() else -1)
    return Coded(distinct.values, np.array(codes, dtype=np.int32)[rows])
