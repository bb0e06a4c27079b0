"""The sections with numbers: estimates, differences, and parts of the data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from reports.view import wording
from scope.metrics import MetricName, metric_name
from scope.records import Measurement, marked
from scope.sections.charts import IntervalChart, interval_chart


@dataclass(frozen=True, kw_only=True)
class EstimateRow:
    """One estimate; ``subset`` names the part of the examples, empty for all."""

    metric: MetricName
    subset: str
    target: str
    cell: wording.Cell


@dataclass(frozen=True, kw_only=True)
class EstimateGroup:
    """Estimates in one table and one chart."""

    title: str
    rows: tuple[EstimateRow, ...]
    chart: IntervalChart | None


@dataclass(frozen=True, kw_only=True)
class Estimates:
    """Every main estimate, and what the metrics mean."""

    groups: tuple[EstimateGroup, ...]
    metrics: tuple[MetricName, ...]


@dataclass(frozen=True, kw_only=True)
class DifferenceRow:
    """First target minus second, on the same examples."""

    metric: MetricName
    capability: str
    first: str
    second: str
    cell: wording.Cell
    p_value: str
    p_adjusted: str


def estimates(comparison: Any) -> Estimates:
    """The estimates on all examples: the original texts first, then capability by capability."""
    main = [row for row in comparison.measurements if row.subset is None]
    capabilities = dict.fromkeys(row.capability for row in main)
    ordered = sorted(capabilities, key=lambda name: name is not None)
    spellings = dict.fromkeys(row.metric for row in main)
    names = (metric_name(spelling) for spelling in spellings)
    return Estimates(
        groups=tuple(
            _group(
                capability or wording.CLEAN,
                [row for row in main if row.capability == capability],
                comparison,
            )
            for capability in ordered
        ),
        # Several spellings of one metric differ in parameters alone: explain it once.
        metrics=tuple({name.head: name for name in names}.values()),
    )


def losses(comparison: Any) -> tuple[EstimateGroup, ...]:
    """The estimates on parts of the examples, one group for each capability and metric."""
    parts = [row for row in comparison.measurements if row.subset is not None]
    keys = dict.fromkeys((row.capability, row.metric) for row in parts)
    return tuple(
        _group(
            f"{_short(metric)} on {capability or wording.CLEAN}",
            [row for row in parts if (row.capability, row.metric) == (capability, metric)],
            comparison,
        )
        for capability, metric in keys
    )


def difference_section(comparison: Any) -> tuple[DifferenceRow, ...]:
    """The paired differences between targets, in the comparison's order."""
    return tuple(
        DifferenceRow(
            metric=metric_name(row.metric),
            capability=row.capability or wording.CLEAN,
            first=marked(row.first, getattr(comparison, "answer_shares", ())),
            second=marked(row.second, getattr(comparison, "answer_shares", ())),
            cell=wording.cell(row.estimate, signed=True),
            p_value=wording.p_value(row.p_value),
            p_adjusted=wording.p_value(row.p_adjusted),
        )
        for row in comparison.differences
    )


def _group(title: str, rows: Iterable[Measurement], comparison: Any) -> EstimateGroup:
    rows = tuple(rows)
    return EstimateGroup(
        title=title,
        rows=tuple(
            EstimateRow(
                metric=metric_name(row.metric),
                subset=row.subset or "",
                target=marked(row.target, getattr(comparison, "answer_shares", ())),
                cell=wording.cell(row.estimate),
            )
            for row in rows
        ),
        chart=interval_chart(
            f"Estimates with intervals, {title}; the numbers are in the table",
            [(row.subset or _short(row.metric), row) for row in rows],
            tuple(card.name for card in comparison.manifest.targets),
        ),
    )


def _short(metric: str) -> str:
    """A metric's name for a chart: its label, and the parameters where it has any."""
    name = metric_name(metric)
    values = ", ".join(name.parameters.values())
    return f"{name.label} ({values})" if values else name.label
