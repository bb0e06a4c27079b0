"""The section with the number of questions that were answered, by task."""

from __future__ import annotations

from collections.abc import Iterable

from scope.jobs.sections.outcomes import outcome_table, tracebacks
from scope.records import Outcome
from scope.sections.blocks import Block, Section


def answered_section(
    outcomes: Iterable[Outcome], *more: Block, title: str = "Answered questions"
) -> Section:
    """Every task's outcome, then what else a job counts."""
    outcomes = tuple(outcomes)
    return Section(
        anchor="answered",
        title=title,
        heading="Answered questions",
        blocks=(
            outcome_table(
                outcomes,
                first="Task",
                counts=("Asked", "Answered", "Not answered"),
                caption="One answer is one question asked of one model.",
            ),
            *tracebacks(outcomes),
            *more,
        ),
    )
