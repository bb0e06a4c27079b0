"""The models of a fleet on a page: their map, and a table that can be searched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.blocks import (
    Block,
    Column,
    Figure,
    Finder,
    Row,
    Section,
    Select,
    Table,
    heading,
    note,
    paragraph,
)
from reports.prose import Text, Written, joined, prose
from reports.wording import Cell, number
from scope.jobs.fleet.map_sections import map_chart
from scope.jobs.fleet.score_words import first_rows, from_greatest
from scope.records import Estimate, FleetModel, Neighbour

MOST_LISTED = 3_000
"""At most so many models are drawn and listed, the most accurate first."""

OF_THE_MAP = "the map"
"""How a note on the map begins."""


def fleet_table(models: Sequence[FleetModel]) -> Table | None:
    """All models, the most accurate first; None if there are none."""
    if not models:
        return None
    ordered = _ordered(models)
    communities = tuple(dict.fromkeys(one.community for one in models if one.community is not None))
    nearest = any(model.nearest for model in models)
    columns = [Column("Model", "name"), Column("Accuracy", "estimate")]
    if communities:
        columns.append(Column("Community"))
    if nearest:
        columns += [Column("Nearest"), Column("Next nearest", spacious=True)]
    return Table(
        columns=tuple(columns),
        rows=tuple(_row(model, communities, nearest=nearest) for model in ordered),
        caption=prose("Accuracy of the models"),
        tall=True,
        ends=True,
        finder=_finder(communities),
    )


def _ordered(models: Sequence[FleetModel]) -> list[FleetModel]:
    return sorted(models, key=lambda model: from_greatest(model.skill))


def _row(model: FleetModel, communities: tuple[str, ...], *, nearest: bool) -> Row:
    cells: list[Written | None] = [
        prose("{name} (added)" if model.added else "{name}", name=model.name),
        Cell.of(model.skill),
    ]
    skill = model.skill.value if isinstance(model.skill, Estimate) else -1.0
    keys = {"error": f"{1 - skill:.6f}"}
    if communities:
        named = model.community is not None
        cells.append(model.community)
        keys["community"] = str(communities.index(model.community or "")) if named else ""
    if nearest:
        cells += [_neighbours(model.nearest[:1]), _neighbours(model.nearest[1:])]
    return Row(cells=tuple(cells), keys=keys)


def _neighbours(nearest: Sequence[Neighbour]) -> Text:
    """Models with their distances."""
    return joined(prose(f"{{name}}\u00a0{number(one.distance)}", name=one.model) for one in nearest)


def _finder(communities: tuple[str, ...]) -> Finder:
    options = (("", "all"), ("none", "none"), *((str(p), one) for p, one in enumerate(communities)))
    by_community = Select(key="community", label="Community", options=options)
    return Finder(
        unit="models",
        searched="names",
        selects=(by_community,) if communities else (),
        orders=(("order", "most accurate first"), ("error", "least accurate first")),
    )


def models_section(
    models: Sequence[FleetModel], notes: Sequence[str], table: Table, *, most: int
) -> Section:
    """At most so many models with their map; the run's notes on the map are shown with it."""
    shown = first_rows(table, most)
    listed = len(shown.rows)
    nearest = any(model.nearest for model in models)
    last = " The last columns list the models with the nearest vectors and their distances."
    cut = note(
        "The table lists the {listed} most accurate of {total} models; all are in ``result.json``.",
        listed=listed,
        total=len(models),
    )
    return Section(
        anchor="models",
        title="Models",
        blocks=(
            *_map(_ordered(models)[:most], notes, total=len(models)),
            heading("All models"),
            paragraph(f"Each model’s accuracy is its share of correct answers.{last * nearest}"),
            *((cut,) if listed < len(models) else ()),
            shown,
        ),
    )


def _map(models: Sequence[FleetModel], notes: Sequence[str], *, total: int) -> Iterator[Block]:
    chart = map_chart(models)
    if chart is None:
        return
    yield heading("Map")
    yield paragraph(
        "Each mark is a model. Models that are close tend to answer the same questions correctly. "
        "The axes have no meaning of their own, and two dimensions cannot preserve all distances; "
        "the distances in the table are exact. Hover over a mark to see its model."
    )
    for one in notes:
        if one.startswith(OF_THE_MAP):
            yield note("{note}.", note=one[:1].upper() + one[1:])
    yield Figure(chart)
    drawn = len(chart.dots)
    if drawn < total:
        others = "; the others have no position" if drawn < len(models) else ""
        yield note(
            f"The map shows {{drawn}} of {{total}} models{others}.", drawn=drawn, total=total
        )
