"""Changes between two runs of a task: flips, recovery, McNemar's test, in words and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reports.blocks import Section, paragraph
from reports.builders.estimates import table_of
from reports.prose import Written
from reports.wording import Cell, p_value
from scope.jobs.compare.task_estimates import TaskEstimates
from scope.records import Estimate, FourCells

_ABOUT = (
    "The first model of a pair is the reference. Difference: accuracy of the second less that of "
    "the first, with McNemar’s exact p, not corrected for other pairs. Recovery: accuracy of the "
    "second as a share of the first’s. Flips: questions that only one of the two answers "
    "correctly. Detectable: the smallest difference that n questions show with power 0.8."
)


_HEADS = (
    *("Task", "From", "To", "Difference", "p", "Recovery", "Flips", "Right → wrong"),
    *("Wrong → right", "Wrong → other wrong", "Detectable"),
)


def exchanged(gap: Estimate) -> Estimate:
    """The difference of two models in the other order.

    >>> gap = exchanged(Estimate(value=-0.3, low=-0.4, high=0.1, n=9, method="any"))
    >>> gap.value, gap.low, gap.high
    (0.3, -0.1, 0.4)
    """
    return replace(gap, value=-gap.value, low=-gap.high, high=-gap.low)


def flips_section(tasks: Sequence[TaskEstimates]) -> Section | None:
    """Every pair of models of every task; None without counted flips."""
    rows = [_of_pair(pair, task) for task in tasks for pair in task.cells if pair.flips]
    of_pairs = table_of("", _HEADS, rows)
    if of_pairs is None:
        return None
    blocks = (paragraph(_ABOUT), of_pairs)
    return Section(anchor="flips", title="Flips and recovery", blocks=blocks)


def _of_pair(pair: FourCells, task: TaskEstimates) -> tuple[Written | None, ...]:
    flips = (pair.only_first, pair.only_second, pair.other_wrong)
    return (
        *(task.task, task.marked(pair.first), task.marked(pair.second)),
        *(Cell.points(exchanged(pair.difference)), p_value(pair.p_value)),
        *(share and Cell.share(share) for share in (pair.recovery, pair.flips)),
        *(of and replace(Cell.share(of), remark=f"{pair.count(of):,} of {of.n:,}") for of in flips),
        pair.detectable and Cell.points(pair.detectable),
    )
