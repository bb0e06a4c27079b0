"""Parquet files: only the columns that are needed are read, a batch at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scope.data.guard import UNREADABLE
from scope.data.sources import Row, Source, require_distinct_names
from scope.errors import DataError
from scope.printing import first_line, unstorable

_BATCH = 1024


def open_parquet(path: Path) -> Source:
    """Read the schema, and the class names where `datasets` left them there."""
    with _open(path) as file:
        schema = file.schema_arrow
    require_distinct_names(schema.names, path.name)

    def read(columns: Sequence[str]) -> Iterator[Row]:
        with _open(path) as file:
            number = 0
            for batch in file.iter_batches(batch_size=_BATCH, columns=list(columns)):
                held = [batch.column(column).to_pylist() for column in columns]
                for values in zip(*held, strict=True):
                    yield Row(number, values)
                    number += 1

    return Source(
        name=path.name,
        columns=tuple(schema.names),
        string_columns=tuple(field.name for field in schema if _holds_strings(field.type)),
        read=read,
        unit="row",
        class_names=_class_names(schema.metadata),
    )


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
