"""The data of the map of a fleet: one dot per model, in the groups of the legend."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

from scope.records import Estimate, FleetModel
from scope.sections.charts import MapChart, MapDot, MapGroup
from scope.sections.wording import Cell, number

QUANTILES = 5
MOST_GROUPS = 6
"""The number of shapes; if there are more communities, the smallest share one."""

_NEAREST = 3
"""The number of nearest models in a dot's title."""

_OTHERS, _NONE = "other communities", "no community"


_Placed = tuple[FleetModel, MapDot]


def map_chart(members: Sequence[FleetModel]) -> MapChart | None:
    """The map of the models that have a position; None if none has."""
    placed = [
        (model, MapDot(title=_title(model), x=model.x, y=model.y))
        for model in members
        if model.x is not None
        and model.y is not None
        and math.isfinite(model.x)
        and math.isfinite(model.y)
    ]
    if not placed:
        return None
    by_community = any(model.community is not None for model, _ in placed)
    grouped = _by_community if by_community else _by_skill
    return MapChart(
        label=f"Map of {len(placed):,} models, {_spoken(by_community)}; "
        "the table of models lists their accuracies and nearest models",
        groups=grouped(placed),
        by_community=by_community,
    )


def _spoken(by_community: bool) -> str:
    return "coloured by community" if by_community else "coloured by accuracy"


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
