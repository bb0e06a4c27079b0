"""What the charts show: numbers and words, no drawing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from scope.records import Curve, Estimate, Measurement


@dataclass(frozen=True, kw_only=True)
class Interval:
    """One dot with its interval; ``series`` is the target's place among the targets."""

    category: str
    series: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class IntervalChart:
    """Dots with intervals, a row for each category and, where ``beside``, for each series."""

    label: str
    series: tuple[str, ...]
    intervals: tuple[Interval, ...]
    beside: bool = True

    @property
    def start(self) -> float:
        """Where the axis begins: at 0, or at a quarter below the lowest end of an interval."""
        lowest = min((interval.low for interval in self.intervals), default=0.0)
        return min(0.0, math.floor(lowest * 4) / 4)


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """One point of a target's curve, with its interval."""

    series: int
    x: float
    estimate: Estimate


@dataclass(frozen=True, kw_only=True)
class CurveChart:
    """One curve for each target; ``chosen`` are the parameter values the audit used."""

    label: str
    series: tuple[str, ...]
    x_title: str
    points: tuple[CurvePoint, ...]
    chosen: tuple[float, ...]


def interval_chart(
    label: str, rows: Iterable[tuple[str, Measurement]], targets: tuple[str, ...]
) -> IntervalChart | None:
    """A chart of the defined estimates among (category, measurement); None where none is."""
    intervals = tuple(
        Interval(
            category=category,
            series=targets.index(measurement.target),
            value=measurement.estimate.value,
            low=measurement.estimate.low,
            high=measurement.estimate.high,
        )
        for category, measurement in rows
        if isinstance(measurement.estimate, Estimate)
    )
    if not intervals:
        return None
    return IntervalChart(label=label, series=targets, intervals=intervals)


def curve_chart(
    label: str,
    curves: Iterable[Curve],
    targets: tuple[str, ...],
    *,
    x_title: str,
    chosen: tuple[float, ...],
) -> CurveChart | None:
    """A chart of these targets' curves; None without points."""
    points = tuple(
        CurvePoint(series=targets.index(curve.target), x=x, estimate=estimate)
        for curve in curves
        for x, estimate in curve.points
    )
    if not points:
        return None
    return CurveChart(
        label=label,
        series=targets,
        x_title=x_title,
        points=points,
        chosen=chosen,
    )
