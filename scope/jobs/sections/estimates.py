"""Metrics and their differences in tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from scope.metrics import MetricName, metric_name
from scope.records import AnswerShares, Difference, marked
from scope.sections.blocks import Block, Column, Row, Section, Table, Terms, paragraph
from scope.sections.prose import Span, Text, prose, written
from scope.sections.wording import Cell, p_value

CLEAN = "original texts"
"""The name in place of a capability for metrics that need no perturbation."""


def meanings(names: Iterable[MetricName]) -> Terms:
    """What each metric means, where it is one of ours."""
    return Terms(
        tuple(
            (prose("{label}", label=one.label), prose("{meaning}", meaning=one.meaning))
            for one in names
            if one.meaning
        )
    )


def spelled(name: MetricName) -> Text:
    """A metric's title, with its spelling where it has parameters."""
    if not name.parameters:
        return written(name.label)
    return (*written(name.label), Span(" "), Span(name.spelling, "code", foreign=True))


def short_name(metric: str) -> str:
    """A metric's title for a chart, with its parameters where it has any."""
    name = metric_name(metric)
    values = ", ".join(name.parameters.values())
    return f"{name.label} ({values})" if values else name.label


def differences_section(
    differences: Sequence[Difference],
    shares: Sequence[AnswerShares],
    *,
    of: Literal["target", "model"] = "target",
) -> Section:
    """The paired differences between targets, or models, in the order of the result."""
    if not differences:
        blocks: tuple[Block, ...] = (paragraph(f"No differences: they need two measured {of}s."),)
    else:
        blocks = (
            paragraph(
                f"First {of} minus second, paired on the same examples. The adjusted p-values "
                "correct for the number of tests (Holm)."
            ),
            Table(
                columns=(
                    Column("Metric", "name"),
                    Column("On"),
                    Column("First"),
                    Column("Second"),
                    Column("Difference", "estimate"),
                    Column("p", "number"),
                    Column("p, adjusted", "number"),
                ),
                rows=tuple(_difference(one, shares) for one in differences),
            ),
        )
    return Section(
        anchor="differences",
        title="Differences",
        heading=f"Differences between {of}s",
        blocks=blocks,
    )


def _difference(one: Difference, shares: Sequence[AnswerShares]) -> Row:
    return Row(
        cells=(
            spelled(metric_name(one.metric)),
            one.capability or CLEAN,
            marked(one.first, shares),
            marked(one.second, shares),
            Cell.of(one.estimate, signed=True),
            p_value(one.p_value),
            p_value(one.p_adjusted),
        )
    )
