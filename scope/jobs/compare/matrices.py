"""The section with matrices: how similar each model is to each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from scope.jobs.compare.task_estimates import TaskEstimates, task_estimates
from scope.metrics import metric_name
from scope.records import CompareResult, Estimate, Measurement
from scope.sections.blocks import Block, Section, heading, paragraph
from scope.sections.grids import Grid, grid
from scope.sections.prose import joined

FEWEST_MODELS, MOST_MODELS = 3, 60

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


def order_by_similarity(similarities: Similarities) -> list[int]:
    """Places in the order in which average linkage joins them.

    The two groups with the highest mean similarity are joined first, end to end so that
    the two ends that meet are as alike as they can be. Equals go by place, so that the same
    numbers always give the same order.

    >>> order_by_similarity([[1, 0.1, 0.9], [0.1, 1, 0.3], [0.9, 0.3, 1]])
    [0, 2, 1]
    """
    groups = [[place] for place in range(len(similarities))]
    while len(groups) > 1:
        first, second = max(
            combinations(range(len(groups)), 2),
            key=lambda pair: _linkage(similarities, groups[pair[0]], groups[pair[1]]),
        )
        joined = _joined(similarities, groups[first], groups[second])
        groups = [group for place, group in enumerate(groups) if place not in (first, second)]
        groups.insert(first, joined)
    return groups[0] if groups else []


def _linkage(similarities: Similarities, first: list[int], second: list[int]) -> float:
    """The mean similarity across two groups."""
    values = [similarities[one][two] for one in first for two in second]
    return sum(values) / len(values)


def _joined(similarities: Similarities, first: list[int], second: list[int]) -> list[int]:
    """Both groups as one, each turned or not; ``max`` keeps the first of equals."""
    ways = [(a, b) for a in (first, first[::-1]) for b in (second, second[::-1])]
    left, right = max(ways, key=lambda way: similarities[way[0][-1]][way[1][0]])
    return [*left, *right]
