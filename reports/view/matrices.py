"""The section with matrices: how alike each model is to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reports.view.ordering import order_by_similarity
from reports.view.task_numbers import TaskEstimates, task_numbers
from scope.metrics import metric_name
from scope.records import CompareResult, Estimate, Measurement
from scope.sections.grids import Grid, grid

FEWEST_MODELS, MOST_MODELS = 3, 60

_FURTHER = {True: ("error_consistency", "agreement"), False: ("word_f1", "exact_match")}


@dataclass(frozen=True, kw_only=True)
class Matrices:
    """The matrices of all tasks; none where there are too many ``models`` to show."""

    models: int
    tasks: tuple[tuple[str, tuple[Grid, ...]], ...]
    ordered_by: tuple[str, ...]


def matrices(comparison: CompareResult) -> Matrices | None:
    """One matrix for each task and main metric; None where a sentence says as much."""
    models = len(comparison.manifest.models)
    tasks = [task for task in task_numbers(comparison) if task.between(task.main_metric)]
    if models < FEWEST_MODELS or not tasks:
        return None
    if models > MOST_MODELS:
        return Matrices(models=models, tasks=(), ordered_by=())
    return Matrices(
        models=models,
        tasks=tuple((task.task, _grids(task)) for task in tasks),
        ordered_by=tuple(metric_name(task.main_metric).label for task in tasks),
    )


def _grids(task: TaskEstimates) -> tuple[Grid, ...]:
    metrics = dict.fromkeys((task.main_metric, *_FURTHER[task.choice]))
    order = _ordered(task.names, task.between(task.main_metric))
    made = (
        grid(
            metric_name(metric).label,
            {pair: row.estimate for pair, row in _both_ways(task.between(metric)).items()},
            rows=order,
            columns=order,
            numbered=True,
        )
        for metric in metrics
    )
    return tuple(one for one in made if one is not None)


def _both_ways(
    between: Mapping[tuple[str, str], Measurement],
) -> dict[tuple[str, str], Measurement]:
    return {**between, **{(two, one): row for (one, two), row in between.items()}}


def _ordered(names: Sequence[str], between: Mapping[tuple[str, str], Measurement]) -> list[str]:
    known = {
        pair: row.estimate.value
        for pair, row in _both_ways(between).items()
        if isinstance(row.estimate, Estimate)
    }
    similarities = [[known.get((one, two), float("-inf")) for two in names] for one in names]
    return [names[place] for place in order_by_similarity(similarities)]
