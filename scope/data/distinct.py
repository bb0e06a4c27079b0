"""Whole columns of a table: each distinct value once, and which of them every row has."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.data.fields import UnreadableError
from scope.data.lines import UNREADABLE
from scope.data.sources import Source
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


def read_columns(source: Source, wanted: Sequence[WantedColumn], fix: str) -> list[Coded]:
    """Read columns whole: millions of rows in some seconds where pyarrow reads them.

    Whatever it meets that cannot be read, the reader that goes row by row says in which line it
    stands, or reads it.

    Raises
    ------
    DataError
        When a value cannot be read, or is not there and required; with its line or row, and how
        to ``fix`` it.
    """
    import pyarrow

    if source.batches is not None and all(len(one.columns) == 1 for one in wanted):
        with suppress(pyarrow.ArrowException, *UNREADABLE, DataError):
            return _by_column(source.batches, wanted)
    return _by_row(source, wanted, fix)


class _Distinct:
    """The distinct values of a column, as they come."""

    def __init__(self, wanted: WantedColumn) -> None:
        self.wanted = wanted
        self.values: list[Any] = []
        self._known: dict[Any, int] = {}

    def code(self, *raw: object) -> int:
        value = self.wanted.read(*raw)
        if value is None and self.wanted.required:
            raise UnreadableError("nothing", "a value in every row")
        if value is None:
            return -1
        code = self._known.setdefault(value, len(self.values))
        if code == len(self.values):
            self.values.append(value)
        return code


def _by_row(source: Source, wanted: Sequence[WantedColumn], fix: str) -> list[Coded]:
    """Any source; codes stand in arrays, for the rows may be many."""
    distinct = [_Distinct(one) for one in wanted]
    codes = [array("i") for _ in wanted]
    for row in source.read([column for one in wanted for column in one.columns]):
        values = iter(row.values)
        for one, held in zip(distinct, codes, strict=True):
            try:
                held.append(one.code(*(next(values) for _ in one.wanted.columns)))
            except UnreadableError as error:
                columns = " or ".join(f"`{column}`" for column in one.wanted.columns)
                raise error.at(source.place(row), columns, fix) from error
    return [
        Coded(one.values, np.array(held, dtype=np.int32))
        for one, held in zip(distinct, codes, strict=True)
    ]


def _by_column(
    batches: Callable[[Sequence[str]], Iterator[Any]], wanted: Sequence[WantedColumn]
) -> list[Coded]:
    """The same by pyarrow: of each column only the distinct values go through Python."""
    columns = list(dict.fromkeys(one.columns[0] for one in wanted))
    encoded = [[_encoded(batch.column(name)) for name in columns] for batch in batches(columns)]
    return [
        _coded(one, (batch[columns.index(one.columns[0])] for batch in encoded)) for one in wanted
    ]


def _encoded(column: Any) -> Any:
    """The column by its distinct values; a dictionary of its own may hold some that no row has."""
    import pyarrow.types

    if pyarrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.dictionary_encode()


def _coded(wanted: WantedColumn, portions: Iterable[Any]) -> Coded:
    import pyarrow

    distinct = _Distinct(wanted)
    chunks = list(portions)
    if not chunks:
        return Coded([], np.zeros(0, dtype=np.int32))
    chunks = pyarrow.chunked_array(chunks).unify_dictionaries().chunks
    # The last one is found at the place -1, which stands for a null.
    means = [distinct.code(value) for value in chunks[-1].dictionary.to_pylist()]
    rows = np.concatenate([one.indices.fill_null(-1).to_numpy() for one in chunks])
    nothing = distinct.code(None) if (rows < 0).any() else -1
    return Coded(distinct.values, np.array([*means, nothing], dtype=np.int32)[rows])
