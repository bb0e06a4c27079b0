"""The section with routing: accuracy and cost of the selected models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reports.view import wording
from reports.view.fleet_words import OPEN_TALL_ROWS, by_category, router_meanings
from scope.records import FleetFindings, RouterScore
from scope.sections.charts import IntervalChart, estimate_chart
from scope.sections.grids import Grid, grid

MOST_SHARES = 40
"""At most so many models are listed, the most frequently selected first."""


@dataclass(frozen=True, kw_only=True)
class RouterRow:
    """One routing strategy, on all questions or on a category; ``cost`` is None if unknown."""

    router: str
    model: str | None
    category: str
    accuracy: wording.Cell
    gain: wording.Cell | None
    cost: str | None


@dataclass(frozen=True, kw_only=True)
class Routing:
    """The router and its baselines, by category too, and the models that it selects.

    ``asked`` counts the selected models; ``costed`` is whether any cost is known.
    """

    meanings: tuple[tuple[str, str], ...]
    rows: tuple[RouterRow, ...]
    chart: IntervalChart | None
    grid: Grid | None
    categories: tuple[RouterRow, ...]
    folded: bool
    costed: bool
    mix: tuple[tuple[str, str], ...]
    asked: int


def routing(findings: FleetFindings) -> Routing | None:
    """The section on routing; None if nothing was routed."""
    if not findings.routers and not findings.mix:
        return None
    whole = [score for score in findings.routers if score.category is None]
    parts = by_category(findings.routers)
    mix = sorted(findings.mix, key=lambda one: -one.share)
    return Routing(
        meanings=router_meanings(findings.routers, findings.forecaster),
        rows=tuple(map(_row, whole)),
        chart=_chart(whole),
        grid=_grid(parts),
        categories=tuple(map(_row, parts)),
        folded=len(parts) > OPEN_TALL_ROWS,
        costed=any(score.cost is not None for score in findings.routers),
        mix=tuple((one.model, f"{wording.percent(one.share)}\u00a0%") for one in mix[:MOST_SHARES]),
        asked=len(mix),
    )


def _row(score: RouterScore) -> RouterRow:
    return RouterRow(
        router=score.router,
        model=score.model,
        category=score.category or "",
        accuracy=wording.share_cell(score.accuracy),
        gain=None if score.gain is None else wording.points_cell(score.gain),
        cost=None if score.cost is None else f"{score.cost:.4g}",
    )


def _chart(scores: Sequence[RouterScore]) -> IntervalChart | None:
    return estimate_chart(
        "Accuracy by routing strategy; the numbers are in the table",
        ((one.router, "accuracy", one.accuracy) for one in scores),
        ("accuracy",),
        beside=False,
        close=True,
    )


def _grid(scores: Sequence[RouterScore]) -> Grid | None:
    return grid(
        "Accuracy by category",
        {(one.category or "", one.router): one.accuracy for one in scores},
        rows=list(dict.fromkeys(one.category or "" for one in scores)),
        columns=list(dict.fromkeys(one.router for one in scores)),
        heading="Category",
    )
