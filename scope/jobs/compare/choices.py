"""The section with choices: accuracies, and similarity against accuracy."""

from __future__ import annotations

from collections.abc import Iterator

from reports.blocks import Block, Column, Figure, Row, Section, Table, heading, paragraph
from reports.charts import ScatterChart, ScatterDot
from reports.grids import Grid, grid
from reports.wording import Cell, number
from scope.jobs.compare.task_estimates import TaskEstimates, task_estimates
from scope.metrics import metric_name
from scope.records import GOLD, CompareResult, Estimate


def choice_section(result: CompareResult) -> Section | None:
    """What there is to say of every task whose answers are chosen from options."""
    tasks = [one for one in task_estimates(result) if one.choice and one.against_gold("accuracy")]
    if not tasks:
        return None
    blocks = tuple(block for task in tasks for block in _of_task(task))
    return Section(anchor="choices", title="Choices", blocks=blocks)


def _of_task(task: TaskEstimates) -> Iterator[Block]:
    yield heading("{task}", task=task.task)
    yield heading("Accuracy", level=4)
    yield Table(
        columns=(Column("Model", "name"), Column("Accuracy", "estimate", method=True)),
        rows=tuple(
            Row(cells=(model, Cell.of(row.estimate)))
            for model, row in task.against_gold("accuracy").items()
        ),
    )
    if (chart := scatter_chart(task)) is not None:
        metric = metric_name(task.main_metric)
        yield heading("{metric} against accuracy", level=4, metric=metric.label)
        about = "Each dot is a pair of models with its interval; hover over it for the names."
        if metric.head in ("capa", "capa_discrete"):
            about += (
                " Where all questions are equally difficult and errors independent, all dots are "
                "near 0; where difficulties differ, models of equal skill lie at 0.1 to 0.25 "
                "without anything else in common."
            )
        yield paragraph(about)
        yield Figure(chart)
    if (categories := _categories(task)) is not None:
        yield categories


def scatter_chart(task: TaskEstimates) -> ScatterChart | None:
    """Each pair's main metric by its mean accuracy; None without a pair with both."""
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
    written = Cell.of(estimate)
    return ScatterDot(
        title=f"{pair[0]} ~ {pair[1]}: {written.value} {written.interval}, "
        f"mean accuracy {number(accuracy)}",
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
