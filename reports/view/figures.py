"""The figures of the cloze and question-answering paper, for the models of this comparison."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view import wording
from reports.view.histogram import histogram
from reports.view.task_numbers import TaskEstimates, task_numbers
from scope.metrics import metric_name
from scope.records import CompareResult, Estimate, Measurement
from scope.sections.charts import Histogram, Interval, IntervalChart

MOST_PAIRS = 15
"""With more pairs than this a chart shows the models against gold alone: see the matrices."""

OPEN_ROWS = 28
"""A longer table is folded."""

_COUNTS = {
    "exact_match": "Exact matches",
    "zero_f1": "Answers with word F1 of 0",
    "sem_score_at_least": "Answers with {label}",
}
_MEANS = {"word_cosine": "Average static cosine", "sem_score": "Average SemScore"}
_ORDER = ("exact_match", "word_cosine", "sem_score", "zero_f1", "sem_score_at_least")


_Compared = tuple[tuple[str, str | None], Measurement]
"""A model and what it is compared with, None for gold, with the number."""


@dataclass(frozen=True, kw_only=True)
class FigureRow:
    """One number; ``against`` is None for gold, ``count`` is empty where nothing is counted."""

    model: str
    against: str | None
    count: str
    cell: wording.Cell


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One metric for each model against gold and for each pair."""

    title: str
    counted: bool
    rows: tuple[FigureRow, ...]
    folded: bool
    chart: IntervalChart | None
    pairs_drawn: bool


@dataclass(frozen=True, kw_only=True)
class TaskFigures:
    """The figures of one task."""

    task: str
    figures: tuple[Figure, ...]
    histogram: Histogram | None


def figures(comparison: CompareResult) -> tuple[TaskFigures, ...]:
    """The figures of every task that is answered in words."""
    cosines = wording.probe_of(comparison.manifest) is None
    made = (
        _of_task(numbers, cosines=cosines)
        for numbers in task_numbers(comparison)
        if not numbers.choice
    )
    return tuple(one for one in made if one.figures)


def _of_task(numbers: TaskEstimates, *, cosines: bool) -> TaskFigures:
    spellings = dict.fromkeys(row.metric for row in numbers.rows)
    ordered = [
        spelling for key in _ORDER for spelling in spellings if metric_name(spelling).head == key
    ]
    return TaskFigures(
        task=numbers.task,
        figures=tuple(_figure(numbers, spelling) for spelling in ordered),
        histogram=histogram(numbers, cosines=cosines),
    )


def _figure(numbers: TaskEstimates, spelling: str) -> Figure:
    name = metric_name(spelling)
    counted = name.head in _COUNTS
    title = (_COUNTS | _MEANS)[name.head].format(label=name.label)
    gold: list[_Compared]
    gold = [((model, None), row) for model, row in numbers.against_gold(spelling).items()]
    between: list[_Compared]
    between = [((one, two), row) for (one, two), row in numbers.between(spelling).items()]
    drawn = [*gold, *between] if len(between) <= MOST_PAIRS else gold
    rows = tuple(
        FigureRow(
            model=model,
            against=against,
            count=_count(row) if counted else "",
            cell=wording.cell(row.estimate),
        )
        for (model, against), row in [*gold, *between]
    )
    return Figure(
        title=title,
        counted=counted,
        rows=rows,
        folded=len(rows) > OPEN_ROWS,
        chart=_chart(f"{title}, {numbers.task}; the numbers are in the table", drawn),
        pairs_drawn=len(between) <= MOST_PAIRS,
    )


def _count(measurement: Measurement) -> str:
    """The number of answers in a share.

    >>> half = Estimate(value=0.5, low=0.25, high=0.75, n=2510, method="bootstrap")
    >>> _count(Measurement(metric="exact_match", target="model", estimate=half))
    '1,255'
    """
    estimate = measurement.estimate
    return f"{round(estimate.value * estimate.n):,}" if isinstance(estimate, Estimate) else ""


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
