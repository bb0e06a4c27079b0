"""The section with every estimate between models, and against the right answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scope.jobs.sections.estimates import meanings
from scope.metrics import MetricName, metric_name
from scope.records import GOLD, Measurement
from scope.sections.blocks import Block, Column, Fold, Row, Section, Table, note
from scope.sections.prose import Span, Text, prose, written
from scope.sections.wording import Cell

MOST_ESTIMATES = 10_000
"""A longer table would make the page too heavy for a browser."""


def numbers_section(names: Iterable[MetricName], blocks: Iterable[Block]) -> Section:
    """What the metrics mean, and the tables of all estimates."""
    return Section(
        anchor="numbers",
        title="All estimates",
        blocks=(
            # Several spellings of one metric differ in parameters alone: explain it once.
            meanings({name.head: name for name in names}.values()),
            note("n is the number of questions."),
            *blocks,
        ),
    )


def every_estimate(group: str, rows: Sequence[Measurement], reference: str | None = None) -> Fold:
    """The estimates of one group in their order, behind a line that a reader opens.

    ``reference`` is what is compared with where a row does not name it; None stands for the right
    answers.
    """
    shown = rows[:MOST_ESTIMATES]
    parts = any(row.subset for row in shown)
    columns = (
        Column("Metric", "name"),
        *([Column("Part")] if parts else []),
        Column("Model"),
        Column("Against"),
        Column("Value", "estimate", method=True),
    )
    table = Table(columns=columns, rows=tuple(_row(one, reference, parts=parts) for one in shown))
    title = prose(
        "{group}: {shown} of {total} estimates", group=group, shown=len(shown), total=len(rows)
    )
    more = [note("All are in ``result.json``.")] if len(shown) < len(rows) else []
    return Fold(title, (*more, table))


def _row(one: Measurement, reference: str | None, *, parts: bool) -> Row:
    return Row(
        cells=(
            metric_name(one.metric).label,
            *([one.subset or "all"] if parts else []),
            one.target,
            compared_with(one.against or reference),
            Cell.of(one.estimate),
        )
    )


def compared_with(model: str | None) -> Text:
    """The name of a model; the right answers are called gold."""
    return (Span("gold"),) if model in (None, GOLD) else written(model)
