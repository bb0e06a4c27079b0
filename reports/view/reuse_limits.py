"""The section with the limits of a verdict, and what would change it."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view import wording
from scope.records import Decision, Verdict


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The reasons of one verdict, and what could change it.

    ``detectable`` is the least detectable share of reused answers, in per cent; None if no share is
    known to be detectable.
    """

    reference: str
    decision: Decision
    reasons: tuple[str, ...]
    changes: tuple[str, ...]
    alpha: str
    detectable: str | None


def limits(verdicts: tuple[Verdict, ...]) -> tuple[Limits, ...]:
    """The limits of every verdict."""
    return tuple(
        Limits(
            reference=verdict.reference,
            decision=verdict.decision,
            reasons=verdict.reasons,
            changes=verdict.changes,
            alpha=f"{100 * verdict.alpha:g}",
            detectable=None if verdict.detectable is None else wording.percent(verdict.detectable),
        )
        for verdict in verdicts
    )
