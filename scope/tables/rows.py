"""Every number of a comparison as a flat row, for data frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scope.records import (
    GOLD,
    FleetFindings,
    FleetResult,
    FrameRow,
    Measurement,
    ProbeResult,
)

if TYPE_CHECKING:
    import pandas


def rows(comparison: Any) -> Iterator[FrameRow]:
    """Every estimate of a comparison, in its order.

    Of a fleet, ``capability`` is the job, ``target`` the model, forecaster, way of routing or
    benchmark that the number is of, ``against`` what it is compared with, and ``subset`` the
    category.
    """
    answer_shares = getattr(comparison, "answer_shares", ())
    dead = {one.model: one.degenerate for one in answer_shares if one.degenerate}
    for one in getattr(comparison, "measurements", ()):
        row, reason = _measured(one), dead.get(one.target)
        yield row._replace(reason=f"degenerate: {reason}") if reason and not row.reason else row
    for shares in answer_shares:
        yield _row("", "accuracy", shares.model, shares.accuracy, against=GOLD)
    if isinstance(comparison, FleetResult):
        yield from _of_fleet(comparison.manifest.job, comparison.findings)
    if isinstance(comparison, ProbeResult):
        yield from comparison.rows()


def to_frame(comparison: Any) -> pandas.DataFrame:
    """Every estimate as a row: value, interval, n, and the reason where it is undefined."""
    import pandas as pd

    return pd.DataFrame(list(rows(comparison)), columns=list(FrameRow._fields))


def _measured(measurement: Measurement) -> FrameRow:
    return _row(
        measurement.capability or "",
        measurement.metric,
        measurement.target,
        measurement.estimate,
        against=measurement.against or "",
        subset=measurement.subset or "",
    )


_row = FrameRow.of


def _of_fleet(job: str, fleet: FleetFindings) -> Iterator[FrameRow]:
    yield from _forecasts(job, fleet)
    yield from _routes(job, fleet)
    for one in fleet.predictions:
        yield _row(job, "benchmark_tau", one.benchmark, one.tau)
        yield _row(job, "benchmark_mse", one.benchmark, one.mse)
    for contribution in fleet.contributions:
        yield _row(
            job,
            "contribution",
            contribution.source,
            contribution.value,
            against=contribution.target,
        )
    for pair in fleet.communities:
        yield _row(job, "community_distance", pair.first, pair.distance, against=pair.second)
    for model in fleet.members:
        yield _row(job, "accuracy", model.name, model.skill)


def _forecasts(job: str, fleet: FleetFindings) -> Iterator[FrameRow]:
    for score in fleet.scores:
        subset = score.category or ""
        yield _row(job, "forecast_accuracy", score.forecaster, score.accuracy, subset=subset)
        yield _row(job, "forecast_brier", score.forecaster, score.brier, subset=subset)
        if score.gain is not None:
            yield _row(
                job,
                "forecast_gain",
                score.forecaster,
                score.gain,
                against="mean",
                subset=subset,
            )
    for model in fleet.expected:
        yield _row(job, "expected_accuracy", model.model, model.accuracy)
    for one in fleet.reliability:
        between = f"forecast {one.low:g} to {one.high:g}"
        yield _row(job, "reliability", fleet.forecaster, one.observed, subset=between)


def _routes(job: str, fleet: FleetFindings) -> Iterator[FrameRow]:
    for score in fleet.routers:
        subset, name = score.category or "", score.router
        if score.model is not None:
            name = f"{name}: {score.model}"
        yield _row(job, "route_accuracy", name, score.accuracy, subset=subset)
        if score.gain is not None:
            yield _row(job, "route_gain", "router", score.gain, against=name, subset=subset)
