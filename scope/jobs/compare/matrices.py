"""The section with matrices: how similar each model is to each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from reports.blocks import Block, Section, heading, paragraph
from reports.grids import Grid, grid
from reports.prose import joined
from scope.jobs.compare.task_estimates import TaskEstimates, task_estimates
from scope.metrics import metric_name
from scope.records import CompareResult, Estimate, Measurement

FEWEST_MODELS, MOST_MODELS = 3, 60
_UNKNOWN = 10.0
"""Distance of two models whose similarity is unknown: further than any other."""

_FURTHER = {True: ("error_consistency", "agreement"), False: ("word_f1", "exact_match")}

Similarities = Sequence[Sequence[float]]
"""Square and symmetric; minus infinity where a similarity is unknown."""


def matrix_section(result: CompareResult) -> Section | None:
    """Matrices for each task, by its main metrics; None where a sentence says as much."""
    models = len(result.manifest.models)
    tasks = [task for task in task_estimates(result) if task.between(task.main_metric)]
    if models < FEWEST_MODELS or not tasks:
        return None
    blocks: tuple[Block, ...] = (
        paragraph(
            "With {models} models a matrix would be unreadable. All numbers are in "
            "``result.json``.",
            models=models,
        ),
    )
    if models <= MOST_MODELS:
        blocks = tuple(_blocks(tasks))
    return Section(anchor="matrices", title="Matrices", blocks=blocks)


def _blocks(tasks: Sequence[TaskEstimates]) -> Iterator[Block]:
    metrics = dict.fromkeys(metric_name(task.main_metric).label for task in tasks)
    yield paragraph(
        "Pairwise similarity; the stronger the background, the higher the number. Hover over a "
        "cell for its interval and n, which the tables under “All estimates” also show. Similar "
        "models are next to each other: they are ordered by average linkage on {metrics}.",
        metrics=joined(metrics, between=" and "),
    )
    for task in tasks:
        yield heading("{task}", task=task.task)
        yield from _grids(task)


def _grids(task: TaskEstimates) -> Iterator[Grid]:
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
    return (one for one in made if one is not None)


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


def order_by_similarity(similarities: Similarities) -> Sequence[int]:
    """Places in the order in which average linkage joins them.

    Groups are turned so that neighbours are as alike as they can be, and the
    whole so that the first of its ends comes first in the given order.

    >>> order_by_similarity([[1, 0.1, 0.9], [0.1, 1, 0.3], [0.9, 0.3, 1]])
    [0, 2, 1]
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    values = np.array(similarities)
    if len(values) < 2:
        return list(range(len(values)))
    first, second = np.triu_indices(len(values), 1)
    apart = np.where(np.isfinite(values), 1 - values, _UNKNOWN)[first, second]
    apart += 1e-6 * (second - first)  # equals stay in the given order
    order: list[int] = leaves_list(linkage(apart, "average", optimal_ordering=True)).tolist()
    return order if order[0] < order[-1] else order[::-1]
