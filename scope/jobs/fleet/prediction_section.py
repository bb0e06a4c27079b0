"""Held-out benchmarks and their predictions on a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from reports.blocks import (
    Beside,
    Column,
    Figure,
    Row,
    Section,
    Table,
    note,
    paragraph,
)
from reports.charts import ScatterChart, ScatterDot
from reports.prose import prose
from reports.wording import Cell, number
from scope.jobs.fleet.score_words import MOST_BRIEF_ROWS
from scope.records import BenchmarkPoint, BenchmarkPrediction, Estimate, Undefined

MOST_DOTS = 1_000
"""At most so many models are shown, evenly spaced by observed accuracy, to limit page size."""


def predictions_table(predictions: Sequence[BenchmarkPrediction]) -> Table | None:
    """Every benchmark that was predicted; None if there is none."""
    if not predictions:
        return None
    return Table(
        columns=(
            Column("Benchmark", "name"),
            Column("Questions", "number"),
            Column("Models", "number", spacious=True),
            Column("Predicted models per split", "number", spacious=True),
            Column("Kendall’s τ", "estimate"),
            Column("Significant splits", "number"),
            Column("Mean squared error", "estimate"),
        ),
        rows=tuple(
            Row(
                cells=(
                    one.benchmark,
                    one.questions,
                    one.models,
                    one.tested,
                    Cell.of(one.tau, signed=True),
                    prose("{count} of {all}", count=one.significant, all=one.splits),
                    _small(one.mse),
                )
            )
            for one in predictions
        ),
        caption=prose("Predicted benchmarks, each held out"),
        most=MOST_BRIEF_ROWS,
    )


def _small(error: Estimate | Undefined) -> Cell:
    """A squared error with four decimals."""
    cell = Cell.of(error)
    if not isinstance(error, Estimate):
        return cell
    return replace(
        cell, value=f"{error.value:.4f}", interval=f"[{error.low:.4f}, {error.high:.4f}]"
    )


def predictions_section(predictions: Sequence[BenchmarkPrediction], table: Table) -> Section:
    """The benchmarks with a chart each."""
    charts = [chart for one in predictions if (chart := _chart(one))]
    groups = tuple((Figure(chart),) for chart in charts)
    return Section(
        anchor="predictions",
        title="Predicted benchmarks",
        blocks=(
            paragraph(
                "Each benchmark is held out, and vectors are learned from the others. A linear "
                "model is fitted on some of the models and predicts the accuracies of the rest. "
                "Kendall’s τ is the rank correlation of predicted and observed accuracies, from "
                "−1 to 1; its interval contains the middle 95\u00a0% of the random splits. A split "
                "is significant if τ is positive with p\u00a0<\u00a00.05."
            ),
            table,
            *((Beside(groups),) if groups else ()),
            note(
                "Each dot is a model; hover over it to see the name. On the dashed line prediction "
                "and observation are equal. All numbers are in ``result.json``."
            ),
        ),
    )


def _spread(points: list[BenchmarkPoint]) -> list[BenchmarkPoint]:
    """At most `MOST_DOTS` of the points, from the lowest observed accuracy to the highest."""
    if len(points) <= MOST_DOTS:
        return points
    ordered = sorted(points, key=lambda point: point.observed)
    last = len(ordered) - 1
    return [ordered[round(place * last / (MOST_DOTS - 1))] for place in range(MOST_DOTS)]


def _chart(one: BenchmarkPrediction) -> ScatterChart | None:
    points = [
        point
        for point in one.points
        if math.isfinite(point.predicted) and math.isfinite(point.observed)
    ]
    if not points:
        return None
    shown = _spread(points)
    cut = f"{len(shown):,} of {len(points):,} models, evenly from the lowest to the highest"
    return ScatterChart(
        label=f"Observed against predicted accuracy on {one.benchmark}, one dot per model",
        x_title="predicted accuracy",
        y_title="observed accuracy",
        dots=tuple(
            ScatterDot(
                title=f"{point.model}: predicted {number(point.predicted)}, "
                f"observed {number(point.observed)}",
                x=point.predicted,
                y=point.observed,
            )
            for point in shown
        ),
        diagonal=True,
        name=one.benchmark,
        note=cut if len(shown) < len(points) else "",
    )
