"""JSONL files: one JSON object per line."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scope.data.lines import read_lines
from scope.data.sources import Row, Source
from scope.errors import DataError

_ROWS_LOOKED_AT = 1000


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

    def read(columns: Sequence[str]) -> Iterator[Row]:
        for number, fields in _objects(path):
            yield Row(number, tuple(fields.get(column) for column in columns))

    return Source(
        name=path.name,
        columns=columns,
        string_columns=tuple(
            column
            for column in columns
            if any(isinstance(fields.get(column), str) for fields in head)
        ),
        read=read,
        unit="line",
    )


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
