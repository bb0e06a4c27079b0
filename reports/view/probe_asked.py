"""The section with what was asked of frozen models: how they were read, on which pairs."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view.asked import CapabilityLine, ModelLine, asked
from scope.records import Comparison, DataCard, ProbedModel, ProbeFindings


@dataclass(frozen=True, kw_only=True)
class ModelReadout:
    """One model, and how it was read; ``line`` is None of a model that the manifest lacks."""

    model: ProbedModel
    line: ModelLine | None


@dataclass(frozen=True, kw_only=True)
class ProbeAsked:
    """The models, the data and the question, with the rules that were applied."""

    models: tuple[ModelReadout, ...]
    data: tuple[DataCard, ...]
    capabilities: tuple[CapabilityLine, ...]
    findings: ProbeFindings


def probe_asked(comparison: Comparison, findings: ProbeFindings) -> ProbeAsked:
    """What was asked, as the job counted it."""
    whole = asked(comparison, heading="Question")
    lines = {line.card.name: line for line in whole.models}
    return ProbeAsked(
        models=tuple(
            ModelReadout(model=model, line=lines.get(model.name)) for model in findings.models
        ),
        data=whole.data,
        capabilities=whole.capabilities,
        findings=findings,
    )
