"""The figures of the cloze and question-answering paper, for the models of this comparison."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from reports.blocks import (
    Block,
    Column,
    Figure,
    Row,
    Section,
    Table,
    folded,
    heading,
    note,
    paragraph,
)
from reports.builders.estimates import compared_with
from reports.charts import Histogram, Interval, IntervalChart
from reports.prose import prose
from reports.wording import Cell
from scope.jobs.compare.task_estimates import TaskEstimates, probe_of, task_estimates
from scope.metrics import metric_name
from scope.records import CompareResult, Estimate, Measurement, Undefined

MOST_PAIRS_DRAWN = 15
"""With more pairs than this a chart shows the models against gold alone: see the matrices."""

OPEN_FIGURE_ROWS = 28
"""A longer table is folded."""

BELOW = 9
"""The paper's histogram of cosines ends here, in tenths."""

MOST_SERIES = 6
"""More bars than this are indistinguishable; then only the models against gold are shown."""

BINS = ("below 0", *(f"{step / 10:.1f}–{(step + 1) / 10:.1f}" for step in range(10)))

_COUNTS = {
    "exact_match": "Exact matches",
    "zero_f1": "Answers with word F1 of 0",
    "sem_score_at_least": "Answers with {label}",
}
_MEANS = {"word_cosine": "Average static cosine", "sem_score": "Average SemScore"}
_ORDER = ("exact_match", "word_cosine", "sem_score", "zero_f1", "sem_score_at_least")

_Compared = tuple[tuple[str, str | None], Measurement]
"""A model and what it is compared with, None for gold, with the number."""


def figure_section(result: CompareResult) -> Section | None:
    """The figures of every task that is answered in words; None where there is no such number."""
    cosines = probe_of(result.manifest) is None
    blocks = [
        block
        for task in task_estimates(result)
        if not task.choice
        for block in _of_task(task, cosines=cosines)
    ]
    if not blocks:
        return None
    about = paragraph(
        "Each model’s answers against gold, and the models’ answers against each other (~). A "
        "count is the share times n; the interval is that of the share or of the mean."
    )
    return Section(anchor="figures", title="Free-text answers", blocks=(about, *blocks))


def _of_task(task: TaskEstimates, *, cosines: bool) -> Iterator[Block]:
    spellings = dict.fromkeys(row.metric for row in task.rows)
    ordered = [
        spelling for key in _ORDER for spelling in spellings if metric_name(spelling).head == key
    ]
    if not ordered:
        return
    yield heading("{task}", task=task.task)
    for spelling in ordered:
        yield from _figure(task, spelling)
    if (found := histogram(task, cosines=cosines)) is not None:
        yield from _histogram(found)


def _figure(task: TaskEstimates, spelling: str) -> Iterator[Block]:
    """One metric for each model against gold and for each pair."""
    name = metric_name(spelling)
    counted = name.head in _COUNTS
    title = (_COUNTS | _MEANS)[name.head].format(label=name.label)
    gold: list[_Compared]
    gold = [((model, None), row) for model, row in task.against_gold(spelling).items()]
    between: list[_Compared]
    between = [((one, two), row) for (one, two), row in task.between(spelling).items()]
    pairs_drawn = len(between) <= MOST_PAIRS_DRAWN
    yield heading("{title}", level=4, title=title)
    label = f"{title}, {task.task}; the numbers are in the table"
    if (chart := _chart(label, [*gold, *between] if pairs_drawn else gold)) is not None:
        yield Figure(chart)
    if not pairs_drawn:
        yield note("The chart shows the models against gold; the pairs are in the table.")
    table = Table(
        columns=(
            Column("Model", "name"),
            Column("Against"),
            *([Column("Answers", "number")] if counted else []),
            Column("Share" if counted else "Mean", "estimate"),
        ),
        rows=tuple(_row(*compared, row, counted=counted) for compared, row in [*gold, *between]),
    )
    yield from folded(prose("The numbers"), (table,), when=len(table.rows) > OPEN_FIGURE_ROWS)


def _row(model: str, against: str | None, row: Measurement, *, counted: bool) -> Row:
    counts = [_count(row.estimate)] if counted else []
    return Row(cells=(model, compared_with(against), *counts, Cell.of(row.estimate)))


def _count(estimate: Estimate | Undefined) -> int | None:
    """The number of answers in a share.

    >>> _count(Estimate(value=0.5, low=0.25, high=0.75, n=2510, method="bootstrap"))
    1255
    """
    return round(estimate.value * estimate.n) if isinstance(estimate, Estimate) else None


def _chart(label: str, rows: list[_Compared]) -> IntervalChart | None:
    intervals = tuple(
        Interval(
            category=model if against is None else f"{model} ~ {against}",
            series=0 if against is None else 1,
            value=row.estimate.value,
            low=row.estimate.low,
            high=row.estimate.high,
        )
        for (model, against), row in rows
        if isinstance(row.estimate, Estimate)
    )
    if not intervals:
        return None
    return IntervalChart(
        label=label,
        series=("against gold", "between two models")[: 1 + max(one.series for one in intervals)],
        intervals=intervals,
        beside=False,
    )


def _histogram(found: Histogram) -> Iterator[Block]:
    yield heading("{title}", level=4, title=found.title)
    if found.drawn:
        yield paragraph(
            "The number of answers by SemScore; a bin includes its lower bound. Bars are in the "
            "legend’s order."
        )
        yield Figure(found)
    if found.drawn < len(found.names):
        yield note(
            "{drawn} of {total} series are in the chart; all are in the table.",
            drawn=found.drawn,
            total=len(found.names),
        )
    table = Table(
        columns=(Column("Answers of", "name"), *(Column(one, "number") for one in found.bins)),
        rows=tuple(
            Row(cells=(name, *counts))
            for name, counts in zip(found.names, found.counts, strict=True)
        ),
    )
    yield from folded(prose("The counts"), (table,), when=len(found.names) > OPEN_FIGURE_ROWS)


def histogram(numbers: TaskEstimates, *, cosines: bool = True) -> Histogram | None:
    """The histogram of each model against gold and of each pair; None where nothing is known.

    That of cosines ends at 0.9, where the paper's does. What a score of 0.9 means with another
    measure is not known, so that the histogram of its scores has all of them.
    """
    gold = [
        (f"{model} against gold", row)
        for model, row in numbers.against_gold("sem_score").items()
        if row.values
    ]
    between = [
        (f"{one} ~ {two}", row)
        for (one, two), row in numbers.between("sem_score").items()
        if row.values
    ]
    series = [*gold, *between]
    if not series:
        return None
    counts = [bin_counts(row.values, below=BELOW if cosines else 10) for _, row in series]
    title = "SemScores below 0.9" if cosines else "SemScores"
    # Without negative cosines their bin would only take room.
    first = 0 if any(row[0] for row in counts) else 1
    return Histogram(
        title=title,
        label=f"{title}, {numbers.task}; the numbers are in the table",
        bins=BINS[first : len(counts[0])],
        names=tuple(name for name, _ in series),
        counts=tuple(row[first:] for row in counts),
        drawn=_drawn(gold, series),
    )


def _drawn(
    gold: Sequence[tuple[str, Measurement]], series: Sequence[tuple[str, Measurement]]
) -> int:
    if len(series) <= MOST_SERIES:
        return len(series)
    return len(gold) if len(gold) <= MOST_SERIES else 0


def bin_counts(values: Sequence[float], *, below: int = BELOW) -> tuple[int, ...]:
    """How many values lie below 0, and in each tenth up to ``below``; bins hold their start.

    The tenth that ends at 1 holds 1, too.

    >>> bin_counts([-0.2, 0.0, 0.05, 0.3, 0.89, 0.9, 1.0])
    (1, 2, 0, 0, 1, 0, 0, 0, 0, 1)
    >>> bin_counts([0.3, 0.9, 1.0], below=10)
    (0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2)
    """
    # Stored values are rounded, and 0.3 * 10 may fall short of 3 by the last bit.
    tenths = Counter(min(9, max(-1, math.floor(value * 10 + 1e-9))) for value in values)
    return tuple(tenths[step] for step in range(-1, below))
