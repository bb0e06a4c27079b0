"""Contributions of benchmarks to each other and communities of models on a page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

from reports.blocks import Column, Row, Section, Table, folded, note, paragraph
from reports.charts import MapChart, MapDot, MapGroup
from reports.grids import Grid, signed_grid
from reports.prose import Text, prose
from reports.wording import Cell, number, p_value
from scope.jobs.fleet.score_words import OPEN_ROWS, from_greatest, gain_cell
from scope.records import CommunityDistance, Contribution, Estimate, FleetModel
from scope.records.fleet import FEW_MODELS

QUANTILES = 5
MOST_GROUPS = 6
"""The number of shapes; if there are more communities, the smallest share one."""

_NEAREST = 3
"""The number of nearest models in a dot's title."""

_OTHERS, _NONE = "other communities", "no community"


_Placed = tuple[FleetModel, MapDot]


def map_chart(models: Sequence[FleetModel]) -> MapChart | None:
    """The map of the models that have a position; None if none has."""
    placed = [
        (model, MapDot(title=_title(model), x=model.x, y=model.y))
        for model in models
        if model.x is not None
        and model.y is not None
        and math.isfinite(model.x)
        and math.isfinite(model.y)
    ]
    if not placed:
        return None
    by_community = any(model.community is not None for model, _ in placed)
    colours, grouped = ("community", _by_community) if by_community else ("accuracy", _by_skill)
    return MapChart(
        label=f"Map of {len(placed):,} models, coloured by {colours}; "
        "the table of models lists their accuracies and nearest models",
        groups=grouped(placed),
    )


def _title(model: FleetModel) -> str:
    written = Cell.of(model.skill)
    accuracy = (
        f"undefined ({written.reason})"
        if written.reason is not None
        else f"{written.value} {written.interval}, n = {written.n:,}"
    )
    lines = [model.name + (" (added)" if model.added else ""), f"accuracy {accuracy}"]
    if model.community is not None:
        lines.append(f"community {model.community}")
    if model.nearest:
        lines.append("nearest: " + ", ".join(one.model for one in model.nearest[:_NEAREST]))
    return "\n".join(lines)


def _by_community(placed: Sequence[_Placed]) -> tuple[MapGroup, ...]:
    """The largest communities first, then the small ones as one group, then no community."""
    sizes = Counter(model.community for model, _ in placed if model.community is not None)
    loose = len(placed) - sizes.total()
    room = MOST_GROUPS - (loose > 0)
    shown = [name for name, _ in sizes.most_common(room if len(sizes) <= room else room - 1)]
    tests: list[tuple[str, Callable[[FleetModel], bool]]] = [
        (name, _member_of(name)) for name in shown
    ]
    tests.append((_OTHERS, lambda one: one.community is not None and one.community not in shown))
    tests.append((_NONE, lambda one: one.community is None))
    members = [(name, [dot for one, dot in placed if fits(one)]) for name, fits in tests]
    return tuple(
        MapGroup(name=name, note=f"{len(dots):,}", style=f"s{place}", shape=place, dots=tuple(dots))
        for place, (name, dots) in enumerate(pair for pair in members if pair[1])
    )


def _member_of(community: str) -> Callable[[FleetModel], bool]:
    return lambda model: model.community == community


def _by_skill(placed: Sequence[_Placed]) -> tuple[MapGroup, ...]:
    """Quantiles from the least accurate models to the most, then models of unknown accuracy."""
    known = sorted(
        ((one.skill.value, dot) for one, dot in placed if isinstance(one.skill, Estimate)),
        key=lambda pair: pair[0],
    )
    parts = min(QUANTILES, len(known))
    edges = [round(part * len(known) / parts) for part in range(parts + 1)] if parts else []
    quantiles = tuple(
        _quantile(place, known[start:end]) for place, (start, end) in enumerate(pairwise(edges))
    )
    unknown = tuple(dot for one, dot in placed if not isinstance(one.skill, Estimate))
    if not unknown:
        return quantiles
    name, note = "accuracy unknown", f"{len(unknown):,}"
    shape = MOST_GROUPS - 1
    return (*quantiles, MapGroup(name=name, note=note, style="s5", shape=shape, dots=unknown))


def _quantile(place: int, part: Sequence[tuple[float, MapDot]]) -> MapGroup:
    lowest, highest = (number(part[end][0]) for end in (0, -1))
    return MapGroup(
        name=f"accuracy {lowest} to {highest}",
        note=f"{len(part):,}",
        style=f"q{place}",
        shape=0,
        dots=tuple(dot for _, dot in part),
    )


MOST_BRIEF_COMMUNITIES = 8
"""The most rows on communities in a terminal."""


def contributions_table(contributions: Sequence[Contribution]) -> Table | None:
    """The contributions, the largest first; None if there are none."""
    if not contributions:
        return None
    ordered = sorted(contributions, key=lambda one: from_greatest(one.value))
    return Table(
        columns=(
            Column("Questions of", "name"),
            Column("Forecasts on"),
            Column("Contribution", "estimate"),
        ),
        rows=tuple(Row(cells=(one.source, one.target, gain_cell(one.value))) for one in ordered),
        caption=prose("Contributions of benchmarks to forecasts"),
        ends=True,
    )


def contributions_section(contributions: Sequence[Contribution], table: Table) -> Section:
    """The contributions as a heat map and as a table."""
    colours = _grid(contributions)
    hover = note("Hover over a cell to see its interval and n, which are also in the table.")
    return Section(
        anchor="contributions",
        title="Contributions",
        heading="Contributions of benchmarks to each other",
        blocks=(
            paragraph(
                "The error of forecasts on a benchmark without the questions of another, minus the "
                "error with them, in points: above 0 where they help. Rows are the contributing "
                "benchmarks, columns the predicted ones."
            ),
            *((hover, colours) if colours is not None else ()),
            *folded(prose("The numbers"), (table,), when=len(table.rows) > OPEN_ROWS),
        ),
    )


def _grid(contributions: Sequence[Contribution]) -> Grid | None:
    # Rows and columns in the same order: the two directions of a pair mirror at the diagonal.
    names = list(dict.fromkeys(name for one in contributions for name in (one.source, one.target)))
    sources = {one.source for one in contributions}
    targets = {one.target for one in contributions}
    return signed_grid(
        "Contributions",
        {(one.source, one.target): one.value for one in contributions},
        rows=[name for name in names if name in sources],
        columns=[name for name in names if name in targets],
        heading="Questions of",
    )


def communities_table(communities: Sequence[CommunityDistance]) -> Table | None:
    """The distances within communities, then those between them; None if there are none."""
    if not communities:
        return None
    ordered = sorted(communities, key=lambda one: one.first != one.second)
    return Table(
        columns=(
            Column("Community", "name"),
            Column("To"),
            Column("Pairs", "number"),
            Column("Distance", "estimate"),
            Column("p", "number"),
            Column("p (adjusted)", "number"),
        ),
        rows=tuple(
            Row(
                cells=(
                    one.first,
                    prose("__itself__") if one.first == one.second else one.second,
                    one.pairs,
                    Cell.of(one.distance),
                    _p_value(one),
                    None if one.p_adjusted is None else prose(p_value(one.p_adjusted)),
                )
            )
            for one in ordered
        ),
        caption=prose("Distances within and between communities"),
        most=MOST_BRIEF_COMMUNITIES,
    )


def _p_value(one: CommunityDistance) -> Text | None:
    if one.p_value is not None:
        return prose(p_value(one.p_value))
    return prose("too few to conclude") if one.first == one.second else None


def communities_section(table: Table) -> Section:
    """The distances within and between communities."""
    return Section(
        anchor="communities",
        title="Communities",
        blocks=(
            paragraph(
                "The mean distance between the vectors of two models. p is the share of random "
                "groups of the same size whose models are at least as close to each other; "
                "p\u00a0(adjusted) is corrected for the number of communities by Benjamini and "
                "Hochberg’s method. A community of fewer than {few} models is too small for a test "
                "and a conclusion.",
                few=FEW_MODELS,
            ),
            *folded(prose("The numbers"), (table,), when=len(table.rows) > OPEN_ROWS),
        ),
    )
