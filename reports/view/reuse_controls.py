"""The section with the controls: whether they are comparable with the suspect."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view import wording
from reports.view.reuse_words import names_in_sentence
from scope.records import ControlCheck, Estimate, Undefined, Verdict


@dataclass(frozen=True, kw_only=True)
class ControlRow:
    """One control: its skill, the share of questions that it answered, and its flags."""

    model: str
    skill: wording.Cell
    given: str
    comparable: bool
    flags: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ControlTable:
    """The controls of one verdict, or of several verdicts with the same controls.

    ``references`` are those of the verdicts, each with the separator after it.
    """

    references: tuple[tuple[str, str], ...]
    suspect: str
    skill: wording.Cell
    rows: tuple[ControlRow, ...]
    flagged: int
    comparable: int
    folded: bool


_Same = tuple[str, Estimate | Undefined, tuple[ControlCheck, ...]]

OPEN_ROWS = 40
"""A longer table is folded."""


def control_tables(verdicts: tuple[Verdict, ...]) -> tuple[ControlTable, ...]:
    """The controls, one table for all verdicts with equal checks."""
    groups: dict[_Same, list[str]] = {}
    for verdict in verdicts:
        key = (verdict.suspect, verdict.skill, verdict.controls)
        groups.setdefault(key, []).append(verdict.reference)
    return tuple(_table(key, references) for key, references in groups.items())


def _table(key: _Same, references: list[str]) -> ControlTable:
    suspect, skill, checks = key
    return ControlTable(
        references=names_in_sentence(references),
        suspect=suspect,
        skill=wording.cell(skill),
        rows=tuple(
            ControlRow(
                model=check.model,
                skill=wording.cell(check.skill),
                given=f"{wording.percent(check.given)}\u00a0%",
                comparable=check.comparable,
                flags=check.flags,
            )
            for check in checks
        ),
        flagged=sum(bool(check.flags) for check in checks),
        comparable=sum(check.comparable for check in checks),
        folded=len(checks) > OPEN_ROWS,
    )
