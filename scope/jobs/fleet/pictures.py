"""The jobs on a fleet in pictures; None where nothing can be drawn."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from reports.charts import (
    IntervalChart,
    MapChart,
    MapDot,
    MapGroup,
    ScatterChart,
    ScatterDot,
    estimate_chart,
)
from reports.wording import Cell, percent
from scope import records
from scope.jobs.fleet.score_words import from_greatest, overall
from scope.records import Estimate, Undefined

QUANTILES = 5
MOST_GROUPS = 6
"""The number of shapes; models of further communities, or of none, share the last one."""

MOST_DOTS = 1_000
"""At most so many models of a benchmark are drawn, evenly spaced by observed accuracy."""

MOST_BARS = 40
"""At most so many models without an observed accuracy are drawn."""


def accuracies_chart(
    expected: Sequence[records.ExpectedAccuracy],
) -> ScatterChart | IntervalChart | None:
    """Observed beside expected accuracy, or the expected ones alone."""
    found = [
        (one.model, one.accuracy.value, one.observed)
        for one in expected
        if isinstance(one.accuracy, Estimate) and isinstance(one.observed, Estimate)
    ]
    chart = _diagonal("expected accuracy", "observed accuracy", found)
    shown = [(one.model, one.accuracy) for one in expected[:MOST_BARS]]
    return chart or rows_chart("expected accuracy", shown)


def calibration_curve(bins: Iterable[records.ReliabilityBin]) -> ScatterChart | None:
    """The calibration curve; a perfectly calibrated forecaster follows the diagonal."""
    found = [("", one.predicted, x) for one in bins if isinstance(x := one.observed, Estimate)]
    return _diagonal("predicted probability", "share of correct answers", found, joined=True)


def _diagonal(
    across: str, up: str, found: Sequence[tuple[str, float, float | Estimate]], **options: Any
) -> ScatterChart | None:
    """What was observed by what was predicted, on axes with the same ends."""
    if not found:
        return None
    dots = []
    for name, x, y in found:
        value = y.value if isinstance(y, Estimate) else y
        interval = (y.low, y.high) if isinstance(y, Estimate) else None
        written = f" {Cell.share(y).interval}, n = {y.n:,}" if isinstance(y, Estimate) else ""
        title = f"{name}: predicted {percent(x)} %, observed {percent(value)} %{written}"
        dot = ScatterDot(title=title.removeprefix(": "), x=x, y=value, interval=interval, name=name)
        dots.append(dot)
    label = f"{up.capitalize()} by {across}; the numbers are in the table"
    return ScatterChart(label=label, x_title=across, y_title=up, dots=tuple(dots), **options)


def rows_chart(what: str, rows: Iterable[tuple[str, Estimate | Undefined]]) -> IntervalChart | None:
    """Estimates with their intervals, a row each."""
    label = f"{what.capitalize()}; the numbers are in the table"
    return estimate_chart(label, rows, what)


def routers_chart(routers: Sequence[records.RouterScore]) -> IntervalChart | None:
    """How often each strategy's model is right."""
    rows = [(one.router, one.accuracy) for one in overall(routers)]
    return rows_chart("share of questions answered correctly", rows)


def benchmark_chart(one: records.BenchmarkPrediction) -> ScatterChart | None:
    """Observed by predicted accuracies on a benchmark."""
    points = [x for x in one.points if math.isfinite(x.predicted) and math.isfinite(x.observed)]
    cut, total = "", len(points)
    if total > MOST_DOTS:
        points.sort(key=lambda point: point.observed)
        step = (total - 1) / (MOST_DOTS - 1)
        points = [points[round(place * step)] for place in range(MOST_DOTS)]
        cut = f"{MOST_DOTS:,} of {total:,} models, evenly from the lowest to the highest"
    found = [(point.model, point.predicted, point.observed) for point in points]
    return _diagonal("predicted accuracy", "observed accuracy", found, name=one.benchmark, note=cut)


def map_chart(models: Sequence[records.FleetModel]) -> MapChart | None:
    """The map of the models that have a position, by community or else by accuracy."""
    dots = {
        model.name: MapDot(title=_title(model), x=model.x, y=model.y, name=model.name)
        for model in sorted(models, key=lambda model: from_greatest(model.skill))
        if model.x is not None
        and model.y is not None
        and math.isfinite(model.x)
        and math.isfinite(model.y)
    }
    if not dots:
        return None
    drawn = [model for model in models if model.name in dots]
    by_community = any(model.community is not None for model in drawn)
    groups = _communities(drawn) if by_community else _quantiles(drawn)
    return MapChart(
        label=f"Map of {len(dots):,} models, coloured by "
        f"{'community' if by_community else 'accuracy'}; the table of models lists their "
        "accuracies and nearest models",
        groups=tuple(
            MapGroup(
                name=name,
                note=f"{len(members):,}",
                style=f"{'s' if by_community else 'q'}{place}",
                shape=place if by_community else 0,
                dots=tuple(dots[one] for one in dots if one in members),
            )
            for place, (name, members) in enumerate(groups)
        ),
    )


def _title(model: records.FleetModel) -> str:
    accuracy = Cell.share(model.skill)
    lines = [model.name + (" (added)" if model.added else "")]
    lines.append(f"accuracy {accuracy.value} {accuracy.reason or accuracy.interval}")
    if model.community is not None:
        lines.append(f"community {model.community}")
    lines += [f"nearest: {one.model}" for one in model.nearest[:1]]
    return "\n".join(lines)


def _communities(models: Sequence[records.FleetModel]) -> list[tuple[str, set[str]]]:
    """The names of each community's models, the largest first; the last ones share a group."""
    sizes = Counter(model.community for model in models if model.community is not None)
    shown = [name for name, _ in sizes.most_common(MOST_GROUPS - 1)]
    groups = [(name, {one.name for one in models if one.community == name}) for name in shown]
    rest = {one.name for one in models if one.community not in shown}
    return [*groups, *([("other or no community", rest)] if rest else [])]


def _quantiles(models: Sequence[records.FleetModel]) -> list[tuple[str, set[str]]]:
    """Fifths of the models, the least accurate ones first; an unknown accuracy counts least."""
    ordered = sorted(models, key=lambda model: from_greatest(model.skill), reverse=True)
    parts = min(QUANTILES, len(ordered))
    edges = [round(part * len(ordered) / parts) for part in range(parts + 1)]
    groups = (ordered[start:end] for start, end in pairwise(edges))
    return [
        (f"accuracy {_accuracy(group[0])} to {_accuracy(group[-1])} %", {one.name for one in group})
        for group in groups
    ]


def _accuracy(model: records.FleetModel) -> str:
    return percent(model.skill.value) if isinstance(model.skill, Estimate) else "unknown"
