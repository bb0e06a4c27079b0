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
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scope.data.lines import UNREADABLE, read_lines
from scope.data.sources import Source, SourceRow, numbered_rows, require_distinct_names
from scope.errors import DataError
from scope.paths import expanded
from scope.printing import first_line, unstorable
from scope.progress import watched

_ROWS_LOOKED_AT = 1000
_BATCH, _LARGE_BATCH = 1 << 10, 1 << 16
_BYTES_AT_ONCE = 1 << 23
_DELIMITERS = {",": ".csv", "\t": ".tsv", ";": "", "|": ""}
"""Delimiters by file ending."""
_TEXT = ".txt"
# Project Gutenberg puts its licence before the one and after the other.
_BEGINS = re.compile(r"\*{3}\s*START OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)
_ENDS = re.compile(r"\*{3}\s*END OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)


def open_delimited(path: Path, delimiter: str) -> Source:
    """Read the header, and the first thousand rows to tell texts from numbers."""
    header, rows = _start(path, delimiter)
    head = list(itertools.islice(rows, _ROWS_LOOKED_AT))
    strings = (
        column
        for place, column in enumerate(header)
        if any(not _is_number(fields[place]) for _, fields in head)
    )

    def read(columns: Sequence[str]) -> Iterator[SourceRow]:
        places = [header.index(column) for column in columns]
        for number, fields in _start(path, delimiter)[1]:
            yield SourceRow(number, tuple(fields[place] for place in places))

    def batches(columns: Sequence[str]) -> Iterator[Any]:
        return _delimited_batches(path, delimiter, header, columns)

    return Source(path.name, header, tuple(strings), read, "line", batches=batches)


def _delimited_batches(
    path: Path, delimiter: str, header: Sequence[str], columns: Sequence[str]
) -> Iterator[Any]:
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
        yield from watched(reader, f"reading {path.name}, in rows", None, len)


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


def open_jsonl(path: Path) -> Source:
    """Learn the columns from the first thousand objects; keys may be left out of any of them."""
    head = [fields for _, fields in itertools.islice(_objects(path), _ROWS_LOOKED_AT)]
    if not head:
        raise DataError(
            f"{path.name} is empty",
            expected="one JSON object per line",
            fix="check the program that wrote the file",
        )
    columns = tuple(dict.fromkeys(key for fields in head for key in fields))
    strings = {key for fields in head for key, value in fields.items() if isinstance(value, str)}

    def read(columns: Sequence[str]) -> Iterator[SourceRow]:
        for number, fields in _objects(path):
            yield SourceRow(number, tuple(fields.get(column) for column in columns))

    return Source(path.name, columns, tuple(filter(strings.__contains__, columns)), read, "line")


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        yield number, _parse(line, path, number)


def _parse(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"line {number} of {path.name} is not JSON: {error}",
            expected="one JSON object per line",
            fix="fix the line",
        ) from error
    if not isinstance(value, dict):
        raise DataError(
            f"line {number} of {path.name} is JSON, but not an object: {line.strip()[:60]}",
            expected='one JSON object per line, such as {"text": "…", "label": "…"}',
            fix="fix the line",
        )
    return value


def open_parquet(path: Path) -> Source:
    """Read the schema, and the class names where `datasets` left them there."""
    with _open(path) as file:
        schema = file.schema_arrow
    require_distinct_names(schema.names, path.name)

    def read(columns: Sequence[str]) -> Iterator[SourceRow]:
        with _open(path) as file:
            yield from numbered_rows(
                [batch.column(column).to_pylist() for column in columns]
                for batch in _batches(file, path, _BATCH, columns)
            )

    def batches(columns: Sequence[str]) -> Iterator[Any]:
        with _open(path) as file:
            yield from _batches(file, path, _LARGE_BATCH, columns)

    strings = tuple(field.name for field in schema if _holds_strings(field.type))
    names = _class_names(schema.metadata)
    return Source(path.name, tuple(schema.names), strings, read, "row", names, batches)


def _batches(file: Any, path: Path, size: int, columns: Sequence[str]) -> Iterator[Any]:
    batches = file.iter_batches(size, columns=list(columns))
    return watched(batches, f"reading {path.name}, in rows", file.metadata.num_rows, len)


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    """The file, open; whatever is wrong with it, now or while reading, becomes a DataError."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            yield file
    # Strings that are not UTF-8 show only when they are taken out, as a UnicodeDecodeError.
    # Dates beyond the year 9999 do so as an OverflowError.
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
    return bool(
        pyarrow.types.is_string(kind)
        or pyarrow.types.is_large_string(kind)
        or pyarrow.types.is_string_view(kind)
    )


def _class_names(metadata: Mapping[bytes, bytes] | None) -> Mapping[str, tuple[str, ...]]:
    """The names of `ClassLabel` columns, from the JSON that `datasets` writes into the schema."""
    try:
        features = json.loads((metadata or {})[b"huggingface"])["info"]["features"]
        return {
            column: tuple(feature["names"])
            for column, feature in features.items()
            if feature.get("_type") == "ClassLabel" and _are_names(feature["names"])
        }
    # Anyone may write anything under this key; a foreign value means that no names are known.
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _are_names(names: object) -> bool:
    return isinstance(names, list) and all(
        isinstance(name, str) and not unstorable(name) for name in names
    )


def open_text(path: Path) -> Source:
    """Open a file, or all files of a folder in the order of their paths.

    A row is a paragraph: the lines between two empty ones, as they stand. The column ``book`` is
    the file's path in the folder without its suffix.

    Raises
    ------
    DataError
        When there is no such file or folder, or no .txt file in it.
    """
    files = _text_files(expanded(path))
    columns = ("text", "book")

    def read(asked: Sequence[str]) -> Iterator[SourceRow]:
        for number, values in enumerate(
            {"text": text, "book": book} for book, file in files for text in _paragraphs(file)
        ):
            yield SourceRow(number, tuple(values[column] for column in asked))

    return Source(path.name, columns, columns, read, "row")


def _text_files(path: Path) -> list[tuple[str, Path]]:
    """The books by name."""
    if path.is_file() and path.suffix.casefold() == _TEXT:
        return [(path.stem, path)]
    if not path.is_dir():
        raise DataError(
            f"`{path}` {'does not end in .txt' if path.exists() else 'is not there'}",
            expected="text:PATH with a .txt file, or a folder of them",
            fix="rename the file" if path.exists() else "check the path",
        )
    found = sorted(
        (file.relative_to(path).with_suffix("").as_posix(), file)
        for file in path.rglob("*")
        if file.is_file() and file.suffix.casefold() == _TEXT
    )
    if not found:
        raise DataError(
            f"no .txt file in the folder {path}",
            expected="at least one, in the folder or its subfolders",
            fix="add the books as plain text, or choose another folder",
        )
    return found


def _paragraphs(file: Path) -> Iterator[str]:
    lines = [line.rstrip() for line in read_lines(file)]
    begins = next((place + 1 for place, line in enumerate(lines) if _BEGINS.match(line)), 0)
    ends = next((place for place, line in enumerate(lines) if _ENDS.match(line)), len(lines))
    for filled, group in itertools.groupby(lines[begins:ends], key=bool):
        if filled:
            yield "\n".join(group)
