"""The section with the models of a fleet: their map, and a table that can be searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reports.view import wording
from reports.view.fleet_map import map_chart
from scope.records import Estimate, FleetModel
from scope.sections.charts import MapChart

OF_THE_MAP = "the map"
"""How a note on the map begins."""


@dataclass(frozen=True, kw_only=True)
class ModelRow:
    """One model; ``community`` is the index of its community, or None.

    ``error`` is the sort key for "least accurate first".
    """

    name: str
    added: bool
    cell: wording.Cell
    error: str
    community: int | None
    nearest: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Models:
    """The models, the most accurate first; ``total`` includes those not listed.

    ``drawn`` counts the dots of the map; ``notes`` are the notes on the map.
    """

    chart: MapChart | None
    drawn: int
    notes: tuple[str, ...]
    total: int
    rows: tuple[ModelRow, ...]
    communities: tuple[str, ...]
    nearest: bool


def models_section(
    models: tuple[FleetModel, ...], notes: Sequence[str] = (), *, limit: int
) -> Models | None:
    """At most ``limit`` models and their map; None if there are none.

    The run's notes on the map are shown with it.
    """
    if not models:
        return None
    ordered = sorted(models, key=lambda model: -_skill(model))[:limit]
    communities = tuple(dict.fromkeys(one.community for one in models if one.community is not None))
    chart = map_chart(ordered)
    return Models(
        chart=chart,
        drawn=0 if chart is None else len(chart.dots),
        notes=tuple(note for note in notes if note.startswith(OF_THE_MAP)),
        total=len(models),
        rows=tuple(_row(model, communities) for model in ordered),
        communities=communities,
        nearest=any(model.nearest for model in ordered),
    )


def _skill(model: FleetModel) -> float:
    """The accuracy, or -1 if unknown."""
    return model.skill.value if isinstance(model.skill, Estimate) else -1.0


def _row(model: FleetModel, communities: tuple[str, ...]) -> ModelRow:
    community = None if model.community is None else communities.index(model.community)
    return ModelRow(
        name=model.name,
        added=model.added,
        cell=wording.cell(model.skill),
        error=f"{1 - _skill(model):.6f}",
        community=community,
        nearest=tuple((one.model, wording.number(one.distance)) for one in model.nearest),
    )
