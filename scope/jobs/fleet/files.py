"""The CSV tables that jobs on a fleet write into a run's folder."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from scope.store.files import open_atomically

FORECASTS = "forecasts.csv"
ROUTES = "routes.csv"

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of a cell that a spreadsheet would evaluate."""


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[str | float]]) -> None:
    """Write rows as CSV atomically; numbers have six decimals.

    A name that a spreadsheet would evaluate as a formula is prefixed with an apostrophe, because
    names are untrusted.
    """
    with open_atomically(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([file_cell(value) for value in row] for row in rows)


def file_cell(value: str | float) -> str:
    """A name or a number as it is written to the file.

    Examples
    --------
    >>> file_cell(0.25), file_cell("arc/7"), file_cell("=1+1"), file_cell("-5")
    ('0.250000', 'arc/7', "'=1+1", '-5')
    """
    if not isinstance(value, str):
        return f"{value:.6f}"
    return f"'{value}" if value.startswith(FORMULA) and not _is_number(value) else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
