"""Estimates as dots with intervals on one scale, in a table."""

from __future__ import annotations

import math
from collections.abc import Iterable

from reports.blocks import Table
from reports.charts import SmallStrip
from reports.prose import Span, Text, written
from reports.wording import short
from scope.records import Estimate, Undefined


def strips_table(what: str, rows: Iterable[tuple[str, Estimate | Undefined]]) -> Table | None:
    """One row per estimate; None if none is defined.

    The scale spans only the drawn intervals, so that close numbers are distinguishable.

    Examples
    --------
    >>> half = Estimate(value=0.5, low=0.42, high=0.61, n=8, method="bootstrap")
    >>> [column.heading for column in strips_table("Accuracy", [("a", half)]).columns]
    ['', '0.4 to 0.65', 'Accuracy']
    """
    rows = tuple(rows)
    defined = [estimate for _, estimate in rows if isinstance(estimate, Estimate)]
    if not defined:
        return None
    low = math.floor(min(estimate.low for estimate in defined) * 20 + 1e-9) / 20
    high = math.ceil(max(estimate.high for estimate in defined) * 20 - 1e-9) / 20
    high = max(high, low + 0.05)
    scale = f"{low:g} to {high:g}".replace("-", "−")
    cells: list[tuple[Text, SmallStrip | None, str]] = []
    for name, estimate in rows:
        if isinstance(estimate, Undefined):
            why = Span(estimate.reason, "note", foreign=True)
            cells.append(((*written(name), why), None, "undefined"))
        else:
            strip = SmallStrip(f"{name}: {short(estimate)}", estimate, (low, high))
            cells.append((written(name), strip, short(estimate)))
    return Table.of({"": "name", scale: "strip", what: "number"}, cells, close=True)
