"""Tables of numbers with backgrounds that grow stronger with the number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scope.records import Estimate, Undefined
from scope.sections import wording

LEVELS = 10
"""Strengths of background besides none."""

LEAST_SPAN = 0.2
"""Closer numbers than this do not take the whole scale: noise must not look like a pattern."""

LEAST_SIGNED_SPAN = 0.01
"""The same for numbers around 0, either way from it."""


@dataclass(frozen=True, kw_only=True)
class GridCell:
    """A number in few digits, in words for whoever points at it, and its strength.

    A strength below 0 belongs to a number below 0, where the scale has two sides.
    """

    text: str
    title: str
    level: int | None


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table of numbers; ``low`` and ``high`` are the numbers at the ends of the scale.

    ``gaps`` says that some number is undefined, ``heading`` what the rows are. The strengths run
    from ``weakest`` to ``LEVELS``. A ``dense`` one shows its backgrounds alone.
    """

    title: str
    rows: tuple[tuple[str, tuple[GridCell, ...]], ...]
    columns: tuple[str, ...]
    numbered: bool
    low: str
    high: str
    gaps: bool
    heading: str = "Model"
    weakest: int = 0
    dense: bool = False


def grid(
    title: str,
    cells: Mapping[tuple[str, str], Estimate | Undefined],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    numbered: bool = False,
    heading: str = "Model",
) -> Grid | None:
    """The estimates by row and column; None if no number is defined.

    ``numbered`` says that columns are the rows again, and are called by the rows' numbers.
    """
    values = [one.value for one in cells.values() if isinstance(one, Estimate)]
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
        heading=heading,
    )


def signed_grid(
    title: str,
    cells: Mapping[tuple[str, str], Estimate | Undefined],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    heading: str,
) -> Grid | None:
    """Shares above and below 0 by row and column, in points; None if no number is defined.

    Both sides of the scale are as long, so that equal strengths are equal distances from 0.
    """
    values = [one.value for one in cells.values() if isinstance(one, Estimate)]
    if not values:
        return None
    end = max(LEAST_SIGNED_SPAN, *map(abs, values))
    return Grid(
        title=title,
        rows=tuple(
            (row, tuple(_signed(cells.get((row, column)), row, column, end) for column in columns))
            for row in rows
        ),
        columns=tuple(columns),
        numbered=False,
        low=wording.points(-end),
        high=wording.points(end),
        gaps=len(values) < len(cells),
        heading=heading,
        weakest=-LEVELS,
    )


def _cell(
    estimate: Estimate | Undefined | None, row: str, column: str, low: float, high: float
) -> GridCell:
    if not isinstance(estimate, Estimate):
        return _gap(estimate, row, column)
    written = wording.Cell.of(estimate)
    return GridCell(
        text=wording.two_digits(estimate.value),
        title=f"{row}, {column}: {written.value} {written.interval}, n = {written.n:,}",
        level=round(LEVELS * (estimate.value - low) / (high - low)),
    )


def _signed(estimate: Estimate | Undefined | None, row: str, column: str, end: float) -> GridCell:
    if not isinstance(estimate, Estimate):
        return _gap(estimate, row, column)
    written = wording.Cell.points(estimate)
    return GridCell(
        text=wording.points(estimate.value),
        title=f"{row}, {column}: {written.value} {written.interval}, n = {written.n:,}",
        level=round(LEVELS * estimate.value / end),
    )


def _gap(undefined: Undefined | None, row: str, column: str) -> GridCell:
    """A cell without a number: empty where nothing was measured, else a dash with the reason."""
    if undefined is None:
        return GridCell(text="", title="", level=None)
    return GridCell(text="–", title=f"{row}, {column}: {undefined}", level=None)
