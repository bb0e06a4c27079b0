"""Files of rows: CSV and TSV, JSON, parquet; and plain text, such as books.

Rows of text files go through the standard library, one line at a time, so that a message names
the line; `docs/decisions/0025-one-reader.md` says why. What holds millions of rows is read by
column with pyarrow.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from scope.data import sources
from scope.data.sources import Source, SourceRow, UnusableRowError
from scope.errors import DataError, counted, first_line, unstorable
from scope.paths import expanded
from scope.progress import watched

_ROWS_LOOKED_AT = 1000
_HEAD = 1 << 12
_BATCH, _LARGE_BATCH = 1 << 10, 1 << 16
_DELIMITERS = (",", "\t", ";", "|")
# A quote at the beginning of a field that does not end with one in the same line.
_UNPAIRED = r'(?:^|{0})"(?!(?:[^"{1}\r\n]|"")*"(?:[{0}\r\n]|$))'
_OBJECTS = "one JSON object per line, or a list of objects"
_TEXT = ".txt"
csv.field_size_limit(sources.MOST_BYTES_A_LINE)
# Project Gutenberg's licence ends before the first mark and begins after the second.
_BEGINS = re.compile(r"\*{3}\s*START OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)
_ENDS = re.compile(r"\*{3}\s*END OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)


def open_delimited(path: Path, delimiter: str) -> Source:
    """Read the header, and the first thousand rows to tell texts from numbers.

    Where a quote at the beginning of a field has no partner at its end in the same line, as in the
    files of GLUE, quotes are marks or letters, whatever loses fewer rows.
    """
    unpaired = _unpaired(path, delimiter)
    ways: tuple[Literal[0, 3], ...] = (0, 3) if delimiter == "," else (3, 0)
    lost = ((_lost(path, delimiter, way), way) for way in ways if unpaired)
    share, quoting = min(lost, key=itemgetter(0), default=(0.0, csv.QUOTE_MINIMAL))
    note = f"quotes are read as letters: a field in line {unpaired} begins with one but has no end"
    notes: dict[str, None] = dict.fromkeys([note] if quoting else [])
    records = partial(_records, path, delimiter, quoting, notes)
    rows = records()
    header = _header(path, delimiter, next(rows, None))
    head = [row.values for row in itertools.islice(rows, _ROWS_LOOKED_AT) if not row.unusable]
    strings = (
        column
        for place, column in enumerate(header)
        if any(not _is_number(str(values[place])) for values in head)
    )

    def read(columns: Sequence[str]) -> Iterator[SourceRow]:
        places = [header.index(column) for column in columns]
        for place, values, unusable in itertools.islice(records(), 1, None):
            asked = () if unusable else tuple([values[place] for place in places])
            yield SourceRow(place, asked, unusable)

    batches = None if share or quoting else partial(_delimited_batches, path, delimiter, header)
    return Source(path.name, header, tuple(strings), read, "line", batches=batches, notes=notes)


def _delimited_batches(
    path: Path, delimiter: str, header: Sequence[str], columns: Sequence[str]
) -> Iterator[Any]:
    import pyarrow
    from pyarrow import csv as arrow_csv

    # Values stay as they are written: what looks like a number may be a name.
    kinds = dict.fromkeys(columns, pyarrow.string())
    how = arrow_csv.ReadOptions(
        use_threads=False, block_size=1 << 23, column_names=list(header), skip_rows_after_names=1
    )
    reader = arrow_csv.open_csv(
        path,
        how,
        arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        arrow_csv.ConvertOptions(include_columns=list(kinds), column_types=kinds, null_values=[]),
    )
    with reader:
        yield from watched(reader, f"reading {path.name}, in rows", None, len)


def _unpaired(path: Path, delimiter: str) -> int:
    """The first line in which a quote begins a field and none ends it; 0 if there is none."""
    unpaired = re.compile(_UNPAIRED.format(delimiter, delimiter.strip(",")))
    with closing(sources.read_lines(path)) as lines:
        quoted = ((n, line) for n, line in enumerate(lines, start=1) if '"' in line)
        return next((number for number, line in quoted if unpaired.search(line)), 0)


def _lost(path: Path, delimiter: str, quoting: Literal[0, 3]) -> float:
    """The share of lines that are no rows; all of a .csv where a quote that ends a field is one."""
    mark = '"' if quoting and delimiter == "," else "\0"
    with suppress(UnusableRowError):
        rows = _records(path, delimiter, quoting, {})
        lost = (bool(r.unusable) + 9 * any(str(v)[-1:] == mark for v in r.values) for r in rows)
        return fmean(lost)
    return 0.25  # The last row has no end: better refused than read with more rows lost.


def _header(path: Path, delimiter: str, first: SourceRow | None) -> tuple[str, ...]:
    if first is None:
        raise _empty(path, "a header line and at least one row")
    if first.unusable:
        raise first.unusable
    header = tuple(str(field).strip() for field in first.values)
    sources.require_distinct_names(header, path.name)
    other = next((mark for mark in _DELIMITERS if mark in header[0] and mark != delimiter), None)
    # Read as one column, texts would hold the labels.
    if len(header) == 1 and other is not None:
        raise DataError(
            f"one column in the header of {path.name}, {header[0][:60]!r}, where the delimiter "
            f"{other!r} would give {header[0].count(other) + 1}",
            expected=f"columns with {delimiter!r} between them, as the file name implies",
            fix="rename the file to end in .csv or .tsv, or save it with commas as .csv",
        )
    return header


def _records(
    path: Path, delimiter: str, quoting: Literal[0, 3], notes: dict[str, None]
) -> Iterator[SourceRow]:
    """Each record with its first line; unusable if it is not as wide as the first.

    Where few records hold several lines, a quote may have swallowed them: ``notes`` says so.
    """
    # A refused row must not leave the file open.
    with closing(sources.read_lines(path)) as lines:
        reader = csv.reader(lines, delimiter=delimiter, strict=True, quoting=quoting)
        rows, long = 0, list[int]()
        for begins, fields, fault in _parsed(reader):
            rows += 1
            if reader.line_num > begins:
                long.append(begins)
            if not fault:
                yield SourceRow(begins, tuple(fields))
                continue
            problem = f"{sources.place_in(path.name, 'line', begins)}: {fault}"
            expected = "fields in matching quotes, with quotes inside them doubled"
            unusable = UnusableRowError(fault, problem, expected)
            # The rest of the file is in quotes that nothing closes.
            if "end of data" in fault:
                raise unusable
            # A quote may have swallowed each of the lines.
            for line in range(begins, reader.line_num + 1):
                yield SourceRow(line, (), unusable)
    if 0 < 2 * len(long) < rows - 1:
        many = f"{counted(len(long), 'row')} with several lines, the first from line {long[0]} on"
        notes[f"{many}: if they are not one text, a quote is missing there"] = None


def _parsed(reader: Any) -> Iterator[tuple[int, list[str], str]]:
    """The first line of each record, and its fields or what is wrong with them."""
    width = 0
    while True:
        begins = reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield begins, [], f"a row that is broken: {str(error).partition(' - ')[0]}"
            continue
        width = width or len(fields)
        if len(fields) == width > 0:
            yield begins, fields, ""
        elif fields:
            fault = f"{counted(len(fields), 'field')}, where the header has {width}"
            yield begins, fields, fault


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


def open_json(path: Path) -> Source:
    """Open JSON lines, or a list in one piece of JSON, whatever the ending of the file.

    The columns are those of the first thousand objects; keys may be left out of any of them. A line
    or entry that is no object is an unusable row, texts alone are a column ``text``.
    """
    if sources.first_character(path) == "[":
        with suppress(ValueError, RecursionError):
            entries = list(enumerate(json.loads(sources.read_whole(path))))
            return _open_objects(path, "row", lambda: entries)
    return _open_objects(path, "line", lambda: _lines(path, may_be_cut=False))


def _open_objects(
    path: Path, unit: Literal["line", "row"], values: Callable[[], Iterable[tuple[int, object]]]
) -> Source:
    def rows() -> Iterator[tuple[int, dict[str, Any], UnusableRowError | None]]:
        for number, value in values():
            if isinstance(value, dict):
                # CommonsenseQA as published holds the options in the question.
                stem = value.get("question")
                yield number, value | stem if isinstance(stem, dict) else value, None
            elif isinstance(value, str):
                yield number, {"text": value}, None
            else:
                yield number, {}, _fault(path, unit, number, value)

    head = list(itertools.islice(rows(), _ROWS_LOOKED_AT))
    objects = [content for _, content, fault in head if not fault]
    if not head:
        raise _empty(path, _OBJECTS)
    if not objects and head[0][2]:
        raise head[0][2]
    columns = tuple(dict.fromkeys(itertools.chain.from_iterable(objects)))
    strings = {key for fields in objects for key, value in fields.items() if isinstance(value, str)}

    def read(asked: Sequence[str]) -> Iterator[SourceRow]:
        for number, content, fault in rows():
            yield SourceRow(number, tuple(map(content.get, asked)), fault)

    return Source(path.name, columns, tuple(filter(strings.__contains__, columns)), read, unit)


def _lines(path: Path, *, may_be_cut: bool) -> Iterator[tuple[int, Any]]:
    """The value of each line of JSON, or the error of one that cannot be read."""
    with closing(sources.read_lines(path)) as lines:
        for number, line in enumerate(lines, start=1):
            try:
                if line.strip():
                    yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                if not (may_be_cut or line.endswith("\n")):
                    raise _fault(path, "line", number, error) from error
                yield number, error


def json_rows(path: Path) -> Iterator[tuple[int, Any]]:
    """The rows of JSON lines, or of one list, counted from 1; of lines that are no JSON, why."""
    if sources.first_character(path) == "[":
        with suppress(ValueError, RecursionError):
            yield from enumerate(json.loads(sources.read_whole(path)), start=1)
            return
    yield from _lines(path, may_be_cut=True)


def read_json(path: Path) -> Any:
    """The content of a JSON file, which errors name."""
    with sources.reading(str(path)):
        return json.loads(sources.read_whole(path))


def begins_with(path: Path, endings: tuple[str, ...], key: str) -> bool:
    """Whether a file with one of the endings, packed or not, has a JSON key near its beginning."""
    if not path.name.endswith(endings):
        return False
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            return f'"{key}":'.encode() in stream.read(_HEAD)
    except (EOFError, zlib.error):
        return True  # Reading it says what is wrong.


def _fault(path: Path, unit: str, number: int, value: object) -> UnusableRowError:
    broken = isinstance(value, Exception)
    reason = "not JSON" if broken else "JSON, but not an object"
    problem = f"{reason}: {value if broken else json.dumps(value)[:60]}"
    place = sources.place_in(path.name, unit, number)
    return UnusableRowError(reason, f"{place}: {problem}", _OBJECTS)


def open_parquet(path: Path) -> Source:
    """Read the schema, and the class names where `datasets` left them there."""
    with _parquet(path) as file:
        schema = file.schema_arrow
    sources.require_distinct_names(schema.names, path.name)

    def streamed(file: Any, columns: Sequence[str], size: int) -> Iterator[Any]:
        batches = file.iter_batches(size, columns=list(columns))
        return watched(batches, f"reading {path.name}, in rows", file.metadata.num_rows, len)

    def read(columns: Sequence[str]) -> Iterator[SourceRow]:
        with _parquet(path) as file:
            yield from sources.numbered_rows(
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
    except (pyarrow.ArrowException, *sources.UNREADABLE) as error:
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


def open_text(path: Path, *, lists: bool = False) -> Source:
    """Open a file, or all files of a folder in the order of their paths.

    A row is a paragraph: the lines between two empty ones, as they stand. The column ``book`` is
    the file's path in the folder without its suffix. With ``lists``, a file without an empty line
    between two others is a list of texts, one a line.

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
    columns = ["text", "book"][: 2 - lists]
    form = "one a paragraph, that is the lines between empty ones"
    texts = list(_paragraphs(books[0][1])) if lists else []
    several_lines = any("\n" in text for text in texts)
    if by_line := len(texts) == 1:
        texts, form = texts[0].split("\n"), "one a line"
    notes = dict.fromkeys([f"read as {counted(len(texts), 'text')}, {form}"][: int(several_lines)])

    def read(asked: Sequence[str]) -> Iterator[SourceRow]:
        parts = ((book, texts if by_line else _paragraphs(file)) for book, file in books)
        rows = ((text, book) for book, part in parts for text in part)
        for number, row in enumerate(rows):
            yield SourceRow(number, tuple(row[columns.index(column)] for column in asked))

    return Source(path.name, tuple(columns), tuple(columns), read, "row", notes=notes)


def _paragraphs(file: Path) -> Iterator[str]:
    lines = [line.rstrip() for line in sources.read_lines(file)]
    begins = next((place + 1 for place, line in enumerate(lines) if _BEGINS.match(line)), 0)
    ends = next((place for place, line in enumerate(lines) if _ENDS.match(line)), len(lines))
    for filled, group in itertools.groupby(lines[begins:ends], key=bool):
        if filled:
            yield "\n".join(group)
