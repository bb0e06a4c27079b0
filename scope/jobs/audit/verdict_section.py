"""The verdict on each target in a box, with what it rests on behind a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal

from reports.blocks import Beside, Callout, Column, Fold, Paragraph, Row, Table, paragraph
from reports.prose import Text, prose
from reports.wording import Cell
from scope.jobs.audit.verdicts import opening
from scope.records import AuditResult, Replacement, ReplacementDecision

_FRAMES: Mapping[ReplacementDecision, Literal["good", "bad", "undecided"]] = MappingProxyType(
    {"may replace": "good", "may not": "bad", "not shown": "undecided"}
)
SIGNS: Mapping[ReplacementDecision, str] = MappingProxyType(
    {"may replace": "✓", "may not": "✗", "not shown": "?"}
)
"""The sign of each decision, so that colour is never the only one."""


def verdict_sentences(result: AuditResult) -> list[Text]:
    """One for each target; none where the audit reaches no verdict."""
    parts = [_parts(one, result.manifest.reference.name) for one in result.verdicts]
    return [prose("**{head}**: {why}", head=head, why=why) for head, why in parts]


def _parts(verdict: Replacement, reference: str) -> tuple[str, str]:
    """The verdict with its sign, and what carries it."""
    first = opening(verdict, reference)
    more, _, why = verdict.sentence.removeprefix(first).partition(": ")
    return f"{SIGNS[verdict.decision]} {first}{more}", why


def verdict_boxes(result: AuditResult) -> Iterator[Beside]:
    """A box a target."""
    if result.verdicts:
        yield Beside(tuple((_box(one, result.manifest.reference.name),) for one in result.verdicts))


def _box(verdict: Replacement, reference: str) -> Callout:
    """The verdict, its sentence, and its endpoints behind a line."""
    head, why = _parts(verdict, reference)
    sentence = why if verdict.reason else f"{why[:1].upper()}{why[1:]}"
    endpoints = Table(
        columns=(
            Column("Verdict rests on", "name"),
            Column("Value", "estimate"),
            Column("Limit", "number"),
            Column("State"),
        ),
        rows=tuple(
            Row(
                cells=(
                    one.name,
                    Cell.of(one.estimate),
                    "" if one.limit is None else f"{one.limit:g}".replace("-", "−"),
                    one.state,
                )
            )
            for one in verdict.endpoints
        ),
        caption=prose(
            "Accuracy is the target’s minus the reference’s; with a baseline, agreement and "
            "concordance are the target’s minus the baseline’s. A state is that of its row "
            "alone; the verdict is corrected over rows and targets"
        ),
    )
    fold = Fold(prose("{n} numbers and limits", n=len(verdict.endpoints)), (endpoints,))
    said = (
        Paragraph(prose("**{head}**", head=head), lead=True),
        paragraph("{why}", why=sentence),
    )
    return Callout(_FRAMES[verdict.decision], (*said, fold))
