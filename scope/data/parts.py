"""Rows of one table that belong to a part of it: train, development or test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from scope.data.columns import first_of
from scope.data.fields import Fields
from scope.data.sources import Source
from scope.errors import DataError
from scope.printing import listed
from scope.protocols import Part

SPLIT: Mapping[str, Sequence[str]] = MappingProxyType({"split": ("split",)})
"""The column of a row's part, as `read_fields` takes names."""

PART_NAMES: Mapping[Part, Sequence[str]] = MappingProxyType(
    {
        "train": ("train", "training"),
        "development": ("dev", "development", "validation", "valid", "val"),
        "test": ("test",),
    }
)
"""The names of each part, in any case."""

_APART = (
    "give one table per part instead of --data: --train "
    "and --test, or --test alone with a saved probe"
)


def rows_of_part(source: Source, rows: Iterable[Fields], part: Part) -> Iterator[Fields]:
    """The rows that the column ``split`` counts to the part.

    Raises
    ------
    DataError
        At once when there is no such column; after the last row when none belongs to the part.
    """
    if first_of(SPLIT["split"], source.columns) is None:
        raise DataError(
            f"no column `split` in {source.name}, which marks the rows "
            f"for {part}; its columns are {listed(source.columns)}",
            expected=f"a column called split with {' or '.join(PART_NAMES[part])} in it",
            fix=f"add the column, or {_APART}",
        )
    return _chosen(source, rows, part)


def _chosen(source: Source, rows: Iterable[Fields], part: Part) -> Iterator[Fields]:
    found = False
    others: set[str] = set()
    for fields in rows:
        split = fields.name("split") or "(empty)"
        if split.casefold() in PART_NAMES[part]:
            found = True
            yield fields
        else:
            others.add(split)
    if not found:
        raise DataError(
            f"no row for {part} in {source.name}; its column `split` holds "
            f"{listed(sorted(others), most=8)}",
            expected=f"rows with {' or '.join(PART_NAMES[part])} there",
            fix=f"rename the values, or {_APART}",
        )
