"""Every estimate of a test of reuse, and the hashes of its questions."""

from __future__ import annotations

from dataclasses import replace

from reports.view import wording
from reports.view.numbers import MOST_ROWS, NumberRow, NumberSection, NumberTable
from reports.view.reproduce import Reproduce, reproduce
from scope.metrics import metric_name
from scope.records import GOLD, Measurement, ReuseResult


def reuse_numbers(comparison: ReuseResult) -> NumberSection:
    """The estimates by capability; the original texts are first."""
    rows = comparison.measurements
    names = map(metric_name, dict.fromkeys(row.metric for row in rows))
    groups = sorted(dict.fromkeys(row.capability for row in rows), key=lambda one: one is not None)
    return NumberSection(
        tables=tuple(
            _table(comparison, group, [row for row in rows if row.capability == group])
            for group in groups
        ),
        metrics=tuple({name.head: name for name in names}.values()),
    )


def _table(comparison: ReuseResult, group: str | None, rows: list[Measurement]) -> NumberTable:
    return NumberTable(
        task=group or wording.CLEAN,
        rows=tuple(
            NumberRow(
                metric=metric_name(row.metric),
                subset=row.subset or "",
                model=row.target,
                against=_against(comparison, row),
                cell=wording.cell(row.estimate),
            )
            for row in rows[:MOST_ROWS]
        ),
        total=len(rows),
        parts=any(row.subset for row in rows[:MOST_ROWS]),
    )


def _against(comparison: ReuseResult, row: Measurement) -> str | None:
    """The model compared with: None for gold, the reference if the row has none."""
    if row.against is None:
        return comparison.manifest.reference.name
    return None if row.against == GOLD else row.against


def reuse_reproduce(comparison: ReuseResult) -> Reproduce:
    """How to reproduce the verdicts, with the hashes of the questions."""
    again = reproduce(comparison)
    probes = tuple(
        (f"questions, fixed in advance, for {verdict.reference}", verdict.probes)
        for verdict in comparison.verdicts
    )
    return replace(again, fingerprints=(*again.fingerprints, *probes))
