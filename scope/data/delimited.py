"""CSV and TSV files: a header line, then rows of as many fields."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from scope.data.lines import read_lines
from scope.data.sources import Row, Source, require_distinct_names
from scope.errors import DataError

_ROWS_LOOKED_AT = 1000
_DELIMITERS = {",": ".csv", "\t": ".tsv", ";": "", "|": ""}
"""Delimiters by file ending."""


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
            fix="check the program that wrote the file",
        ) from None
    header = tuple(field.strip() for field in fields)
    require_distinct_names(header, path.name)
    _require_delimiter(header, delimiter, path)
    return header, _of_width(rows, len(header), path)


def _require_delimiter(header: Sequence[str], delimiter: str, path: Path) -> None:
    """Refuse a file whose header is one column for this delimiter, and several for another.

    Read as one column, texts would hold the labels.
    """
    other = next((one for one in _DELIMITERS if one in header[0] and one != delimiter), None)
    if len(header) > 1 or other is None:
        return
    suffix = _DELIMITERS[other]
    raise DataError(
        f"one column in the header of {path.name}, {header[0][:60]!r}, where the delimiter "
        f"{other!r} would give {header[0].count(other) + 1}",
        expected=f"columns with the delimiter {delimiter!r} between them, as the file name implies",
        fix=f"rename the file to end in {suffix}"
        if suffix
        else 'save it with commas: python -c "import csv, sys; csv.writer(sys.stdout).writerows('
        f"csv.reader(sys.stdin, delimiter='{other}'))\" < {path.name} > commas.csv",
    )


def _of_width(
    rows: Iterator[tuple[int, list[str]]], width: int, path: Path
) -> Iterator[tuple[int, list[str]]]:
    for number, fields in rows:
        if len(fields) != width:
            raise DataError(
                f"{len(fields)} fields in line {number} of {path.name}",
                expected=f"{width}, as in its header",
                fix="put quotes round a field that holds the delimiter",
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
                f"the row that begins in line {begins} of {path.name} is broken: "
                f"{str(error).partition(' - ')[0]}",
                expected="fields in matching quotes, with quotes inside them doubled",
                fix="fix the line, or save the data as .jsonl",
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
