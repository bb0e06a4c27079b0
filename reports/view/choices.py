"""The section with choices: accuracies, and similarity against accuracy."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view import wording
from reports.view.task_numbers import TaskEstimates, task_numbers
from scope.metrics import MetricName, metric_name
from scope.records import GOLD, CompareResult, Estimate
from scope.sections.charts import ScatterChart, ScatterDot
from scope.sections.grids import Grid, grid


@dataclass(frozen=True, kw_only=True)
class ChoiceTask:
    """The accuracies of one task, in all and by category, and similarity against accuracy."""

    task: str
    metric: MetricName
    accuracies: tuple[tuple[str, wording.Cell], ...]
    scatter: ScatterChart | None
    categories: Grid | None


def choices(comparison: CompareResult) -> tuple[ChoiceTask, ...]:
    """What there is to say of every task whose answers are chosen from options."""
    made = (_of_task(task) for task in task_numbers(comparison) if task.choice)
    return tuple(one for one in made if one.accuracies)


def _of_task(task: TaskEstimates) -> ChoiceTask:
    return ChoiceTask(
        task=task.task,
        metric=metric_name(task.main_metric),
        accuracies=tuple(
            (model, wording.cell(row.estimate))
            for model, row in task.against_gold("accuracy").items()
        ),
        scatter=_scatter(task),
        categories=_categories(task),
    )


def _scatter(task: TaskEstimates) -> ScatterChart | None:
    accuracies = {
        model: row.estimate.value
        for model, row in task.against_gold("accuracy").items()
        if isinstance(row.estimate, Estimate)
    }
    dots = tuple(
        _dot(pair, row.estimate, (accuracies[pair[0]] + accuracies[pair[1]]) / 2)
        for pair, row in task.between(task.main_metric).items()
        if isinstance(row.estimate, Estimate) and accuracies.keys() >= set(pair)
    )
    if not dots:
        return None
    name = metric_name(task.main_metric).label
    return ScatterChart(
        label=f"{name} against mean accuracy, one dot a pair, {task.task}; "
        "the numbers are in the tables",
        x_title="mean accuracy of the pair",
        y_title=name,
        dots=dots,
    )


def _dot(pair: tuple[str, str], estimate: Estimate, accuracy: float) -> ScatterDot:
    written = wording.cell(estimate)
    return ScatterDot(
        title=f"{pair[0]} ~ {pair[1]}: {written.value} {written.interval}, "
        f"mean accuracy {wording.number(accuracy)}",
        x=accuracy,
        y=estimate.value,
        interval=(estimate.low, estimate.high),
    )


def _categories(task: TaskEstimates) -> Grid | None:
    cells = {
        (row.target, row.subset.removeprefix("category = ")): row.estimate
        for row in task.rows
        if row.subset is not None and row.metric == "accuracy" and row.against == GOLD
    }
    return grid(
        "Accuracy by category",
        cells,
        rows=[name for name in task.names if any(model == name for model, _ in cells)],
        columns=list(dict.fromkeys(category for _, category in cells)),
    )
