"""Tables of numbers with backgrounds that grow stronger with the number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reports.view import wording
from scope.records import Estimate, Measurement

LEVELS = 10
"""Strengths of background besides none."""

LEAST_SPAN = 0.2
"""Closer numbers than this do not take the whole scale: noise must not look like a pattern."""


@dataclass(frozen=True, kw_only=True)
class GridCell:
    """A number in two digits, in words for whoever points at it, and its strength."""

    text: str
    title: str
    level: int | None


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table of numbers; ``low`` and ``high`` are the numbers at the ends of the scale.

    ``gaps`` says that some number is undefined.
    """

    title: str
    rows: tuple[tuple[str, tuple[GridCell, ...]], ...]
    columns: tuple[str, ...]
    numbered: bool
    low: str
    high: str
    gaps: bool


def grid(
    title: str,
    cells: Mapping[tuple[str, str], Measurement],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    numbered: bool = False,
) -> Grid | None:
    """The measurements by row and column; None if no number is defined.

    ``numbered`` says that columns are the rows again, and are called by the rows' numbers.
    """
    values = [row.estimate.value for row in cells.values() if isinstance(row.estimate, Estimate)]
    if not values:
        return None
    low = min(values)
    high = max(*values, low + LEAST_SPAN)
    return Grid(
        title=title,
        rows=tuple(
            (
                row,
                tuple(
                    _cell(cells.get((row, column)), row, column, low, high) for column in columns
                ),
            )
            for row in rows
        ),
        columns=tuple(columns),
        numbered=numbered,
        low=wording.two_digits(low),
        high=wording.two_digits(high),
        gaps=len(values) < len(cells),
    )


def _cell(
    measurement: Measurement | None, row: str, column: str, low: float, high: float
) -> GridCell:
    if measurement is None:
        return GridCell(text="", title="", level=None)
    names, estimate = f"{row}, {column}: ", measurement.estimate
    if not isinstance(estimate, Estimate):
        return GridCell(text="–", title=f"{names}{estimate}", level=None)
    written = wording.cell(estimate)
    return GridCell(
        text=wording.two_digits(estimate.value),
        title=f"{names}{written.value} {written.interval}, n = {written.n:,}",
        level=round(LEVELS * (estimate.value - low) / (high - low)),
    )
