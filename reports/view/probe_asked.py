"""The section with the configuration: models, readout and pairs."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view.asked import CapabilityLine, ModelLine, asked
from scope.records import DataCard, ProbedModel, ProbeFindings, ProbeResult


@dataclass(frozen=True, kw_only=True)
class ModelReadout:
    """One model and its readout; ``line`` is None if the manifest lacks the model."""

    model: ProbedModel
    line: ModelLine | None


@dataclass(frozen=True, kw_only=True)
class ProbeAsked:
    """The models, the data, the task and the rules applied."""

    models: tuple[ModelReadout, ...]
    data: tuple[DataCard, ...]
    capabilities: tuple[CapabilityLine, ...]
    findings: ProbeFindings


def probe_asked(comparison: ProbeResult, findings: ProbeFindings) -> ProbeAsked:
    """The configuration and counts of a probe."""
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
