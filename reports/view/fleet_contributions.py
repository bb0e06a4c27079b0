"""The sections with contributions of benchmarks and communities of models."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view import wording
from reports.view.fleet_words import OPEN_ROWS
from scope.records import CommunityDistance, Contribution, Estimate, FleetFindings
from scope.sections.grids import Grid, signed_grid


@dataclass(frozen=True, kw_only=True)
class ContributionRow:
    """The contribution of one benchmark to forecasts on another."""

    source: str
    target: str
    cell: wording.Cell


@dataclass(frozen=True, kw_only=True)
class Contributions:
    """The contributions as a heat map and as a table, the largest first."""

    grid: Grid | None
    rows: tuple[ContributionRow, ...]
    folded: bool


@dataclass(frozen=True, kw_only=True)
class CommunityRow:
    """The distance within a community (``second`` is None) or between two."""

    first: str
    second: str | None
    pairs: int
    cell: wording.Cell
    p_value: str
    p_adjusted: str


@dataclass(frozen=True, kw_only=True)
class Communities:
    """The distances within communities, then those between them."""

    rows: tuple[CommunityRow, ...]
    folded: bool


def contribution_section(findings: FleetFindings) -> Contributions | None:
    """The contributions of benchmarks to each other; None if not requested."""
    given = findings.contributions
    if not given:
        return None
    ordered = sorted(given, key=_from_greatest)
    # Rows and columns in the same order: the two directions of a pair mirror at the diagonal.
    names = list(dict.fromkeys(name for one in given for name in (one.source, one.target)))
    return Contributions(
        grid=signed_grid(
            "Contributions",
            {(one.source, one.target): one.value for one in given},
            rows=[name for name in names if any(name == one.source for one in given)],
            columns=[name for name in names if any(name == one.target for one in given)],
            heading="Questions of",
        ),
        rows=tuple(
            ContributionRow(
                source=one.source, target=one.target, cell=wording.points_cell(one.value)
            )
            for one in ordered
        ),
        folded=len(given) > OPEN_ROWS,
    )


def _from_greatest(one: Contribution) -> float:
    """Sort key: the largest contribution first, undefined ones last."""
    return -one.value.value if isinstance(one.value, Estimate) else float("inf")


def communities(findings: FleetFindings) -> Communities | None:
    """The distances within and between communities; None if there are none."""
    if not findings.communities:
        return None
    ordered = sorted(findings.communities, key=lambda one: one.first != one.second)
    return Communities(rows=tuple(map(_row, ordered)), folded=len(ordered) > OPEN_ROWS)


def _row(one: CommunityDistance) -> CommunityRow:
    return CommunityRow(
        first=one.first,
        second=None if one.first == one.second else one.second,
        pairs=one.pairs,
        cell=wording.cell(one.distance),
        p_value=_p(one.p_value),
        p_adjusted=_p(one.p_adjusted),
    )


def _p(value: float | None) -> str:
    return "" if value is None else wording.p_value(value)
