"""The section with forecasts: their accuracy, by category too, and their calibration."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view import wording
from reports.view.fleet_words import MEAN, OPEN_TALL_ROWS, by_category, forecaster_names, overall
from scope.records import Estimate, FleetFindings, ForecastScore, ReliabilityBin
from scope.sections.charts import IntervalChart, ScatterChart, ScatterDot, estimate_chart

MOST_DRAWN = 20
"""With more categories there is a table and no chart."""


@dataclass(frozen=True, kw_only=True)
class ScoreRow:
    """One forecaster's numbers, on all questions or on a category."""

    forecaster: str
    category: str
    chosen: bool
    accuracy: wording.Cell
    gain: wording.Cell | None
    brier: wording.Cell


@dataclass(frozen=True, kw_only=True)
class BinRow:
    """Forecasts in one bin of probabilities."""

    between: str
    predicted: str
    observed: wording.Cell


@dataclass(frozen=True, kw_only=True)
class Forecasts:
    """The scores of all forecasters, those by category, and the reliability of the one in use."""

    rows: tuple[ScoreRow, ...]
    chart: IntervalChart | None
    categories: tuple[ScoreRow, ...]
    category_chart: IntervalChart | None
    folded: bool
    reliability: tuple[BinRow, ...]
    curve: ScatterChart | None


def forecasts(findings: FleetFindings) -> Forecasts | None:
    """The section on forecasts; None if there are none."""
    if not findings.scores and not findings.reliability:
        return None
    parts = by_category(findings.scores)
    return Forecasts(
        rows=tuple(map(_row, overall(findings.scores))),
        chart=_chart(overall(findings.scores)),
        categories=tuple(map(_row, parts)),
        category_chart=_category_chart(parts),
        folded=len(parts) > OPEN_TALL_ROWS,
        reliability=tuple(map(_bin, findings.reliability)),
        curve=_curve(findings.reliability),
    )


def _row(score: ForecastScore) -> ScoreRow:
    return ScoreRow(
        forecaster=score.forecaster,
        category=score.category or "",
        chosen=score.chosen,
        accuracy=wording.share_cell(score.accuracy),
        gain=None if score.gain is None else wording.points_cell(score.gain),
        brier=wording.cell(score.brier),
    )


def _chart(scores: tuple[ForecastScore, ...]) -> IntervalChart | None:
    names = forecaster_names(score.forecaster for score in scores)
    return estimate_chart(
        "Accuracy of the forecasts by forecaster; the numbers are in the table",
        ((names[one.forecaster], "accuracy", one.accuracy) for one in scores),
        ("accuracy",),
        beside=False,
        close=True,
    )


def _category_chart(scores: list[ForecastScore]) -> IntervalChart | None:
    """Only the forecaster in use and the mean: more would not be legible."""
    names = forecaster_names(score.forecaster for score in scores)
    drawn = [one for one in scores if one.chosen or one.forecaster.partition("(")[0] == MEAN]
    if len({one.category for one in drawn}) > MOST_DRAWN:
        return None
    return estimate_chart(
        "Accuracy of the forecasts by category; the numbers are in the table",
        ((one.category or "", names[one.forecaster], one.accuracy) for one in drawn),
        tuple(dict.fromkeys(names[one.forecaster] for one in drawn)),
        close=True,
    )


def _bin(one: ReliabilityBin) -> BinRow:
    return BinRow(
        between=f"{one.low:.2f} to {one.high:.2f}",
        predicted=f"{wording.percent(one.predicted)}\u00a0%",
        observed=wording.share_cell(one.observed),
    )


def _curve(bins: tuple[ReliabilityBin, ...]) -> ScatterChart | None:
    """The calibration curve; a perfectly calibrated forecaster follows the diagonal."""
    dots = tuple(
        ScatterDot(
            title=f"predicted {wording.percent(one.predicted)} %: "
            f"{wording.share_cell(one.observed).value} correct, "
            f"{wording.share_cell(one.observed).interval}, n = {one.observed.n:,}",
            x=one.predicted,
            y=one.observed.value,
            interval=(one.observed.low, one.observed.high),
        )
        for one in bins
        if isinstance(one.observed, Estimate)
    )
    if not dots:
        return None
    return ScatterChart(
        label="Share of correct answers by predicted probability; the numbers are in the table",
        x_title="predicted probability of a correct answer",
        y_title="share of correct answers",
        dots=dots,
        diagonal=True,
        joined=True,
    )
