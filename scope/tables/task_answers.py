"""Which answers each model gives to a task, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from scope.printing import printable
from scope.records import Estimate, TaskShares
from scope.tables.cells import listing

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST_REMARKS = 10
"""Most remarks before the tables; the report and --json have all."""


def remarks(shares: Sequence[TaskShares]) -> Iterator[RenderableType]:
    """The remarks on degenerate models, then on frequent answers."""
    from rich.text import Text

    degenerate = [
        f"degenerate: {one.model} on {one.task}: {one.degenerate}; its numbers are no evidence"
        for one in shares
        if one.degenerate
    ]
    warnings = [
        f"warning: {one.model} on {one.task}: {one.warning}" for one in shares if one.warning
    ]
    for lines, style in ((degenerate, "bold red"), (warnings, "yellow")):
        for line in lines[:MOST_REMARKS]:
            yield Text(printable(line), style=style)
        if left_out := len(lines[MOST_REMARKS:]):
            yield Text(f"and {left_out:,} more such models: in the report and in --json", style)


def answers_to(task: str, shares: Sequence[TaskShares]) -> Iterator[RenderableType]:
    """One row per model: its accuracy, and its most frequent answers."""
    rows = [(one.model, _accuracy(one), one.in_words()) for one in shares if one.task == task]
    shown = listing(f"{task}: answers", ("model", "accuracy", "answers"), rows)
    if shown is not None:
        yield shown


def _accuracy(one: TaskShares) -> str:
    known = isinstance(one.accuracy, Estimate)
    return f"{one.accuracy}  n={one.accuracy.n}" if known else str(one.accuracy)
