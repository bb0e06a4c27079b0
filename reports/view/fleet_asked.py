"""The section with what was asked of a fleet: its matrix, its forecaster, and the rules applied."""

from __future__ import annotations

from dataclasses import dataclass

from scope.records import Comparison, DataCard, FleetFindings

MOST_NAMED = 20
"""Of more models that were added the first so many are named."""


@dataclass(frozen=True, kw_only=True)
class FleetAsked:
    """The matrix of who answered what, the forecaster in use, and what its questions are read by.

    ``unknown`` counts the cells of the matrix without an answer, and ``added`` the models that
    joined the fleet afterwards, of which the first are ``added_names``.
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


def fleet_asked(comparison: Comparison, findings: FleetFindings) -> FleetAsked:
    """What was asked, as the job counted it."""
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
