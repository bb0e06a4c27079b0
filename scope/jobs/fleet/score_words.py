"""What a page says of scores: those of all questions or of a category, and chance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from reports.blocks import Table
from reports.wording import Cell
from scope.records import Estimate, ForecastScore, RouterScore, Undefined
from scope.records.fleet import FEW_QUESTIONS

OPEN_ROWS, OPEN_TALL_ROWS = 28, 12
"""The most rows of a table that is not folded, of one line and of three lines a row."""

MOST_BRIEF_ROWS = 12
"""The most rows of a table in a terminal."""

_REMARKS = {"few": "too few to tell", "unclear": "may be chance"}

Score = TypeVar("Score", ForecastScore, RouterScore)


def overall(scores: Iterable[Score]) -> tuple[Score, ...]:
    """The scores on all questions."""
    return tuple(score for score in scores if score.category is None)


def by_category(scores: Iterable[Score]) -> tuple[Score, ...]:
    """The scores by category, those of the same category together."""
    parts = [score for score in scores if score.category is not None]
    place = {name: number for number, name in enumerate(dict.fromkeys(x.category for x in parts))}
    return tuple(sorted(parts, key=lambda score: place[score.category]))


def beyond_chance(difference: Estimate | Undefined | None) -> str | None:
    """The side of 0 of an interval: ``more``, ``less`` or ``unclear``; None without an interval.

    With very few questions it is ``few``.

    >>> beyond_chance(Estimate(value=0.1, low=0.05, high=0.2, n=90, method="bootstrap"))
    'more'
    >>> beyond_chance(Estimate(value=0.1, low=-0.05, high=0.2, n=90, method="bootstrap"))
    'unclear'
    >>> beyond_chance(Estimate(value=0.1, low=0.05, high=0.2, n=9, method="bootstrap"))
    'few'
    """
    if not isinstance(difference, Estimate):
        return None
    if difference.n < FEW_QUESTIONS:
        return "few"
    return difference.side


def gain_cell(gain: Estimate | Undefined | None) -> Cell | None:
    """A difference of shares in points, with a remark if it may be chance.

    >>> gain = Estimate(value=0.1, low=-0.05, high=0.2, n=90, method="bootstrap")
    >>> gain_cell(gain).remark
    'may be chance'
    """
    if gain is None:
        return None
    return replace(Cell.points(gain), remark=_REMARKS.get(beyond_chance(gain) or "", ""))


def from_greatest(estimate: Estimate | Undefined) -> float:
    """Sort key: the greatest value first, undefined ones last."""
    return -estimate.value if isinstance(estimate, Estimate) else float("inf")


def first_rows(table: Table, most: int) -> Table:
    """The table itself, or its first rows if it has more."""
    return table if len(table.rows) <= most else replace(table, rows=table.rows[:most])
