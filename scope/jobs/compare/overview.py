"""The main estimates of a task in two small tables: against gold, and between models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from reports.blocks import Block, Column, Row, Table, note
from reports.prose import Text, joined, prose, written
from reports.wording import Cell, number
from scope.jobs.compare.task_estimates import GIVEN_ACCURACY, TaskEstimates, median_of_others
from scope.records import GOLD, Estimate, Measurement, TaskShares, marked

LEADING = (
    "accuracy",
    "capa",
    "capa_discrete",
    "sem_score",
    "word_f1",
    "agreement",
    "error_consistency",
    "exact_match",
)
"""The metrics shown where there is room for few, in this order; the first orders the pairs."""

FEW_COMPARED = 3
MOST_IN_ORDER = 40
"""With more rows than this, they are ordered by the leading metric."""

Compared = tuple[str, str | None]
"""A model and the other one, or None where it is compared with gold."""


def overview(task: TaskEstimates, shares: Sequence[TaskShares]) -> Iterator[Block]:
    """A table of the models against gold, and one of the pairs of models."""
    here = [one for one in shares if one.task == task.task]
    main = [one for one in task.rows if one.subset is None]
    of_gold = [one for one in main if one.against == GOLD]
    of_pairs = [one for one in main if one.against != GOLD]
    yield from _table(prose("{task}: against gold", task=task.task), of_gold, here)
    yield from _table(prose("{task}: between models", task=task.task), of_pairs, here)


def _table(
    caption: Text, measured: Sequence[Measurement], shares: Sequence[TaskShares]
) -> Iterator[Block]:
    """A few models or pairs as columns, or many as rows with the leading metrics alone.

    A metric that is undefined throughout has a note in the place of its cells.
    """
    headings = {_compared(one): _heading(one, shares) for one in measured}
    defined = list(
        dict.fromkeys(one.metric for one in measured if isinstance(one.estimate, Estimate))
    )
    cells = _cells(measured, {one.model for one in shares if one.degenerate is not None})
    if defined and len(headings) <= FEW_COMPARED:
        yield Table(
            columns=(
                Column("metric", "name"),
                *(Column(name, "estimate") for name in headings.values()),
            ),
            rows=tuple(
                Row(cells=(metric, *(cells.get((one, metric)) for one in headings)))
                for metric in defined
            ),
            caption=caption,
            stacked=True,
        )
    elif defined:
        leading = [one for one in LEADING if one in defined] or defined
        yield from _of_many(caption, headings, cells, leading[:FEW_COMPARED])
        if others := [one for one in defined if one not in leading[:FEW_COMPARED]]:
            yield note("Also measured: {others}", others=joined(others))
    undefined = {one.metric: str(one.estimate) for one in reversed(measured)}
    for metric in dict.fromkeys(one.metric for one in measured):
        if metric not in defined:
            yield note("{metric}: {reason}", metric=metric, reason=undefined[metric])


def _of_many(
    caption: Text,
    headings: dict[Compared, Text],
    cells: Mapping[tuple[Compared, str], Cell],
    leading: Sequence[str],
) -> Iterator[Block]:
    """One row each in their order; of very many, the greatest value of the first metric first."""
    values = {
        one: found.estimate.value
        for one in headings
        if (found := cells.get((one, leading[0]))) and isinstance(found.estimate, Estimate)
    }
    many = len(headings) > MOST_IN_ORDER
    shown = sorted(values, key=lambda one: -values[one]) if many else list(headings)
    yield Table(
        columns=(Column("models", "name"), *(Column(one, "estimate") for one in leading)),
        rows=tuple(
            Row(
                cells=(headings[one], *(cells.get((one, metric)) for metric in leading)),
            )
            for one in shown
        ),
        caption=caption,
        stacked=True,
        ends=many,
    )
    if left_out := len(headings) - len(shown):
        yield note(
            "{n} more, for which {metric} is undefined, are in the table of all estimates.",
            n=left_out,
            metric=leading[0],
        )


def _cells(
    measured: Sequence[Measurement], degenerate: Set[str]
) -> dict[tuple[Compared, str], Cell]:
    """Each estimate; where 0 is not what is ordinary, with the median of the other pairs.

    Pairs with a degenerate model are left out of the median.
    """
    cells = {(_compared(one), one.metric): Cell.of(one.estimate) for one in measured}
    for metric in GIVEN_ACCURACY:
        fit = {
            pair: cell.estimate
            for (pair, of), cell in cells.items()
            if of == metric and isinstance(cell.estimate, Estimate) and degenerate.isdisjoint(pair)
        }
        for pair, estimate in fit.items():
            if (middle := median_of_others(estimate, fit.values())) is not None:
                remark = f"median of others: {number(middle)}"
                cells[pair, metric] = replace(cells[pair, metric], remark=remark)
    return cells


def _compared(one: Measurement) -> Compared:
    return one.target, None if one.against == GOLD else one.against


def _heading(one: Measurement, shares: Sequence[TaskShares]) -> Text:
    """The model, or both, each with a remark where it is degenerate."""
    first, second = _compared(one)
    if second is None:
        return written(marked(first, shares))
    return joined((marked(first, shares), marked(second, shares)), between=" ~ ")
