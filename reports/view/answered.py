"""The section with the number of questions that each model answered, by task."""

from __future__ import annotations

from dataclasses import dataclass

from scope.records import CompareResult, Outcome, ReuseResult


@dataclass(frozen=True, kw_only=True)
class AnsweredRow:
    """How many of a task's questions a model answered."""

    task: str
    model: str
    asked: int
    given: int
    truncated: int


@dataclass(frozen=True, kw_only=True)
class Answered:
    """Every task's outcome, and the counts model by model."""

    outcomes: tuple[Outcome, ...]
    rows: tuple[AnsweredRow, ...]


def answered(comparison: CompareResult | ReuseResult) -> Answered:
    """The outcome of each task."""
    return Answered(
        outcomes=comparison.outcomes,
        rows=tuple(
            AnsweredRow(
                task=task.task,
                model=card.name,
                asked=sum(answer.asked for answer in row),
                given=sum(answer.given for answer in row),
                truncated=sum(answer.truncated for answer in row),
            )
            for task in getattr(comparison, "tasks", ())
            for card, row in zip(comparison.manifest.models, task.answers, strict=True)
        ),
    )
