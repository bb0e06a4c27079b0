"""The section with held-out benchmarks and their predictions."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from reports.view import wording
from scope.records import BenchmarkPoint, BenchmarkPrediction, Estimate, FleetFindings, Undefined
from scope.sections.charts import ScatterChart, ScatterDot

MOST_DOTS = 1_000
"""At most so many models are shown, evenly spaced by observed accuracy, to limit page size."""


@dataclass(frozen=True, kw_only=True)
class PredictionRow:
    """One benchmark, with the models shown and the number of all models."""

    benchmark: str
    questions: int
    models: int
    tested: int
    significant: int
    splits: int
    tau: wording.Cell
    mse: wording.Cell
    chart: ScatterChart | None
    points: int


def predictions(findings: FleetFindings) -> tuple[PredictionRow, ...]:
    """Every benchmark that was predicted."""
    return tuple(map(_row, findings.predictions))


def _row(one: BenchmarkPrediction) -> PredictionRow:
    finite = [
        point
        for point in one.points
        if math.isfinite(point.predicted) and math.isfinite(point.observed)
    ]
    return PredictionRow(
        benchmark=one.benchmark,
        questions=one.questions,
        models=one.models,
        tested=one.tested,
        significant=one.significant,
        splits=one.splits,
        tau=wording.cell(one.tau, signed=True),
        mse=_small(one.mse),
        chart=_chart(one.benchmark, _drawn(finite)),
        points=len(finite),
    )


def _small(error: Estimate | Undefined) -> wording.Cell:
    """A squared error with four decimals."""
    written = wording.cell(error)
    if not isinstance(error, Estimate):
        return written
    interval = f"[{error.low:.4f}, {error.high:.4f}]"
    return replace(written, value=f"{error.value:.4f}", interval=interval)


def _drawn(points: list[BenchmarkPoint]) -> list[BenchmarkPoint]:
    """At most `MOST_DOTS` of the points, from the lowest observed accuracy to the highest."""
    if len(points) <= MOST_DOTS:
        return points
    ordered = sorted(points, key=lambda point: point.observed)
    last = len(ordered) - 1
    return [ordered[round(place * last / (MOST_DOTS - 1))] for place in range(MOST_DOTS)]


def _chart(benchmark: str, points: list[BenchmarkPoint]) -> ScatterChart | None:
    if not points:
        return None
    return ScatterChart(
        label=f"Observed against predicted accuracy on {benchmark}, one dot per model",
        x_title="predicted accuracy",
        y_title="observed accuracy",
        dots=tuple(
            ScatterDot(
                title=f"{point.model}: predicted {wording.number(point.predicted)}, "
                f"observed {wording.number(point.observed)}",
                x=point.predicted,
                y=point.observed,
            )
            for point in points
        ),
        diagonal=True,
    )
