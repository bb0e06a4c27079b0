"""Soft-SCoPE over its cutoff."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scope.metrics import metric_name
from scope.records import AuditResult, Curve
from scope.sections.blocks import (
    Block,
    Column,
    Figure,
    Fold,
    Paragraph,
    Row,
    Section,
    Table,
    heading,
    paragraph,
)
from scope.sections.charts import curve_chart
from scope.sections.prose import prose, together, written
from scope.sections.wording import Cell


def curves_section(result: AuditResult) -> Section:
    """One chart and one table for each capability."""
    keys = dict.fromkeys(_curve_key(curve) for curve in result.curves)
    blocks = [
        block
        for key in keys
        for block in _curve(result, [one for one in result.curves if _curve_key(one) == key])
    ]
    return Section(
        anchor="curves",
        title="Cutoff",
        heading="Soft-SCoPE over the cutoff",
        blocks=tuple(blocks) or (paragraph("No curve was computed."),),
    )


def _curve_key(curve: Curve) -> tuple[str, str, str]:
    return curve.capability, curve.metric, curve.parameter


def _curve(result: AuditResult, curves: Sequence[Curve]) -> Iterator[Block]:
    """The curves of all targets for one capability."""
    capability, metric, parameter = _curve_key(curves[0])
    name = metric_name(metric)
    used = _values_in_use(result, name.head, parameter)
    chosen = tuple(map(float, used))
    targets = tuple(card.name for card in result.manifest.targets)
    yield heading("{metric} on {capability}", metric=name.label, capability=capability)
    marks = (
        prose(
            "The dashed line marks the {parameter} of this audit: {chosen}.",
            parameter=parameter,
            chosen=", ".join(used),
        )
        if used
        else prose("This audit set no {parameter}.", parameter=parameter)
    )
    yield Paragraph(together(marks, prose("Bands are confidence intervals.")))
    label = f"{name.label} over its {parameter}, {capability}; the numbers are in the table"
    chart = curve_chart(label, curves, targets, x_title=parameter, chosen=chosen)
    if chart is not None:
        yield Figure(chart)
    table = Table(
        columns=(
            Column(written(parameter), "name"),
            Column("Target"),
            Column(written(name.label), "estimate"),
        ),
        rows=tuple(
            Row(
                cells=(f"{x:g}{' (chosen)' * (x in chosen)}", curve.target, Cell.of(estimate)),
                chosen=x in chosen,
            )
            for curve in curves
            for x, estimate in curve.points
        ),
    )
    yield Fold(prose("The numbers"), (table,))


def _values_in_use(result: AuditResult, head: str, parameter: str) -> tuple[str, ...]:
    """The parameter's values among the audit's own measurements of this metric, as spelled."""
    names = (metric_name(one.metric) for one in result.measurements)
    values = (name.parameters.get(parameter) for name in names if name.head == head)
    return tuple(dict.fromkeys(value for value in values if value is not None))
