"""An opened source of texts: columns and a stream of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from scope.data.lines import reading
from scope.errors import DataError
from scope.printing import unstorable


class SourceRow(NamedTuple):
    """The values of the columns asked for, and where in its source the row stands.

    ``place`` is the one-based line for text files and the zero-based row for tables.
    """

    place: int
    values: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A table of texts that has been opened but not yet read.

    Parameters
    ----------
    name
        What to call it in messages.
    columns
        The names of all columns, in order.
    string_columns
        Those that hold strings; in a file without types, those that are not all numbers.
    read
        Streams the rows from the start, with the columns asked for in the order asked for.
    unit
        What ``SourceRow.place`` counts.
    class_names
        The names behind the integers of a column, where the source knows them.
    batches
        Streams the columns asked for as pyarrow's record batches, where that is faster. It may
        accept or refuse other damage than ``read``, which decides what a message says.
    """

    name: str
    columns: tuple[str, ...]
    string_columns: tuple[str, ...]
    read: Callable[[Sequence[str]], Iterator[SourceRow]]
    unit: Literal["line", "row"]
    class_names: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    batches: Callable[[Sequence[str]], Iterator[Any]] | None = None

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
        first = " (the first is 0)" if self.unit == "row" else ""
        return f"{self.unit} {row.place} of {self.name}{first}"


def numbered_rows(portions: Iterable[Sequence[Sequence[object]]]) -> Iterator[SourceRow]:
    """The rows of portions that are held by column, counted from 0."""
    rows = chain.from_iterable(zip(*columns, strict=True) for columns in portions)
    return (SourceRow(number, values) for number, values in enumerate(rows))


def require_distinct_names(columns: Sequence[str], name: str) -> None:
    """Refuse two columns of one name, of which only one could be read.

    Raises
    ------
    DataError
        Naming the first.
    """
    twice = sorted({column for column in columns if list(columns).count(column) > 1})
    if twice:
        raise DataError(
            f"column `{twice[0]}` more than once in the header of {name}",
            expected="distinct column names",
            fix="rename one of them",
        )


def guarded_source(source: Source) -> Source:
    """The source, where every error while its rows are read becomes a `DataError`.

    Raises
    ------
    DataError
        When the name of a column is no text that can be written.
    """
    for column in source.columns:
        if why := unstorable(column):
            raise DataError(
                f"{why} in the name of the column {column!a:.80} of {source.name}",
                expected="names that can be written as UTF-8",
                fix="rename the column",
            )

    def read(columns: Sequence[str]) -> Iterator[SourceRow]:
        with reading(source.name):
            yield from source.read(columns)

    return replace(source, read=read)
