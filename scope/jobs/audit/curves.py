"""Soft-SCoPE over its cutoff, folded."""

from __future__ import annotations

from scope.records import AuditResult
from scope.sections.blocks import Column, Fold, Row, Section, Table, paragraph
from scope.sections.prose import prose
from scope.sections.wording import Cell


def curves_section(result: AuditResult) -> Section:
    """The estimates of every cutoff."""
    rows = tuple(
        Row(cells=(one.capability, f"{x:g}", one.target, Cell.of(estimate)))
        for one in result.curves
        for x, estimate in one.points
    )
    columns = (
        Column("Capability", "name"),
        Column("Cutoff"),
        Column("Target"),
        Column("Soft-SCoPE", "estimate"),
    )
    fold = Fold(prose("The numbers"), (Table(columns=columns, rows=rows),))
    return Section(
        anchor="curves",
        title="Cutoff",
        heading="Soft-SCoPE over the cutoff",
        blocks=(fold,) if result.curves else (paragraph("No curve was computed."),),
    )
