"""Tables from their cells alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from reports.blocks import Column, Row, Table
from reports.prose import Written, prose
from reports.wording import Cell


def table_of(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[tuple[Written | None, ...]],
    keys: Iterable[Mapping[str, str]] = (),
    spacious: Collection[str] = (),
    **options: Any,
) -> Table | None:
    """The rows, without the columns in which none has a value; None without rows.

    The first column names a row; the kind of the others follows from what is in them. ``spacious``
    are the heads of columns that a terminal leaves out.

    Examples
    --------
    >>> table = table_of("Counts", ("what", "n", "why"), [("a", 1, None), ("b", 2, None)])
    >>> [(column.heading, column.kind) for column in table.columns]
    [('what', 'name'), ('n', 'number')]
    """
    rows = tuple(rows)
    kept = [place for place in range(len(heads)) if any(row[place] for row in rows)]
    if not rows:
        return None
    cells = tuple(tuple(row[place] for place in kept) for row in rows)
    keys = tuple(keys) or ({},) * len(rows)
    columns = [Column(heads[kept[0]], "name")]
    for place in kept[1:]:
        column = Column(heads[place], spacious=heads[place] in spacious)
        if any(isinstance(row[place], Cell) for row in rows):
            column = replace(column, kind="estimate")
        elif any(isinstance(row[place], int) for row in rows):
            column = replace(column, kind="number")
        columns.append(column)
    return Table(
        columns=tuple(columns),
        rows=tuple(Row(cells=one, keys=key) for one, key in zip(cells, keys, strict=True)),
        caption=prose(caption),
        close=True,
        **options,
    )
