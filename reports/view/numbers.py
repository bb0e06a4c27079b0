"""The section with every estimate."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view import wording
from scope.metrics import MetricName

MOST_ROWS = 10_000
"""A longer table would make the page too heavy for a browser."""


@dataclass(frozen=True, kw_only=True)
class NumberRow:
    """One estimate; ``against`` is None where it is the right answers."""

    metric: MetricName
    subset: str
    model: str
    against: str | None
    cell: wording.Cell


@dataclass(frozen=True, kw_only=True)
class NumberTable:
    """The estimates of one task; ``total`` counts those left out, too."""

    task: str
    rows: tuple[NumberRow, ...]
    total: int
    parts: bool


@dataclass(frozen=True, kw_only=True)
class NumberSection:
    """Every estimate, and what the metrics mean."""

    tables: tuple[NumberTable, ...]
    metrics: tuple[MetricName, ...]
