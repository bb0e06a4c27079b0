"""A task in one picture: the four cells of two models, or a matrix and the accuracies of many."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from reports.blocks import Block, Column, Row, Table, note
from reports.charts import SmallStrip
from reports.grids import Grid, grid
from reports.prose import Text, prose
from reports.wording import short_share, two_digits
from scope.jobs.compare.task_estimates import TaskEstimates
from scope.metrics import metric_name
from scope.records import Estimate, FourCells, Undefined

MOST_MODELS = 60
"""A matrix of more models would be unreadable."""


def picture(task: TaskEstimates) -> Iterator[Block]:
    """The four cells of the two models that count; of three and more a matrix, and a row each."""
    yield from (_cells_table(one) for one in task.cells if {one.first, one.second} == set(task.fit))
    if len(task.names) > 2:
        made = matrix(task, task.main_metric) if len(task.names) <= MOST_MODELS else None
        yield made or note("No matrix of {n} models.", n=len(task.names))
        yield _models_table(task)


def _cells_table(cells: FourCells) -> Table:
    columns = (
        Column(prose("Of {n} questions", n=cells.both.n), "name"),
        Column("0 to 100\u00a0%", "strip"),
        Column("Share", "number"),
    )
    shares = (
        (prose("Both are right"), cells.both),
        (prose("Only {model} is right", model=cells.first), cells.only_first),
        (prose("Only {model} is right", model=cells.second), cells.only_second),
        (prose("Both are wrong"), cells.neither),
    )
    rows = (Row(cells=(words, _strip(one), short_share(one))) for words, one in shares)
    return Table(columns=columns, rows=tuple(rows), close=True)


def _strip(estimate: Estimate | Undefined) -> SmallStrip | None:
    if isinstance(estimate, Undefined):
        return None
    return SmallStrip.of(short_share(estimate), estimate, (0.0, 1.0))


def _models_table(task: TaskEstimates) -> Table:
    """Each model with its accuracy and the most similar other one; the most accurate first."""
    unknown = Undefined(reason="not measured")
    found = task.against_gold("accuracy" if task.choice else "exact_match")
    right = {name: found[name].estimate if name in found else unknown for name in task.names}
    counts = sorted({one.n for one in right.values()})
    texts = " to ".join(f"{one:,}" for one in dict.fromkeys((counts[0], counts[-1])))
    right = dict(sorted(right.items(), key=lambda one: -getattr(one[1], "value", -1.0)))
    return Table(
        columns=(
            Column(f"Of {texts} questions", "name"),
            Column("0 to 100\u00a0%", "strip"),
            Column("Right", "number"),
            Column(f"Most similar, {metric_name(task.main_metric).label}"),
        ),
        rows=tuple(
            Row(cells=(task.marked(name), _strip(one), short_share(one), _nearest(task, name)))
            for name, one in right.items()
        ),
        close=True,
    )


def _nearest(task: TaskEstimates, name: str) -> Text:
    """The first of the ranked pairs that has the model."""
    for pair, estimate in task.ranked():
        if name in pair:
            other = pair[pair[0] == name]
            return prose(f"{{other}}\u00a0{two_digits(estimate.value)}", other=other)
    return prose("none")


def matrix(task: TaskEstimates, metric: str) -> Grid | None:
    """A metric between all models, similar ones next to each other by the main metric."""
    names = {name: task.marked(name) for name in _ordered(task)}
    return grid(
        metric_name(metric).label,
        {
            (names[one], names[two]): row.estimate
            for pair, row in task.between(metric).items()
            for one, two in (pair, pair[::-1])
        },
        rows=list(names.values()),
        columns=list(names.values()),
        numbered=True,
    )


def _ordered(task: TaskEstimates) -> list[str]:
    """The models in the order in which average linkage joins them."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    found = {pair: row.estimate for pair, row in task.between(task.main_metric).items()}
    # Models whose similarity is unknown are further apart than any others.
    similar = [getattr(found.get(pair), "value", -9.0) for pair in combinations(task.names, 2)]
    order = leaves_list(linkage(1 - np.array(similar), "average", optimal_ordering=True)).tolist()
    return [task.names[place] for place in (order if order[0] < order[-1] else order[::-1])]
