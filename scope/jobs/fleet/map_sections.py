"""Contributions of benchmarks to each other and communities of models on a page."""

from __future__ import annotations

from collections.abc import Sequence

from scope.jobs.fleet.score_words import OPEN_ROWS, from_greatest, gain_cell
from scope.records import CommunityDistance, Contribution
from scope.sections.blocks import Column, Row, Section, Table, folded, note, paragraph
from scope.sections.grids import Grid, signed_grid
from scope.sections.prose import prose
from scope.sections.wording import Cell, p_value

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
            Column("p (Holm)", "number"),
        ),
        rows=tuple(
            Row(
                cells=(
                    one.first,
                    prose("__itself__") if one.first == one.second else one.second,
                    one.pairs,
                    Cell.of(one.distance),
                    None if one.p_value is None else prose(p_value(one.p_value)),
                    None if one.p_adjusted is None else prose(p_value(one.p_adjusted)),
                )
            )
            for one in ordered
        ),
        caption=prose("Distances within and between communities"),
        most=MOST_BRIEF_COMMUNITIES,
    )


def communities_section(table: Table) -> Section:
    """The distances within and between communities."""
    return Section(
        anchor="communities",
        title="Communities",
        blocks=(
            paragraph(
                "The mean distance between the vectors of two models. p is the share of random "
                "groups of the same size whose models are at least as close to each other; "
                "p\u00a0(Holm) is corrected for the number of communities by Holm’s method."
            ),
            *folded(prose("The numbers"), (table,), when=len(table.rows) > OPEN_ROWS),
        ),
    )
