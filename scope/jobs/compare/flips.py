"""Changes between two runs of a task: flips, recovery, McNemar's test, in words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from reports.blocks import Section, paragraph
from reports.builders.estimates import table_of
from reports.prose import Text, Written, prose
from reports.wording import Cell, in_percent, p_value, percent, short_points, short_share
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


def pair_sentences(cells: FourCells) -> Iterator[Text]:
    """Which model is right more often, the recovery of the second, and what n can show."""
    yield _accuracies(cells)
    if cells.flips is None or cells.p_value is None:
        return
    if isinstance(cells.recovery, Estimate):
        yield prose(
            "{second} keeps **{share}** of the accuracy of {first} (recovery).",
            first=cells.first,
            second=cells.second,
            share=short_share(cells.recovery),
        )
    yield prose(
        "{flips} of the answers flip, {lost} from right to wrong and {gained} back "
        "(McNemar’s exact p: {p}).",
        flips=short_share(cells.flips),
        lost=cells.count(cells.only_first),
        gained=cells.count(cells.only_second),
        p=p_value(cells.p_value),
    )
    if isinstance(cells.detectable, Estimate):
        yield prose(
            "{n} questions show a difference of {points} points with power 0.8.",
            n=cells.detectable.n,
            points=short_points(cells.detectable).replace("+", ""),
        )


def _accuracies(cells: FourCells) -> Text:
    """The model that is right more often, if shown, and the difference in points."""
    gap, (better, other) = cells.difference, (cells.first, cells.second)
    shares = [cells.both.value + alone.value for alone in (cells.only_first, cells.only_second)]
    if gap.value < 0:
        gap, (better, other), shares = exchanged(gap), (other, better), shares[::-1]
    more, less = in_percent(*shares)
    if more == less:
        more, less = map(percent, shares)
    opening = "**{better} is right more often**: on"
    if gap.side() != "more" or round(cells.p_value or 0.0, 3) >= 0.05:
        by_test = "" if cells.p_value is None else " by McNemar’s exact test"
        opening = f"**Neither is shown to be right more often**{by_test}: {{better}} on"
    # With McNemar's test the verdict gives the difference, with an interval of another kind.
    points = "" if cells.p_value is not None else f" The difference is {short_points(gap)} points."
    words = f"{opening} {more}\u00a0%, {{other}} on {less}\u00a0%.{points}"
    return prose(words, better=better, other=other)


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
