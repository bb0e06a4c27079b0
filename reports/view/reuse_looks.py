"""The section of a sequential test: the p-value after each batch of questions."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view import wording
from reports.view.reuse_words import rate_of_one
from scope.records import Verdict

OPEN_ROWS = 28
"""A longer table is folded."""


@dataclass(frozen=True, kw_only=True)
class LookRow:
    """The p-value after a number of questions; ``reached`` is true if it was small enough."""

    asked: int
    p_value: str
    reached: bool


@dataclass(frozen=True, kw_only=True)
class Looks:
    """The looks of one verdict; ``rate`` is the p-value that decides it."""

    reference: str
    rate: str
    rows: tuple[LookRow, ...]
    folded: bool


def looks(verdicts: tuple[Verdict, ...]) -> tuple[Looks, ...]:
    """The looks of every verdict of a sequential test."""
    return tuple(
        Looks(
            reference=verdict.reference,
            rate=f"{rate_of_one(verdicts):.3g}",
            rows=tuple(
                LookRow(
                    asked=look.asked,
                    p_value=wording.p_value(look.p_value),
                    # A stored p-value has six decimals.
                    reached=look.p_value <= rate_of_one(verdicts) + 1e-6,
                )
                for look in verdict.looks
            ),
            folded=len(verdict.looks) > OPEN_ROWS,
        )
        for verdict in verdicts
        if verdict.looks
    )
