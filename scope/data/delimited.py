"""CSV and TSV files: a header line, then rows of as many fields."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from scope.data.lines import read_lines
from scope.data.sources import Row, Source
from scope.errors import DataError

_ROWS_LOOKED_AT = 1000


def open_delimited(path: Path, delimiter: str) -> Source:
    """Read the header, and the first thousand rows to tell texts from numbers."""
    header, rows = _start(path, delimiter)
    head = list(itertools.islice(rows, _ROWS_LOOKED_AT))

    def read(columns: Sequence[str]) -> Iterator[Row]:
        places = [header.index(column) for column in columns]
        for number, fields in _start(path, delimiter)[1]:
            yield Row(number, tuple(fields[place] for place in places))

    return Source(
        name=path.name,
        columns=header,
        string_columns=tuple(
            column
            for place, column in enumerate(header)
            if any(not _is_number(fields[place]) for _, fields in head)
        ),
        read=read,
        unit="line",
    )


def _start(path: Path, delimiter: str) -> tuple[tuple[str, ...], Iterator[tuple[int, list[str]]]]:
    """The header, and the stream of rows after it."""
    rows = _records(path, delimiter)
    try:
        _, fields = next(rows)
    except StopIteration:
        raise DataError(
            f"{path.name} is empty",
            expected="a header line and at least one row",
            mend="look at what wrote the file",
        ) from None
    header = tuple(field.strip() for field in fields)
    twice = sorted({column for column in header if header.count(column) > 1})
    if twice:
        raise DataError(
            f"column `{twice[0]}` more than once in the header of {path.name}",
            expected="a name of its own for each column",
            mend="rename one of them",
        )
    return header, _of_width(rows, len(header), path)


def _of_width(
    rows: Iterator[tuple[int, list[str]]], width: int, path: Path
) -> Iterator[tuple[int, list[str]]]:
    for number, fields in rows:
        if len(fields) != width:
            raise DataError(
                f"{len(fields)} fields in line {number} of {path.name}",
                expected=f"{width}, as in its header",
                mend="put quotes round a field that holds the delimiter",
            )
        yield number, fields


def _records(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Each record with the line it begins on; empty lines are passed over."""
    reader = csv.reader(read_lines(path), delimiter=delimiter, strict=True)
    while True:
        begins = reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise DataError(
                f"the row that begins in line {begins} of {path.name} is broken: {error}",
                expected="fields in matching quotes, with quotes inside them doubled",
                mend="mend the line, or save the data as .jsonl",
            ) from error
        if fields:
            yield begins, fields


def _is_number(field: str) -> bool:
    if not field.strip():
        return True
    try:
        float(field)
    except ValueError:
        return False
    return True
