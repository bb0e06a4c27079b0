"""The section with what would change a verdict, and what it cannot say."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view import wording
from scope.records import Decision, Verdict


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Why one verdict is no clearer, and what could change it.

    ``detectable`` is the least share of reused answers that would have been seen, in per cent;
    None where no share is known to have been.
    """

    reference: str
    decision: Decision
    reasons: tuple[str, ...]
    changes: tuple[str, ...]
    alpha: str
    detectable: str | None


def limits(verdicts: tuple[Verdict, ...]) -> tuple[Limits, ...]:
    """What bounds every verdict."""
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
