"""Files of rows: CSV and TSV, JSON lines, parquet; and plain text, such as books.

Rows of text files go through the standard library, one line at a time, so that a message names
the line; `docs/decisions/0025-one-reader.md` says why. What holds millions of rows is read by
column with pyarrow.
"""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from scope.data.sources import (
    UNREADABLE,
    Source,
    SourceRow,
    numbered_rows,
    read_lines,
    require_distinct_names,
)
from scope.errors import DataError
from scope.paths import expanded
from scope.printing import first_line, unstorable
from scope.progress import watched

_ROWS_LOOKED_AT = 1000
_BATCH, _LARGE_BATCH = 1 << 10, 1 << 16
_BYTES_AT_ONCE = 1 << 23
_DELIMITERS = (",", "\t", ";", "|")
_TEXT = ".txt"
# Project Gutenberg's licence ends before the first mark and begins after the second.
_BEGINS = re.compile(r"\*{3}\s*START OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)
_ENDS = re.compile(r"\*{3}\s*END OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)


def open_delimited(path: Path, delimiter: str) -> Source:
    """Read the header, and the first thousand rows to tell texts from numbers."""
    header, rows = _header_and_rows(path, delimiter)
    head = list(itertools.islice(rows, _ROWS_LOOKED_AT))
    strings = (
        column
        for place, column in enumerate(header)
        if any(not _is_number(fields[place]) for _, fields in head)
    )

    def read(columns: Sequence[str]) -> Iterator[SourceRow]:
        places = [header.index(column) for column in columns]
        for number, fields in _header_and_rows(path, delimiter)[1]:
            yield SourceRow(number, tuple(fields[place] for place in places))

    def batches(columns: Sequence[str]) -> Iterator[Any]:
        import pyarrow
        from pyarrow import csv as arrow_csv

        # Values stay as they are written: what looks like a number may be a name.
        kinds = dict.fromkeys(columns, pyarrow.string())
        reader = arrow_csv.open_csv(
            path,
            arrow_csv.ReadOptions(
                use_threads=False,
                block_size=_BYTES_AT_ONCE,
                column_names=list(header),
                skip_rows_after_names=1,
            ),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                include_columns=list(kinds), column_types=kinds, null_values=[]
            ),
        )
        with reader:
            yield from watched(reader, f"reading {path.name}, in rows", None, len)

    return Source(path.name, header, tuple(strings), read, "line", batches=batches)


def _header_and_rows(
    path: Path, delimiter: str
) -> tuple[tuple[str, ...], Iterator[tuple[int, list[str]]]]:
    """The header, and each further row with the line where it begins."""
    rows = _records(path, delimiter)
    fields = next(rows, (0, None))[1]
    if fields is None:
        raise _empty(path, "a header line and at least one row")
    header = tuple(field.strip() for field in fields)
    require_distinct_names(header, path.name)
    other = next((mark for mark in _DELIMITERS if mark in header[0] and mark != delimiter), None)
    # Read as one column, texts would hold the labels.
    if len(header) == 1 and other is not None:
        raise DataError(
            f"one column in the header of {path.name}, {header[0][:60]!r}, where the delimiter "
            f"{other!r} would give {header[0].count(other) + 1}",
            expected=f"columns with {delimiter!r} between them, as the file name implies",
            fix="rename the file to end in .csv or .tsv, or save it with commas as .csv",
        )
    return header, rows


def _records(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Each record with its first line, all as wide as the first; empty lines are skipped."""
    # A refused row must not leave the file open.
    with closing(read_lines(path)) as lines:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        width = 0
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
            width = width or len(fields)
            if len(fields) not in (0, width):
                raise DataError(
                    f"{len(fields)} fields in line {begins} of {path.name}",
                    expected=f"{width}, as in its header",
                    fix="put quotes round a field that holds the delimiter",
                )
            if fields:
                yield begins, fields


def _is_number(field: str) -> bool:
    try:
        float(field.strip() or "0")
    except ValueError:
        return False
    return True


def _empty(path: Path, expected: str) -> DataError:
    return DataError(
        f"{path.name} is empty", expected=expected, fix="check the program that wrote the file"
    )


def open_jsonl(path: Path) -> Source:
    """Learn the columns from the first thousand objects; keys may be left out of any of them."""
    head = [fields for _, fields in itertools.islice(json_lines(path), _ROWS_LOOKED_AT)]
    if not head:
        raise _empty(path, "one JSON object per line")
    columns = tuple(dict.fromkeys(key for fields in head for key in fields))
    strings = {key for fields in head for key, value in fields.items() if isinstance(value, str)}

    def read(columns: Sequence[str]) -> Iterator[SourceRow]:
        for number, fields in json_lines(path):
            yield SourceRow(number, tuple(fields.get(column) for column in columns))

    return Source(path.name, columns, tuple(filter(strings.__contains__, columns)), read, "line")


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each object of a file with its line, counted from 1; empty lines are skipped."""
    with closing(read_lines(path)) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
                wrong = f"JSON, but not an object: {line.strip()[:60]}"
            except (ValueError, RecursionError) as error:
                value, wrong = None, f"not JSON: {error}"
            if not isinstance(value, dict):
                raise DataError(
                    f"line {number} of {path.name} is {wrong}",
                    expected='one JSON object per line, such as {"text": "…", "label": "…"}',
                    fix="fix the line",
                )
            yield number, value


def open_parquet(path: Path) -> Source:
    """Read the schema, and the class names where `datasets` left them there."""
    with _parquet(path) as file:
        schema = file.schema_arrow
    require_distinct_names(schema.names, path.name)

    def streamed(file: Any, columns: Sequence[str], size: int) -> Iterator[Any]:
        batches = file.iter_batches(size, columns=list(columns))
        return watched(batches, f"reading {path.name}, in rows", file.metadata.num_rows, len)

    def read(columns: Sequence[str]) -> Iterator[SourceRow]:
        with _parquet(path) as file:
            yield from numbered_rows(
                [batch.column(column).to_pylist() for column in columns]
                for batch in streamed(file, columns, _BATCH)
            )

    def batches(columns: Sequence[str]) -> Iterator[Any]:
        with _parquet(path) as file:
            yield from streamed(file, columns, _LARGE_BATCH)

    strings = tuple(field.name for field in schema if _holds_strings(field.type))
    names = _class_names(schema.metadata)
    return Source(path.name, tuple(schema.names), strings, read, "row", names, batches)


@contextmanager
def _parquet(path: Path) -> Iterator[Any]:
    """The file, open; any error, now or while reading, becomes a DataError."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            yield file
    # Strings that are not UTF-8 raise a UnicodeDecodeError only when they are taken out, dates
    # beyond the year 9999 an OverflowError.
    except (pyarrow.ArrowException, *UNREADABLE) as error:
        raise DataError(
            f"{path.name} cannot be read as parquet: {first_line(error)}",
            expected="a complete parquet file",
            fix="download or write the file again",
        ) from error


def _holds_strings(kind: Any) -> bool:
    import pyarrow.types

    if pyarrow.types.is_dictionary(kind):
        kind = kind.value_type
    return str(kind) in ("string", "large_string", "string_view")


def _class_names(metadata: Mapping[bytes, bytes] | None) -> Mapping[str, tuple[str, ...]]:
    """The names of `ClassLabel` columns, from the JSON that `datasets` writes into the schema."""
    try:
        features = json.loads((metadata or {})[b"huggingface"])["info"]["features"]
        return {
            column: tuple(feature["names"])
            for column, feature in features.items()
            if feature.get("_type") == "ClassLabel"
            and not any(unstorable(name) for name in feature["names"])
        }
    # Anyone may write anything under this key; a foreign value means that no names are known.
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def open_text(path: Path) -> Source:
    """Open a file, or all files of a folder in the order of their paths.

    A row is a paragraph: the lines between two empty ones, as they stand. The column ``book`` is
    the file's path in the folder without its suffix.

    Raises
    ------
    DataError
        When there is no such file or folder, or no .txt file in it.
    """
    path = expanded(path)
    root = path if path.is_dir() else path.parent
    books = sorted(
        (file.relative_to(root).with_suffix("").as_posix(), file)
        for file in (path.rglob("*") if path.is_dir() else [path])
        if file.is_file() and file.suffix.casefold() == _TEXT
    )
    if not books:
        why = "does not end in .txt" if path.exists() else "is not there"
        raise DataError(
            f"no .txt file in the folder {path}" if path.is_dir() else f"`{path}` {why}",
            expected="text:PATH with a .txt file, or a folder of them",
            fix="add the books as plain text" if path.exists() else "check the path",
        )
    columns = ("text", "book")

    def read(asked: Sequence[str]) -> Iterator[SourceRow]:
        rows = ((text, book) for book, file in books for text in _paragraphs(file))
        for number, row in enumerate(rows):
            yield SourceRow(number, tuple(row[columns.index(column)] for column in asked))

    return Source(path.name, columns, columns, read, "row")


def _paragraphs(file: Path) -> Iterator[str]:
    lines = [line.rstrip() for line in read_lines(file)]
    begins = next((place + 1 for place, line in enumerate(lines) if _BEGINS.match(line)), 0)
    ends = next((place for place, line in enumerate(lines) if _ENDS.match(line)), len(lines))
    for filled, group in itertools.groupby(lines[begins:ends], key=bool):
        if filled:
            yield "\n".join(group)
