"""Data of a Python session: lists, data frames and data sets become rows that are named by content.

A `MemorySpec` is a text like any other spec, ``memory:`` and a hash, and carries its rows. So tasks
and readers, also those of plugins, take data from Python wherever they take a spec.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scope.data.sources import Source, require_distinct_names, table_source
from scope.errors import DataError
from scope.printing import shown
from scope.records import MEMORY

ACCEPTED = (
    "a path or spec, a list of texts, of (text, label) pairs or of dicts, a pandas DataFrame, or a "
    "datasets.Dataset"
)

_COLUMNS: Mapping[object, tuple[str, ...]] = {
    2: ("text", "label"),
    3: ("sentence1", "sentence2", "score"),
}
"""The columns of rows without names, by their number."""


class MemorySpec(str):
    """The spec of rows that were passed from Python; ``source`` holds them.

    Examples
    --------
    >>> spec = data_spec([("good", 1), ("bad", 0)])
    >>> spec, spec.source.columns
    ('memory:a488892e9ff3', ('text', 'label'))
    """

    source: Source

    def __new__(cls, columns: Mapping[str, Sequence[object]], names: Mapping[str, Any]) -> Any:
        """Name the rows by their content."""
        count = max(map(len, columns.values()), default=0)
        digest = hashlib.sha256(json.dumps([list(columns), names]).encode())
        for row in zip(*columns.values(), strict=True):
            digest.update(json.dumps(row, default=repr).encode() + b"\n")
        spec = super().__new__(cls, f"{MEMORY}{digest.hexdigest()[:12]}")
        spec.source = table_source(f"{spec} ({count} rows from Python)", columns, names)
        return spec

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        # What a run keeps of its data is their name.
        return str, (str.__str__(self),)


def data_spec(data: Any) -> str:
    """The spec of any data that Python users have; specs and paths stay as they are.

    Raises
    ------
    DataError
        When it is nothing of the kind, or holds no row.

    Examples
    --------
    >>> data_spec("texts.csv"), data_spec(Path("texts.csv"))
    ('texts.csv', 'texts.csv')
    >>> data_spec(["good", "bad"]) == data_spec([{"text": "good"}, {"text": "bad"}])
    True
    """
    if isinstance(data, str):
        return data
    if isinstance(data, Path):
        return str(data)
    columns, names = _table(data)
    if not columns or not any(map(len, columns.values())):
        raise DataError(f"{_kind(data)} without a row", expected=ACCEPTED, fix="check the data")
    spec: str = MemorySpec(columns, names)
    return spec


def _table(data: Any) -> tuple[dict[str, list[object]], dict[str, Any]]:
    """Columns of plain values, and the names of the classes in them."""
    kinds = [f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(data).__mro__]
    if "pandas.DataFrame" in kinds:
        require_distinct_names(list(map(str, data.columns)), "the DataFrame")
        return {str(name): _plain_all(data[name].tolist()) for name in data.columns}, {}
    if "datasets.Dataset" in kinds:
        plain = data.with_format(None)
        return {name: _plain_all(plain[name]) for name in plain.column_names}, class_names(data)
    if isinstance(data, Mapping):
        splits = ", ".join(map(str, data))
        raise DataError(
            f"{_kind(data)} with the keys {splits[:80]}",
            expected=ACCEPTED,
            fix="pass one split of a DatasetDict, such as data['test']; or a DataFrame",
        )
    # A set has an order of its own in every process, and an array may have no dimension.
    several = hasattr(data, "__iter__") and getattr(data, "ndim", 1) != 0
    # Files have lines, and tables of other libraries have columns where rows are expected.
    other = isinstance(data, bytes | set | frozenset) or hasattr(data, "columns")
    if other or not several or hasattr(data, "readline"):
        fix = "pass one of these, such as the path of a file, or data.to_pandas()"
        raise DataError(f"{_kind(data)} as the data", expected=ACCEPTED, fix=fix)
    return _columns(_plain_all(data)), {}


def class_names(dataset: Any) -> dict[str, tuple[str, ...]]:
    """The names behind the numbers of each column of classes in a data set of `datasets`."""
    return {
        name: tuple(feature.names)
        for name, feature in dataset.features.items()
        if getattr(feature, "names", None)
    }


def _columns(rows: list[Any]) -> dict[str, list[object]]:
    """The columns of a list of texts, of tuples or of dicts."""
    if all(isinstance(row, Mapping) for row in rows):
        names = dict.fromkeys(name for row in rows for name in row)
        return {str(name): [row.get(name) for row in rows] for name in names}
    if all(isinstance(row, str | None) for row in rows):
        return {"text": rows}
    forms = [len(row) if isinstance(row, list) else type(row) for row in rows]
    place = next((n for n, form in enumerate(forms) if form != forms[0]), 0)
    columns = None if place else _COLUMNS.get(forms[0])
    if columns is None:
        raise DataError(
            f"{shown(rows[place])} as row {place} of a list (the first is 0)",
            expected="in each row a text, a pair (text, label), a triple (sentence, sentence, "
            "score), or a dict",
            fix="fix the row, or pass a DataFrame with named columns",
        )
    if rows[0] == list(columns):
        rows = rows[1:]
    return {name: [row[number] for row in rows] for number, name in enumerate(columns)}


def _plain_all(values: Any) -> list[Any]:
    return [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    """A value without the types of NumPy and pandas; None where it is missing."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {name: _plain(cell) for name, cell in value.items()}
    if isinstance(value, list | tuple):
        return _plain_all(value)
    if isinstance(value, str):
        return str(value)
    missing = isinstance(value, float) and math.isnan(value)
    return None if missing or type(value).__name__ in ("NAType", "NaTType") else value


def _kind(data: object) -> str:
    return f"a {type(data).__name__}"
