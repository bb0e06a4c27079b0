"""The audits against several references, joined in one result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scope.estimation.matrix import measure_matrix
from scope.jobs.audit.request import AuditRequest
from scope.records import AnswerShares, AuditResult, Manifest, ModelCard, Outcome


def matrix_manifest(
    manifests: Sequence[Manifest], request: AuditRequest, groups: Mapping[str, Sequence[str]]
) -> Manifest:
    """The manifest of the whole: every model once, with its roles in all audits."""
    named = ", ".join(f"{name}={' + '.join(members)}" for name, members in groups.items())
    return replace(
        manifests[0],
        models=_cards(manifests),
        settings={
            **manifests[0].settings,
            "both_directions": request.both_directions,
            **({"groups": named} if groups else {}),
        },
    )


def _cards(manifests: Sequence[Manifest]) -> tuple[ModelCard, ...]:
    """References before targets; a model that is both has the role ``model``."""
    references = {manifest.reference.name: manifest.reference for manifest in manifests}
    targets = {card.name: card for manifest in manifests for card in manifest.targets}
    both = references.keys() & targets.keys()
    # References first, with the cards of the references.
    cards = {**references, **targets, **references}
    return tuple(
        replace(card, role="model") if name in both else card for name, card in cards.items()
    )


def joined_audits(
    audits: Sequence[AuditResult], groups: Mapping[str, Sequence[str]], request: AuditRequest
) -> AuditResult:
    """One result: the audits, their numbers, and the matrix of all."""
    measurements = tuple(
        replace(measurement, against=audit.manifest.reference.name)
        for audit in audits
        for measurement in audit.measurements
    )
    shares = _shares(audits)
    degenerate = {share.model: share.degenerate for share in shares if share.degenerate}
    return AuditResult(
        manifest=matrix_manifest([audit.manifest for audit in audits], request, groups),
        outcomes=tuple(outcome for audit in audits for outcome in _outcomes(audit, audit.outcomes)),
        measurements=measurements,
        differences=(),
        curves=(),
        examples=(),
        perturbations=(),
        answer_shares=shares,
        candidate_outcomes=tuple(
            outcome for audit in audits for outcome in _outcomes(audit, audit.candidate_outcomes)
        ),
        audits=tuple(audits),
        matrix=measure_matrix(measurements, groups, degenerate, seed=request.seed),
    )


def _outcomes(audit: AuditResult, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes of one audit, with the name of its reference."""
    name = audit.manifest.reference.name
    return [replace(outcome, capability=f"{outcome.capability} of {name}") for outcome in outcomes]


def _shares(audits: Sequence[AuditResult]) -> tuple[AnswerShares, ...]:
    """The shares of each model once; if it is degenerate in any audit, with the reason."""
    by_model: dict[str, AnswerShares] = {}
    for shares in (share for audit in audits for share in audit.answer_shares):
        known = by_model.setdefault(shares.model, shares)
        if known.degenerate is None and shares.degenerate is not None:
            by_model[shares.model] = shares
    return tuple(by_model.values())
