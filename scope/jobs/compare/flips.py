"""What changes between two runs of a task: flips, recovery, McNemar's test, in words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.blocks import Block, Section, Table, paragraph
from reports.prose import Text, prose, written
from reports.wording import in_percent, p_value, short_share
from scope.jobs.compare.task_estimates import TaskEstimates
from scope.records import Estimate, FourCells, PooledDifference, Undefined

_ABOUT = (
    "The first model of a pair is the reference. Difference: accuracy of the second less that of "
    "the first, with McNemar’s exact p, not corrected for other pairs. Recovery: accuracy of the "
    "second as a share of the first’s. Flips: questions that only one of the two answers "
    "correctly. Detectable: the smallest difference that so many questions show with power 0.8."
)

_ABOUT_POOLED = (
    "Difference: accuracy of the second model less that of the first, in points. p is one-sided: "
    "the probability of such a drop, or a greater one, if both were equally accurate on every "
    "task. *Pooled* counts each item alike, *mean of tasks* each task; *max drop* is the task that "
    "loses most for its number of changed items, its p and its interval corrected for the choice; "
    "*Fisher* combines the p-values of the tasks. Pooled, max drop and Fisher are those of Kübler "
    "et al. (ICLR 2026): a drop is shown where one of the three is at most 0.05 / 3."
)


def replacement_sentence(cells: FourCells) -> Iterator[Text]:
    """How much of the first model's accuracy the second keeps, the test, and what n can show."""
    if cells.flips is None or cells.recovery is None or cells.other_wrong is None:
        return
    yield prose(
        "{second} keeps **{share}** of the accuracy of {first} (recovery). {flips} of the answers "
        "flip, {lost} from right to wrong and {gained} back (McNemar’s exact p {p}); {other} wrong "
        "answers change to other wrong ones.",
        first=cells.first,
        second=cells.second,
        share=short_share(cells.recovery),
        flips=short_share(cells.flips),
        lost=f"{cells.count(cells.only_first):,}",
        gained=f"{cells.count(cells.only_second):,}",
        other=f"{cells.count(cells.other_wrong):,}",
        p=_p(cells.p_value),
    )
    if isinstance(cells.detectable, Estimate):
        yield prose(
            "{n} questions show a difference of {points} points with power 0.8.",
            n=f"{cells.detectable.n:,}",
            points=in_points(cells.detectable),
        )


def _p(value: float | None) -> str:
    shown = p_value(value)
    return shown if shown.startswith("<") else f"= {shown}"


def in_points(estimate: Estimate | Undefined | None, sign: int = 1) -> str:
    """A difference of shares in points with its interval; ``sign`` −1 exchanges the two.

    >>> in_points(Estimate(value=0.021, low=-0.018, high=0.0251, n=9, method="any"), sign=-1)
    '−2.1 [−2.5, 1.8]'
    """
    if not isinstance(estimate, Estimate):
        return "none" if estimate is None else str(estimate)
    low, high = sorted((sign * estimate.low, sign * estimate.high))
    value, *ends = in_percent(sign * estimate.value, low, high)
    return f"{value} [{', '.join(ends)}]"


def flips_section(
    tasks: Sequence[TaskEstimates], pooled: Sequence[PooledDifference]
) -> Section | None:
    """Every pair of models of every task, and the tasks pooled; None without counted flips."""
    numbers = (
        *("n", "Difference", "p", "Recovery", "Flips", "Right → wrong", "Wrong → right"),
        *("Wrong → other wrong", "Detectable"),
    )
    rows = [_cells(cells, task) for task in tasks for cells in task.cells if cells.flips]
    if not rows:
        return None
    blocks: list[Block] = [paragraph(_ABOUT), _table(("Task", "From", "To"), numbers, rows)]
    if pooled:
        each = [
            (
                *(row.first, row.second, row.way, ", ".join(row.tasks), f"{row.estimate.n:,}"),
                *(in_points(row.estimate), p_value(row.p_value)),
            )
            for row in pooled
        ]
        names = ("From", "To", "Tasks pooled by", "Tasks")
        table = _table(names, ("n", "Difference", "p of a drop"), each)
        blocks += [paragraph(_ABOUT_POOLED), table]
    return Section(anchor="flips", title="Flips and recovery", blocks=tuple(blocks))


def _table(
    names: Sequence[str], numbers: Sequence[str], rows: Sequence[Sequence[Text | str]]
) -> Table:
    return Table.of({**dict.fromkeys(names, "name"), **dict.fromkeys(numbers, "number")}, rows)


def _cells(cells: FourCells, task: TaskEstimates) -> tuple[Text | str, ...]:
    return (
        task.task,
        written(task.marked(cells.first)),
        written(task.marked(cells.second)),
        f"{cells.both.n:,}",
        in_points(cells.difference, -1),
        p_value(cells.p_value),
        *(
            "none" if share is None else short_share(share)
            for share in (cells.recovery, cells.flips)
        ),
        *(
            f"{cells.count(share):,}: {short_share(share)}" if share is not None else "none"
            for share in (cells.only_first, cells.only_second, cells.other_wrong)
        ),
        in_points(cells.detectable),
    )
