"""What a Hard-SCoPE means: beside it base rate, excess, concordance and the baseline."""

from __future__ import annotations

from collections.abc import Iterator

from scope.jobs.sections.estimates import short_name
from scope.records import AuditResult, Estimate, Undefined
from scope.sections.blocks import Block, Figure, heading, paragraph
from scope.sections.charts import IntervalChart, estimate_chart
from scope.sections.prose import Text, prose
from scope.sections.wording import Cell

SHOWN = ("base_rate", "hard_scope", "excess", "concordance")
"""The metrics of the picture, from the point of reference to the answer."""


def estimate_of(
    result: AuditResult, metric: str, capability: str, model: str, subset: str | None = None
) -> Estimate | Undefined | None:
    """A model's number on all pairs of a capability, or a part; None where it was not measured."""
    for one in result.measurements:
        here = one.subset == subset and one.capability == capability
        if here and one.metric == metric and one.target == model:
            return one.estimate
    return None


def follows(result: AuditResult, capability: str, target: str) -> Text:
    """The end of a finding: excess over the base rate, and concordance with the reference."""
    excess = estimate_of(result, "excess", capability, target)
    order = estimate_of(result, "concordance", capability, target)
    if excess is None or order is None:
        return prose("; random candidates, which tell it from such a model, were not drawn.")
    if isinstance(order, Undefined):
        return prose("; concordance is undefined: {reason}.", reason=order.reason)
    above = Cell.of(excess)
    cell = Cell.of(order)
    return (
        *prose(
            "; excess over its base rate **{value}** {interval}; concordance ",
            value=above.value,
            interval=above.interval,
        ),
        *prose(
            "**{value}** {interval} (n\u00a0=\u00a0{n})",
            value=cell.value,
            interval=cell.interval,
            n=cell.n,
        ),
        *_baseline(result, capability),
        *prose("."),
    )


def _baseline(result: AuditResult, capability: str) -> Text:
    card = result.manifest.baseline
    if card is None:
        return ()
    if card.name in _degenerate(result):
        return prose(
            "; the baseline, **{name}**, is **degenerate** and no point of reference",
            name=card.name,
        )
    estimate = estimate_of(result, "concordance", capability, card.name)
    if not isinstance(estimate, Estimate):
        return ()
    cell = Cell.of(estimate)
    return prose(
        "; the baseline, **{name}**: {value} {interval}",
        name=card.name,
        value=cell.value,
        interval=cell.interval,
    )


def _degenerate(result: AuditResult) -> set[str]:
    return {one.model for one in result.answer_shares if one.degenerate is not None}


def reference_points(result: AuditResult) -> Iterator[Block]:
    """One picture a capability; nothing in an audit without random candidates."""
    measured = {one.capability for one in result.candidate_outcomes if one.status == "measured"}
    capabilities = [one.name for one in result.manifest.capabilities if one.name in measured]
    for capability in capabilities:
        yield heading("Points of reference on {capability}", capability=capability)
        chart = _chart(result, capability)
        if chart is not None:
            yield Figure(chart)
    if capabilities:
        yield paragraph(
            "Base rate: how often a model keeps its label on random changes. Excess: Hard-SCoPE "
            "minus base rate, on the texts that have both. Concordance: how often two random "
            "changes of a text move the target in the order in which they move the reference. ½ "
            "is a model that never moves or moves at random; independent models lie above it: "
            "compare with a baseline."
        )


def _chart(result: AuditResult, capability: str) -> IntervalChart | None:
    manifest = result.manifest
    targets = tuple(card.name for card in manifest.targets if card.role == "target")
    rows = [
        (short_name(metric), target, estimate)
        for metric in SHOWN
        for target in targets
        if (estimate := estimate_of(result, metric, capability, target)) is not None
    ]
    baseline = manifest.baseline
    if baseline is not None and baseline.name in _degenerate(result):
        baseline = None
    drawn = {name for name, _, estimate in rows if isinstance(estimate, Estimate)}
    levels = tuple(
        (short_name(metric), estimate.value)
        for metric in SHOWN
        if baseline is not None and short_name(metric) in drawn
        for estimate in [estimate_of(result, metric, capability, baseline.name)]
        if isinstance(estimate, Estimate)
    )
    return estimate_chart(
        f"Base rate, Hard-SCoPE, excess and concordance on {capability}; the numbers are in "
        "the estimates",
        rows,
        targets,
        levels=levels,
        level_name=f"the baseline, {baseline.name}" if baseline is not None else "",
    )
