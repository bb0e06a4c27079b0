"""Tables of numbers with backgrounds that grow stronger with the number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reports import wording
from scope.records import Estimate, Undefined

LEVELS = 10
"""Strengths of background besides none."""

LEAST_SPAN = 0.2
"""Closer numbers than this do not take the whole scale: noise must not look like a pattern."""


@dataclass(frozen=True, kw_only=True)
class GridCell:
    """A number in few digits, in words for whoever points at it, and its strength."""

    text: str
    title: str
    level: int | None


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table of numbers; ``low`` and ``high`` are the numbers at the ends of the scale.

    ``gaps`` says that some number is undefined, ``heading`` what the rows are. A ``dense`` one
    shows its backgrounds alone.
    """

    title: str
    rows: tuple[tuple[str, tuple[GridCell, ...]], ...]
    columns: tuple[str, ...]
    numbered: bool
    low: str
    high: str
    gaps: bool
    heading: str = "Model"
    dense: bool = False


def grid(
    title: str,
    cells: Mapping[tuple[str, str], Estimate | Undefined],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    numbered: bool = False,
    heading: str = "Model",
    start: float | None = None,
) -> Grid | None:
    """The estimates by row and column; None if no number is defined.

    Backgrounds begin at ``start``, by default at the least number. ``numbered`` says that columns
    are the rows again, and are called by the rows' numbers.
    """
    values = [one.value for one in cells.values() if isinstance(one, Estimate)]
    if not values:
        return None
    low = min(values) if start is None else start
    high = max(*values, low + LEAST_SPAN)
    if start is None and max(values) <= 1 < high:  # no share is above 1
        low, high = 1 - LEAST_SPAN, 1.0
    write = wording.two_digits

    def cell(row: str, column: str) -> GridCell:
        estimate = cells.get((row, column))
        if estimate is None:  # nothing was measured
            return GridCell(text="", title="", level=None)
        if isinstance(estimate, Undefined):
            return GridCell(text="–", title=f"{row}, {column}: {estimate}", level=None)
        written = wording.Cell.of(estimate)
        level = round(LEVELS * (estimate.value - low) / (high - low))
        return GridCell(
            text=write(estimate.value),
            title=f"{row}, {column}: {written.value} {written.interval}, n = {written.n:,}",
            level=max(0, level),
        )

    return Grid(
        title=title,
        rows=tuple((row, tuple(cell(row, column) for column in columns)) for row in rows),
        columns=tuple(columns),
        numbered=numbered,
        low=write(low),
        high=write(high),
        gaps=len(values) < len(cells),
        heading=heading,
    )
