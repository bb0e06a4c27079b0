"""What was found of a fleet, for the terminal: the matrix first, then a table for each question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from scope.printing import printable
from scope.records import CommunityDistance, Estimate, FleetFindings, FleetModel, Undefined

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

AT_EITHER_END = 4
"""Of many models, contributions or communities the first and last so many are shown."""

MOST_ROWS = 12
"""Of more forecasters, benchmarks or shares the first so many are shown."""

MOST_NOTES = 5

One = TypeVar("One")


def fleet(job: str, found: FleetFindings) -> RenderableType:
    """The main numbers of a job on a fleet, each with its n and interval; fits into 80 columns."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [Text(printable(line)) for line in _head(job, found)]
    tables = (
        _scores(found),
        _routers(found),
        _mix(found),
        _predictions(found),
        _contributions(found),
        _communities(found),
        _members(found),
    )
    parts += [one for one in tables if one is not None]
    parts += [Text(printable(line)) for line in _foot(found)]
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


def _foot(found: FleetFindings) -> Iterator[str]:
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
        yield f"files: {', '.join(found.files)}"


def _scores(found: FleetFindings) -> Table | None:
    scores = [score for score in found.scores if score.category is None]
    rows = [
        (
            f"{'* ' if score.chosen else ''}{score.forecaster}",
            _share(score.accuracy),
            "" if score.gain is None else _points(score.gain),
            _number(score.brier),
        )
        for score in scores
    ]
    title = "forecasts of answers to unseen questions; * in use"
    return _table(title, ("forecaster", "right, %", "over the mean", "Brier"), rows)


def _routers(found: FleetFindings) -> Table | None:
    scores = [score for score in found.routers if score.category is None]
    costs = any(score.cost is not None for score in scores)
    rows = [
        (
            score.router if score.model is None else f"{score.router}: {score.model}",
            _share(score.accuracy),
            "" if score.gain is None else _points(score.gain),
            *(("" if score.cost is None else f"{score.cost:.4g}",) if costs else ()),
        )
        for score in scores
    ]
    headings = ("asked", "right, %", "router's gain", *(("cost",) if costs else ()))
    return _table("routing", headings, rows)


def _mix(found: FleetFindings) -> Table | None:
    shares = sorted(found.mix, key=lambda one: -one.share)
    rows = [(one.model, f"{100 * one.share:.1f} %") for one in shares]
    return _table("whom the router asks", ("model", "of the questions"), rows, most=AT_EITHER_END)


def _predictions(found: FleetFindings) -> Table | None:
    rows = [
        (
            f"{one.benchmark}\n{one.questions:,} questions",
            _number(one.tau),
            f"{one.significant} of {one.splits}",
            _number(one.mse, digits=4),
        )
        for one in found.predictions
    ]
    headings = ("benchmark", "Kendall's tau", "significant", "squared error")
    return _table("benchmarks left out and foretold", headings, rows)


def _contributions(found: FleetFindings) -> Table | None:
    ordered = sorted(
        found.contributions,
        key=lambda one: -one.value.value if isinstance(one.value, Estimate) else float("inf"),
    )
    rows = [(one.source, one.target, _points(one.value)) for one in ordered]
    title = "contributions to forecasts, in points"
    return _table(title, ("questions of", "forecasts on", "contribution"), rows, ends=True)


def _communities(found: FleetFindings) -> Table | None:
    within = [one for one in found.communities if one.first == one.second]
    between = [one for one in found.communities if one.first != one.second]
    rows = [_community(one) for one in (*within, *between)]
    title = "distance between models of communities"
    return _table(title, ("community", "to", "distance", "pairs", "p"), rows, most=8)


def _community(one: CommunityDistance) -> tuple[str, ...]:
    return (
        one.first,
        "itself" if one.first == one.second else one.second,
        _number(one.distance),
        f"{one.pairs:,}",
        "" if one.p_value is None else _p(one.p_value),
    )


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _members(found: FleetFindings) -> Table | None:
    """The most and the least accurate models, where no other table says more of the fleet."""
    if found.routers or found.predictions:
        return None
    ordered = sorted(
        found.members,
        key=lambda one: -one.skill.value if isinstance(one.skill, Estimate) else float("inf"),
    )
    rows = [
        (
            f"{one.name}{' (added)' if one.added else ''}",
            _share(one.skill),
            one.community or "",
            one.nearest[0].model if one.nearest else "",
        )
        for one in ordered
    ]
    keep = [0, 1, *([2] if any(row[2] for row in rows) else []), *_nearest(found.members)]
    headings = ("model", "accuracy, %", "community", "nearest model")
    return _table(
        "models",
        tuple(headings[place] for place in keep),
        [tuple(row[place] for place in keep) for row in rows],
        ends=True,
    )


def _nearest(members: Sequence[FleetModel]) -> list[int]:
    return [3] if any(one.nearest for one in members) else []


def _table(
    title: str,
    headings: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    *,
    most: int = MOST_ROWS,
    ends: bool = False,
) -> Table | None:
    """A table of the first rows, or of those at both ends; None without rows."""
    from rich.table import Table
    from rich.text import Text

    if not rows:
        return None
    shown = Table(title=Text(title), title_justify="left", caption_justify="left")
    for heading in headings:
        shown.add_column(heading, overflow="fold", min_width=_WIDTHS.get(heading))
    kept = _at_ends(rows) if ends else rows[:most]
    for row in kept:
        shown.add_row(*(Text(printable(cell)) for cell in row))
    if left_out := len(rows) - len(kept):
        between = " between these" if ends else ""
        shown.caption = Text(f"and {left_out:,} more{between}: in the report and in --json")
    return shown


_SHARE, _POINTS, _SIGNED = map(len, ("[10.0, 20.0]", "[-10.0, +10.0]", "[-0.100, 0.100]"))
_WIDTHS: Mapping[str, int] = MappingProxyType(
    {
        "right, %": _SHARE,
        "accuracy, %": _SHARE,
        "over the mean": _POINTS,
        "router's gain": _POINTS,
        "contribution": _POINTS,
        "Brier": _SHARE + 2,
        "distance": _SHARE + 2,
        "Kendall's tau": _SIGNED,
        "squared error": _SIGNED + 1,
    }
)
"""Columns whose numbers must not be broken, with the width that these take."""


def _at_ends(rows: Sequence[One]) -> Sequence[One]:
    if len(rows) <= 2 * AT_EITHER_END:
        return rows
    return [*rows[:AT_EITHER_END], *rows[-AT_EITHER_END:]]


def _share(estimate: Estimate | Undefined) -> str:
    """A share in per cent, with its n and, below, its interval."""
    return _written(estimate, scale=100, digits=1)


def _points(estimate: Estimate | Undefined) -> str:
    """A difference of shares in points."""
    return _written(estimate, scale=100, digits=1, sign="+")


def _number(estimate: Estimate | Undefined, digits: int = 3) -> str:
    return _written(estimate, digits=digits)


def _written(estimate: Estimate | Undefined, *, scale: int = 1, digits: int, sign: str = "") -> str:
    if not isinstance(estimate, Estimate):
        return str(estimate)
    value, low, high = (
        f"{scale * one:{sign}.{digits}f}" for one in (estimate.value, estimate.low, estimate.high)
    )
    return f"{value}  n={estimate.n}\n[{low}, {high}]"
