"""Tables of estimates for the terminal, and how a cell of them is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from scope.printing import printable
from scope.records import Estimate, Undefined
from scope.records.fleet import FEW_QUESTIONS

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

AT_EITHER_END = 4
"""Rows shown at either end of a long table whose ends matter."""

MOST_ROWS = 12
"""Rows shown of another long table."""

One = TypeVar("One")


def listing(
    title: str,
    headings: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    *,
    most: int = MOST_ROWS,
    ends: bool = False,
) -> Table | None:
    """A table of the first rows, or of those at both ends; None without rows."""
    from rich.table import Table
    from rich.text import Text

    if not rows:
        return None
    shown = Table(title=Text(title), title_justify="left", caption_justify="left")
    for heading in headings:
        shown.add_column(heading, overflow="fold", min_width=_WIDTHS.get(heading))
    kept = _at_ends(rows) if ends else rows[:most]
    for row in kept:
        shown.add_row(*(Text(printable(cell)) for cell in row))
    if left_out := len(rows) - len(kept):
        between = " between these" if ends else ""
        shown.caption = Text(f"and {left_out:,} more{between}: in the report and in --json")
    return shown


LEAST_WIDTH = 80
"""Tables are made for as many columns; narrower ones would lose values."""

_LEAST_OF_A_COLUMN = 8
_BETWEEN_COLUMNS = 3


def least_width(shown: RenderableType) -> int:
    """Columns of a terminal in which a table, or each of several, shows all of its values.

    Examples
    --------
    >>> least_width(listing("", ("model", "accuracy, %"), [("a", "50.0")]))
    80
    >>> least_width(listing("", ("accuracy, %",) * 8, [("50.0",) * 8]))
    121
    """
    from rich.console import Group
    from rich.table import Table

    if isinstance(shown, Group):
        return max(map(least_width, shown.renderables), default=LEAST_WIDTH)
    if not isinstance(shown, Table):
        return LEAST_WIDTH
    columns = (max(one.min_width or 0, _LEAST_OF_A_COLUMN) for one in shown.columns)
    return max(LEAST_WIDTH, sum(one + _BETWEEN_COLUMNS for one in columns) + 1)


_SHARE, _POINTS, _SIGNED = map(len, ("[10.0, 20.0]", "[-10.0, +10.0]", "[-0.100, 0.100]"))
_WIDTHS: Mapping[str, int] = MappingProxyType(
    {
        "accuracy, %": _SHARE,
        "expected, %": _SHARE,
        "gain over mean": _POINTS,
        "router's gain": _POINTS,
        "contribution": _POINTS,
        "Brier": _SHARE + 2,
        "distance": _SHARE + 2,
        "Kendall's tau": _SIGNED,
        "squared error": _SIGNED + 1,
    }
)
"""Columns whose numbers must not be broken, with the width that these take."""


def _at_ends(rows: Sequence[One]) -> Sequence[One]:
    if len(rows) <= 2 * AT_EITHER_END:
        return rows
    return [*rows[:AT_EITHER_END], *rows[-AT_EITHER_END:]]


def from_greatest(estimate: Estimate | Undefined) -> float:
    """Sorts the greatest value first and those that are undefined last."""
    return -estimate.value if isinstance(estimate, Estimate) else float("inf")


def share(estimate: Estimate | Undefined) -> str:
    """A share in per cent, with its n and, below, its interval."""
    return _written(estimate, scale=100, digits=1)


def points_text(estimate: Estimate | Undefined | None) -> str:
    """A difference of shares in points, and whether it may be chance; nothing for None."""
    if estimate is None:
        return ""
    return _written(estimate, scale=100, digits=1, sign="+") + _remark(estimate)


def _remark(difference: Estimate | Undefined) -> str:
    if not isinstance(difference, Estimate):
        return ""
    if difference.n < FEW_QUESTIONS:
        return "\ntoo few to tell"
    return "\nmay be chance" if difference.side == "unclear" else ""


def estimate_text(estimate: Estimate | Undefined, digits: int = 3) -> str:
    """A number with its n and, below, its interval."""
    return _written(estimate, digits=digits)


def _written(estimate: Estimate | Undefined, *, scale: int = 1, digits: int, sign: str = "") -> str:
    if not isinstance(estimate, Estimate):
        return str(estimate)
    # Rounded first: per cent and shares of one number then have the same digits everywhere.
    decimals = digits + (2 if scale == 100 else 0)
    value, low, high = (
        f"{scale * round(one, decimals):{sign}.{digits}f}"
        for one in (estimate.value, estimate.low, estimate.high)
    )
    return f"{value}  n={estimate.n}\n[{low}, {high}]"


def p_value_text(value: float | None) -> str:
    """A p-value with three decimals, or a bound below that; nothing where there is none."""
    if value is None:
        return ""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
