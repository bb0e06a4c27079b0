"""The rows of a table of questions: each with its values by what they mean, not by column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scope.data.columns import first_of
from scope.data.sources import Row, Source
from scope.data.values import as_id, as_label, as_text, require_storable
from scope.errors import DataError
from scope.printing import listed


@dataclass(frozen=True, slots=True)
class Fields:
    """A row: ``columns`` names the column of each meaning that the source has one for."""

    source: Source
    row: Row
    columns: Mapping[str, str]
    values: Mapping[str, object]

    def text(self, meaning: str) -> str:
        """The value as a text; empty where there is none."""
        if meaning not in self.columns:
            return ""
        return as_text(self.values[meaning], self.source, self.row, self.columns[meaning])

    def texts(self, meaning: str, values: object) -> tuple[str, ...]:
        """A list found in the value of that meaning, if it holds texts alone."""
        if not isinstance(values, list | tuple) or not all(isinstance(v, str) for v in values):
            raise self.wrong(
                f"`{self.columns[meaning]}` is {str(values)[:80]!r}", "a list of texts"
            )
        for value in values:
            require_storable(value, self.source, self.row, self.columns[meaning])
        return tuple(values)

    def name(self, meaning: str) -> str | None:
        """The value as a short name, such as a category; None where there is none."""
        if meaning not in self.columns:
            return None
        column = self.columns[meaning]
        names = self.source.class_names.get(column, ())
        return as_label(self.values[meaning], self.source, self.row, column, names)

    @property
    def id(self) -> str | None:
        """The row's own id, if it has one."""
        if "id" not in self.columns:
            return None
        return as_id(self.values["id"], self.source, self.row, self.columns["id"])

    def wrong(self, found: str, expected: str) -> DataError:
        """What to raise when a value cannot be read."""
        return DataError(
            f"{self.source.place(self.row)}: {found}",
            expected=expected,
            fix="fix the row, or leave it out",
        )


def read_fields(
    source: Source, names: Mapping[str, Sequence[str]], *, required: Sequence[str]
) -> Iterator[Fields]:
    """Every row of a source, with the columns that have one of the names of each meaning.

    Raises
    ------
    DataError
        When a required meaning has no column.
    """
    found = {meaning: first_of(known, source.columns) for meaning, known in names.items()}
    columns = {meaning: column for meaning, column in found.items() if column is not None}
    for meaning in required:
        if meaning not in columns:
            raise DataError(
                f"no column for the {meaning} in {source.name}; its columns are "
                f"{listed(source.columns)}",
                expected=f"a column called {' or '.join(names[meaning])}",
                fix="rename the column, or choose other data",
            )
    for row in source.read(list(columns.values())):
        yield Fields(source, row, columns, dict(zip(columns, row.values, strict=True)))
