"""The contents of charts: numbers and labels, no drawing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from scope.records import Curve, Estimate, Measurement, Undefined


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
    """Dots with intervals, a row for each category and, where ``beside``, for each series.

    Where ``close``, the axis holds what is drawn and no more, so that near numbers part.
    """

    label: str
    series: tuple[str, ...]
    intervals: tuple[Interval, ...]
    beside: bool = True
    close: bool = False

    @property
    def start(self) -> float:
        """Where the axis begins: at 0, or at a quarter below the lowest end of an interval."""
        lowest = min((interval.low for interval in self.intervals), default=0.0)
        if self.close:
            return math.floor(lowest * 20 + 1e-9) / 20
        return min(0.0, math.floor(lowest * 4) / 4)

    @property
    def end(self) -> float:
        """Where the axis ends: at 1, or at a twentieth above what is drawn, behind its start."""
        highest = max((interval.high for interval in self.intervals), default=1.0)
        if not self.close:
            return 1.0
        return max(math.ceil(highest * 20 - 1e-9), round(self.start * 20) + 1) / 20


@dataclass(frozen=True, kw_only=True)
class ScatterDot:
    """One dot, with its names and numbers in words, and its interval upwards if it has one."""

    title: str
    x: float
    y: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class ScatterChart:
    """Dots by two numbers.

    ``diagonal`` draws where the two are equal, on axes with the same ends; ``joined`` draws a
    line from dot to dot.
    """

    label: str
    x_title: str
    y_title: str
    dots: tuple[ScatterDot, ...]
    diagonal: bool = False
    joined: bool = False


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
    return estimate_chart(label, ((name, row.target, row.estimate) for name, row in rows), targets)


def estimate_chart(
    label: str,
    rows: Iterable[tuple[str, str, Estimate | Undefined]],
    series: tuple[str, ...],
    *,
    beside: bool = True,
    close: bool = False,
) -> IntervalChart | None:
    """A chart of the defined ones among (category, series, estimate); None where none is."""
    intervals = tuple(
        Interval(
            category=category,
            series=series.index(name),
            value=estimate.value,
            low=estimate.low,
            high=estimate.high,
        )
        for category, name, estimate in rows
        if isinstance(estimate, Estimate)
    )
    if not intervals:
        return None
    return IntervalChart(
        label=label, series=series, intervals=intervals, beside=beside, close=close
    )


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
