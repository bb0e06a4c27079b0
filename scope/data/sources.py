"""An opened source of texts: columns and a stream of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple

from scope.errors import DataError


class Row(NamedTuple):
    """The values of the columns asked for, and where in its source the row stands.

    ``place`` is the one-based line for text files and the zero-based row for tables.
    """

    place: int
    values: tuple[object, ...]


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


@dataclass(frozen=True, kw_only=True, slots=True)
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
        What ``Row.place`` counts.
    class_names
        The names behind the integers of a column, where the source knows them.
    """

    name: str
    columns: tuple[str, ...]
    string_columns: tuple[str, ...]
    read: Callable[[Sequence[str]], Iterator[Row]]
    unit: Literal["line", "row"]
    class_names: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def place(self, row: Row) -> str:
        """Where the row stands, for messages.

        Examples
        --------
        >>> row = Row(place=3, values=("good",))
        >>> fields = {"columns": ("text",), "string_columns": ("text",), "read": lambda _: iter(())}
        >>> Source(name="a.csv", unit="line", **fields).place(row)
        'line 3 of a.csv'
        >>> Source(name="a.parquet", unit="row", **fields).place(row)
        'row 3 of a.parquet (the first is 0)'
        """
        first = " (the first is 0)" if self.unit == "row" else ""
        return f"{self.unit} {row.place} of {self.name}{first}"
