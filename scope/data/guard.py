"""Turns every error of the readers into a `DataError`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from scope.data.sources import Row, Source
from scope.errors import DataError
from scope.printing import first_line, unstorable

UNREADABLE = (ArithmeticError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""What libraries raise on damaged or strange content; of pyarrow's errors too each is one."""


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Translate what goes wrong within, naming what was read.

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
    except UNREADABLE as error:
        raise DataError(
            f"{name} cannot be read: {first_line(error)}",
            expected="a complete file of the type that its name implies",
            fix="check the file and the program that wrote it",
        ) from error


def guarded_source(source: Source) -> Source:
    """The source, whose rows are read within the border.

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

    def read(columns: Sequence[str]) -> Iterator[Row]:
        with reading(source.name):
            yield from source.read(columns)

    return replace(source, read=read)
