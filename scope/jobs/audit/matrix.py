"""Audits against several references: who is compared with whom, and all in one result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from scope.errors import SpecError
from scope.estimation.matrix import measure_matrix
from scope.jobs.audit.request import AuditRequest
from scope.jobs.identity import short_names
from scope.models.scheme import split_spec
from scope.records import AnswerShares, AuditResult, Manifest, ModelCard, Outcome

Model = str | object


def whole_spec(model: Any) -> str:
    """The whole spec of a model, with its scheme."""
    return ":".join(split_spec(model if isinstance(model, str) else str(model.spec)))


def with_members(targets: Sequence[Model], members: Iterable[Model]) -> tuple[Model, ...]:
    """The targets, then the members of groups that are none of them, each once."""
    given = set(map(whole_spec, targets))
    added = {whole_spec(member): member for member in members if whole_spec(member) not in given}
    return (*targets, *added.values())


class MatrixParts(NamedTuple):
    """The models of a matrix, each once, by their specs; some are both reference and target."""

    models: Mapping[str, Model]
    references: tuple[str, ...]
    targets: tuple[str, ...]


def matrix_parts(
    references: Sequence[Model], targets: Sequence[Model], *, both_directions: bool
) -> MatrixParts:
    """Who is compared with whom in a matrix: every target with every reference but itself.

    Raises
    ------
    SpecError
        When a reference is given twice, or has no target.
    """
    models = {whole_spec(reference): reference for reference in (*references, *targets)}
    searched = tuple(map(whole_spec, references))
    short_names(searched)  # refuses a reference that is given twice
    if both_directions:
        return MatrixParts(models, tuple(models), tuple(models))
    parts = MatrixParts(models, searched, tuple(map(whole_spec, targets)))
    for reference in parts.references:
        if set(parts.targets) == {reference}:
            raise SpecError(
                f"the reference `{reference}` as its only target",
                expected="another model to compare with each reference",
                fix="add --target SPEC, or --both-directions",
            )
    return parts


def matrix_manifest(
    manifests: Sequence[Manifest], request: AuditRequest, groups: Mapping[str, Sequence[str]]
) -> Manifest:
    """The manifest of the whole: every model once, by its parts in all audits."""
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
    # The keys in this order, with the references' own cards.
    cards = {**references, **targets, **references}
    return tuple(
        replace(card, role="model") if name in both else card for name, card in cards.items()
    )


def joined_audits(
    audits: Sequence[AuditResult], groups: Mapping[str, Sequence[str]], request: AuditRequest
) -> AuditResult:
    """One result: the audits, all their numbers, and what they show together."""
    measurements = tuple(
        replace(one, against=audit.manifest.reference.name)
        for audit in audits
        for one in audit.measurements
    )
    shares = _shares(audits)
    degenerate = {share.model: share.degenerate for share in shares if share.degenerate}
    return AuditResult(
        manifest=matrix_manifest([one.manifest for one in audits], request, groups),
        outcomes=tuple(one for audit in audits for one in _outcomes(audit, audit.outcomes)),
        measurements=measurements,
        differences=(),
        curves=(),
        examples=(),
        perturbations=(),
        answer_shares=shares,
        candidate_outcomes=tuple(
            one for audit in audits for one in _outcomes(audit, audit.candidate_outcomes)
        ),
        audits=tuple(audits),
        matrix=measure_matrix(measurements, groups, degenerate, seed=request.seed),
    )


def _outcomes(audit: AuditResult, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes of one audit, which name its reference."""
    name = audit.manifest.reference.name
    return [replace(outcome, capability=f"{outcome.capability} of {name}") for outcome in outcomes]


def _shares(audits: Sequence[AuditResult]) -> tuple[AnswerShares, ...]:
    """Those of each model once; of one that is degenerate in any audit, with the reason."""
    found: dict[str, AnswerShares] = {}
    for shares in (one for audit in audits for one in audit.answer_shares):
        known = found.setdefault(shares.model, shares)
        if known.degenerate is None and shares.degenerate is not None:
            found[shares.model] = shares
    return tuple(found.values())
