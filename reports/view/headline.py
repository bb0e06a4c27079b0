"""The first section of an audit: the answer for each capability and target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reports.view import wording
from scope.records import Comparison, Estimate, Measurement, Undefined


@dataclass(frozen=True, kw_only=True)
class HeadlineRow:
    """The answer for one capability and target; ``reason`` is given if it has no number.

    ``degenerate``: the target is degenerate, and its numbers are no evidence. ``agreement`` is the
    share of unchanged texts with the same label from both.
    """

    capability: str
    target: str
    degenerate: bool
    share: str
    interval: str
    n: int
    agreement: wording.Cell | None
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class AnswersOfModel:
    """How often a model is right on the unchanged texts, and which answers it gives.

    ``agreement`` with the reference is None for the reference itself.
    """

    model: str
    accuracy: wording.Cell
    agreement: wording.Cell | None
    answers: str
    degenerate: str | None


@dataclass(frozen=True, kw_only=True)
class SoftSettings:
    """The tolerance and the cutoff of one Soft-SCoPE."""

    tolerance: str
    cutoff: str


@dataclass(frozen=True, kw_only=True)
class Headline:
    """The section's contents."""

    title: str
    reference: str
    answers: tuple[AnswersOfModel, ...]
    findings: tuple[HeadlineRow, ...]
    soft: tuple[SoftSettings, ...]


def headline(comparison: Comparison) -> Headline:
    """The first section of an audit's report."""
    manifest = comparison.manifest
    names = ", ".join(card.name for card in manifest.targets)
    agreements = _agreements(comparison)
    return Headline(
        title=f"SCoPE {manifest.job}: {names} against {manifest.reference.name}",
        reference=manifest.reference.name,
        answers=tuple(
            AnswersOfModel(
                model=one.model,
                accuracy=wording.cell(one.accuracy),
                agreement=wording.cell(agreements[one.model]) if one.model in agreements else None,
                answers=one.in_words(),
                degenerate=one.degenerate,
            )
            for one in comparison.answer_shares
        ),
        findings=_findings(comparison, agreements),
        soft=_soft(comparison),
    )


def _agreements(comparison: Comparison) -> dict[str, Estimate | Undefined]:
    """How often each target gives the reference's label to the unchanged texts."""
    return {
        one.target: one.estimate
        for one in comparison.measurements
        if one.metric == "iid_agreement" and one.subset is None
    }


def _findings(
    comparison: Comparison, agreements: Mapping[str, Estimate | Undefined]
) -> tuple[HeadlineRow, ...]:
    manifest = comparison.manifest
    measured = {
        (measurement.capability, measurement.target): measurement
        for measurement in comparison.measurements
        if measurement.metric == "hard_scope" and measurement.subset is None
    }
    missing = {
        outcome.capability: f"{outcome.status}: {outcome.reason or 'no reason given'}"
        for outcome in comparison.outcomes
        if outcome.status != "measured"
    }
    degenerate = {one.model: one.degenerate for one in comparison.answer_shares}
    every = (
        _finding(
            capability.name,
            target.name,
            degenerate.get(target.name),
            measured.get((capability.name, target.name)),
            missing.get(capability.name, "Hard-SCoPE was not requested"),
            agreements.get(target.name),
        )
        for capability in manifest.capabilities
        for target in manifest.targets
    )
    return tuple(sorted(every, key=lambda one: not one.degenerate))


def _finding(
    capability: str,
    target: str,
    degenerate: str | None,
    measurement: Measurement | None,
    missing: str,
    agreement: Estimate | Undefined | None,
) -> HeadlineRow:
    estimate = Undefined(reason=missing) if measurement is None else measurement.estimate
    if isinstance(estimate, Estimate):
        low, high = wording.percent(estimate.low), wording.percent(estimate.high)
        share, interval, reason = wording.percent(estimate.value), f"[{low}, {high}]", None
    else:
        share, interval, reason = "", "", estimate.reason
    if degenerate is not None:
        share, interval, reason = "", "", degenerate
    return HeadlineRow(
        capability=capability,
        target=target,
        degenerate=degenerate is not None,
        share=share,
        interval=interval,
        n=estimate.n,
        agreement=None if agreement is None else wording.share_cell(agreement),
        reason=reason,
    )


def _soft(comparison: Comparison) -> tuple[SoftSettings, ...]:
    """Every pair of tolerance and cutoff in use, from the metrics' spellings.

    A parameter that a spelling leaves out is looked for among the run's settings.
    """
    stated = wording.written_settings(comparison.manifest.settings)
    spellings = dict.fromkeys(measurement.metric for measurement in comparison.measurements)
    names = (wording.metric_name(spelling) for spelling in spellings)
    used = [{**dict(stated), **name.parameters} for name in names if name.head == "soft_scope"]
    return tuple(
        SoftSettings(
            tolerance=values.get("tolerance", "not stated"),
            cutoff=values.get("cutoff", "not stated"),
        )
        for values in used
    )
