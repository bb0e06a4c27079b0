"""The section with every estimate of a comparison of tasks."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view import wording
from reports.view.task_numbers import TaskEstimates, task_numbers
from scope.metrics import MetricName, metric_name
from scope.records import GOLD, CompareResult

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


def numbers(comparison: CompareResult) -> NumberSection:
    """The estimates task by task, each metric against gold first."""
    spellings = (row.metric for row in comparison.measurements)
    names = wording.explained(spellings, comparison.manifest)
    return NumberSection(
        tables=tuple(_table(task) for task in task_numbers(comparison) if task.rows),
        metrics=tuple({name.head: name for name in names}.values()),
    )


def _table(task: TaskEstimates) -> NumberTable:
    order = {
        metric: place for place, metric in enumerate(dict.fromkeys(r.metric for r in task.rows))
    }
    rows = sorted(
        task.rows,
        key=lambda row: (row.subset is not None, order[row.metric], row.against != GOLD),
    )
    shown = tuple(
        NumberRow(
            metric=metric_name(row.metric),
            subset=row.subset or "",
            model=row.target,
            against=None if row.against == GOLD else row.against,
            cell=wording.cell(row.estimate),
        )
        for row in rows[:MOST_ROWS]
    )
    return NumberTable(
        task=task.task,
        rows=shown,
        total=len(rows),
        parts=any(row.subset for row in shown),
    )
