"""The section with a metric along its parameter: Soft-SCoPE over the cutoff."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view import wording
from reports.view.plots import CurveChart, curve_chart
from scope.records import Comparison, Curve


@dataclass(frozen=True, kw_only=True)
class CurveRow:
    """One point of one target's curve."""

    x: str
    target: str
    cell: wording.Cell
    chosen: bool


@dataclass(frozen=True, kw_only=True)
class CurveGroup:
    """The curves of all targets for one capability."""

    title: str
    parameter: str
    metric: str
    chosen: str
    rows: tuple[CurveRow, ...]
    chart: CurveChart | None


def curves(comparison: Comparison) -> tuple[CurveGroup, ...]:
    """The curves, one group for each capability, metric and parameter."""
    keys = dict.fromkeys(_key(curve) for curve in comparison.curves)
    return tuple(
        _group(comparison, [curve for curve in comparison.curves if _key(curve) == key])
        for key in keys
    )


def _key(curve: Curve) -> tuple[str, str, str]:
    return curve.capability, curve.metric, curve.parameter


def _group(comparison: Comparison, members: list[Curve]) -> CurveGroup:
    capability, metric, parameter = _key(members[0])
    name = wording.metric_name(metric)
    spelled = _chosen(comparison, name.head, parameter)
    chosen = tuple(float(text) for text in spelled)
    targets = tuple(card.name for card in comparison.manifest.targets)
    return CurveGroup(
        title=f"{name.label} on {capability}",
        parameter=parameter,
        metric=name.label,
        chosen=", ".join(spelled),
        rows=tuple(
            CurveRow(
                x=f"{x:g}", target=curve.target, cell=wording.cell(estimate), chosen=x in chosen
            )
            for curve in members
            for x, estimate in curve.points
        ),
        chart=curve_chart(
            f"{name.label} over its {parameter}, {capability}; the numbers are in the table",
            members,
            targets,
            x_title=parameter,
            chosen=chosen,
        ),
    )


def _chosen(comparison: Comparison, head: str, parameter: str) -> tuple[str, ...]:
    """The parameter's values among the audit's own measurements of this metric, as spelled."""
    names = (wording.metric_name(row.metric) for row in comparison.measurements)
    texts = (name.parameters.get(parameter) for name in names if name.head == head)
    return tuple(dict.fromkeys(text for text in texts if text is not None))
