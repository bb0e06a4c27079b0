"""The section with the evidence: each kind of similarity, for suspect and controls."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from reports.view import wording
from reports.view.reuse_strips import small_strip
from reports.view.reuse_words import KindName, explained_kinds, kind_name
from scope.records import Estimate, Evidence, Verdict
from scope.sections.charts import SmallStrip


@dataclass(frozen=True, kw_only=True)
class ControlRange:
    """The lowest, the middle and the highest of the controls' values."""

    lowest: str
    median: str
    highest: str


@dataclass(frozen=True, kw_only=True)
class EvidenceRow:
    """One kind of evidence; ``controls`` is None if no control has a value."""

    kind: KindName
    capability: str | None
    cell: wording.Cell
    controls: ControlRange | None
    strip: SmallStrip | None
    p_value: str
    decides: bool


@dataclass(frozen=True, kw_only=True)
class EvidenceTable:
    """The evidence on one reference.

    ``models`` has the values of every model, in the order of the rows; empty if undefined.
    """

    reference: str
    suspect: str
    rows: tuple[EvidenceRow, ...]
    models: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, kw_only=True)
class EvidenceSection:
    """The evidence of every verdict, and what its kinds mean."""

    tables: tuple[EvidenceTable, ...]
    kinds: tuple[KindName, ...]


def evidence_section(verdicts: tuple[Verdict, ...]) -> EvidenceSection:
    """The evidence on every reference that has any."""
    return EvidenceSection(
        tables=tuple(map(_table, (one for one in verdicts if one.evidence))),
        kinds=explained_kinds(one for verdict in verdicts for one in verdict.evidence),
    )


def _table(verdict: Verdict) -> EvidenceTable:
    return EvidenceTable(
        reference=verdict.reference,
        suspect=verdict.suspect,
        rows=tuple(_row(one, verdict.suspect) for one in verdict.evidence),
        models=_models(verdict),
    )


def _row(evidence: Evidence, suspect: str) -> EvidenceRow:
    kind = kind_name(evidence.kind)
    strip = None
    if isinstance(evidence.suspect, Estimate) and evidence.controls:
        strip = small_strip(kind.heading, suspect, evidence.suspect, evidence.controls)
    return EvidenceRow(
        kind=kind,
        capability=evidence.capability,
        cell=wording.cell(evidence.suspect),
        controls=_range([control.value for control in evidence.controls]),
        strip=strip,
        p_value=wording.p_value(evidence.p_value),
        decides=evidence.decides,
    )


def _range(values: list[float]) -> ControlRange | None:
    if not values:
        return None
    return ControlRange(
        lowest=wording.number(min(values)),
        median=wording.number(statistics.median(values)),
        highest=wording.number(max(values)),
    )


def _models(verdict: Verdict) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Every model's value of every kind, the suspect first."""
    columns = [
        {control.model: wording.number(control.value) for control in one.controls}
        | {verdict.suspect: wording.cell(one.suspect).value}
        for one in verdict.evidence
    ]
    names = dict.fromkeys([verdict.suspect, *(name for column in columns for name in column)])
    return tuple((name, tuple(column.get(name, "") for column in columns)) for name in names)
