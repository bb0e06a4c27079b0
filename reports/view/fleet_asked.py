"""The section with the configuration: the matrix, the forecaster and the rules applied."""

from __future__ import annotations

from dataclasses import dataclass

from scope.records import DataCard, FleetFindings, FleetResult

MOST_NAMED = 20
"""At most so many added models are named."""


@dataclass(frozen=True, kw_only=True)
class FleetAsked:
    """The response matrix, the forecaster in use and the encoder of its questions.

    ``unknown`` counts the cells of the matrix without an answer, ``added`` the models added to the
    fleet after fitting; ``added_names`` are the first of them.
    """

    questions: int
    models: int
    answers: int
    unknown: int
    conflicts: int
    forecaster: str
    encoder: str
    added: int
    added_names: tuple[str, ...]
    data: tuple[DataCard, ...]
    notes: tuple[str, ...]
    files: tuple[str, ...]


def fleet_asked(comparison: FleetResult, findings: FleetFindings) -> FleetAsked:
    """The configuration and counts of a job on a fleet."""
    added = tuple(model.name for model in findings.members if model.added)
    return FleetAsked(
        questions=findings.questions,
        models=findings.models,
        answers=findings.answers,
        unknown=max(0, findings.questions * findings.models - findings.answers),
        conflicts=findings.conflicts,
        forecaster=findings.forecaster,
        encoder=findings.encoder,
        added=len(added),
        added_names=added[:MOST_NAMED],
        data=comparison.manifest.data,
        notes=findings.notes,
        files=findings.files,
    )
