"""Results of a job on a fleet in the terminal: the matrix first, then the tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scope.printing import printable
from scope.records import CommunityDistance, FleetFindings, FleetModel
from scope.records.fleet import EXAM_JOBS
from scope.tables.cells import (
    AT_EITHER_END,
    estimate_text,
    from_greatest,
    listing,
    p_value_text,
    points_text,
    share,
)

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

MOST_NOTES = 5

MOST_ADDED = 4
"""At most so many added models are named."""


def fleet(job: str, found: FleetFindings, folder: Path | None = None) -> RenderableType:
    """The main results of a job on a fleet, each with its n and interval, in 80 columns.

    If the run's folder is given, the paths of its files include it.
    """
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [Text(printable(line)) for line in _head(job, found)]
    tables = (
        _scores(found),
        _expected(found),
        _routers(found),
        _mix(found),
        _predictions(found),
        _contributions(found),
        _communities(found),
        None if job in EXAM_JOBS else _models(found),
    )
    parts += [one for one in tables if one is not None]
    parts += [Text(printable(line)) for line in _foot(found, folder)]
    return Group(*parts)


def _head(job: str, found: FleetFindings) -> Iterator[str]:
    cells = found.questions * found.models
    known = f" ({100 * found.answers / cells:.1f} % known)" if cells else ""
    conflicts = f", {found.conflicts:,} given twice and differing" if found.conflicts else ""
    yield (
        f"{job}: {found.models:,} models, {found.questions:,} questions, "
        f"{found.answers:,} answers{known}{conflicts}"
    )
    yield f"forecaster: {found.forecaster}"
    yield f"question vectors: {found.encoder}"
    added = [model.name for model in found.members if model.added]
    if added:
        more = f" and {len(added) - MOST_ADDED:,} more" if len(added) > MOST_ADDED else ""
        yield f"added to the fleet: {len(added):,}: {', '.join(added[:MOST_ADDED])}{more}"


def _foot(found: FleetFindings, folder: Path | None) -> Iterator[str]:
    parts = {one.category for one in found.scores} | {one.category for one in found.routers}
    parts -= {None}
    if parts:
        yield f"the numbers of {len(parts):,} categories are in the report and in --json"
    if found.reliability:
        yield f"reliability of forecasts, {len(found.reliability)} bins: in the report"
    yield from (f"note: {note}" for note in found.notes[:MOST_NOTES])
    if len(found.notes) > MOST_NOTES:
        yield f"note: {len(found.notes) - MOST_NOTES} more in the report"
    if found.files:
        paths = (name if folder is None else str(folder / name) for name in found.files)
        yield f"files: {', '.join(paths)}"


def _scores(found: FleetFindings) -> Table | None:
    scores = [score for score in found.scores if score.category is None]
    rows = [
        (
            f"{'* ' if score.chosen else ''}{score.forecaster}",
            share(score.accuracy),
            points_text(score.gain),
            estimate_text(score.brier),
        )
        for score in scores
    ]
    title = "forecasts of answers to unseen questions; * in use"
    return listing(title, ("forecaster", "accuracy, %", "gain over mean", "Brier"), rows)


def _expected(found: FleetFindings) -> Table | None:
    ordered = sorted(found.expected, key=lambda one: from_greatest(one.accuracy))
    rows = [(one.model, share(one.accuracy)) for one in ordered]
    title = "expected accuracy on the questions"
    return listing(title, ("model", "expected, %"), rows, ends=True)


def _routers(found: FleetFindings) -> Table | None:
    scores = [score for score in found.routers if score.category is None]
    costs = any(score.cost is not None for score in scores)
    rows = [
        (
            score.router if score.model is None else f"{score.router}: {score.model}",
            share(score.accuracy),
            points_text(score.gain),
            *(("" if score.cost is None else f"{score.cost:.4g}",) if costs else ()),
        )
        for score in scores
    ]
    headings = ("strategy", "accuracy, %", "router's gain", *(("cost",) if costs else ()))
    return listing("routing", headings, rows)


def _mix(found: FleetFindings) -> Table | None:
    shares = sorted(found.mix, key=lambda one: -one.share)
    rows = [(one.model, f"{100 * one.share:.1f} %") for one in shares]
    return listing("selected models", ("model", "share of questions"), rows, most=AT_EITHER_END)


def _predictions(found: FleetFindings) -> Table | None:
    rows = [
        (
            f"{one.benchmark}\n{one.questions:,} questions",
            estimate_text(one.tau),
            f"{one.significant} of {one.splits}",
            estimate_text(one.mse, digits=4),
        )
        for one in found.predictions
    ]
    headings = ("benchmark", "Kendall's tau", "significant", "squared error")
    return listing("predicted benchmarks, each held out", headings, rows)


def _contributions(found: FleetFindings) -> Table | None:
    ordered = sorted(found.contributions, key=lambda one: from_greatest(one.value))
    rows = [(one.source, one.target, points_text(one.value)) for one in ordered]
    title = "contributions of benchmarks to forecasts, in points"
    return listing(title, ("questions of", "forecasts on", "contribution"), rows, ends=True)


def _communities(found: FleetFindings) -> Table | None:
    within = [one for one in found.communities if one.first == one.second]
    between = [one for one in found.communities if one.first != one.second]
    rows = [_community(one) for one in (*within, *between)]
    title = "distances within and between communities"
    return listing(title, ("community", "to", "distance", "pairs", "p (Holm)"), rows, most=8)


def _community(one: CommunityDistance) -> tuple[str, ...]:
    return (
        one.first,
        "itself" if one.first == one.second else one.second,
        estimate_text(one.distance),
        f"{one.pairs:,}",
        p_value_text(one.p_adjusted),
    )


def _models(found: FleetFindings) -> Table | None:
    """The most and the least accurate models, if there is no other table on the fleet."""
    if found.routers or found.predictions:
        return None
    ordered = sorted(found.members, key=lambda one: from_greatest(one.skill))
    rows = [
        (
            f"{one.name}{' (added)' if one.added else ''}",
            share(one.skill),
            one.community or "",
            one.nearest[0].model if one.nearest else "",
        )
        for one in ordered
    ]
    keep = [0, 1, *([2] if any(row[2] for row in rows) else []), *_nearest(found.members)]
    headings = ("model", "accuracy, %", "community", "nearest model")
    return listing(
        "models",
        tuple(headings[place] for place in keep),
        [tuple(row[place] for place in keep) for row in rows],
        ends=True,
    )


def _nearest(members: Sequence[FleetModel]) -> list[int]:
    return [3] if any(one.nearest for one in members) else []
