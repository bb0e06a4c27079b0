"""The section with the models, prompts, data, and capabilities or tasks."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view import wording
from reports.view.prompts import Prompts, prompts
from scope.records import DataCard, ModelCard, Result

SHORT_FINGERPRINT = 12


@dataclass(frozen=True, kw_only=True)
class ModelLine:
    """One model."""

    role: str
    card: ModelCard
    fingerprint: str


@dataclass(frozen=True, kw_only=True)
class CapabilityLine:
    """One capability or task with its settings."""

    name: str
    question: str
    origin: str
    settings: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class AskedSection:
    """Models, data and questions; ``heading`` is the title of the last part.

    ``labelled``: whether a model has label names.
    """

    heading: str
    labelled: bool
    models: tuple[ModelLine, ...]
    data: tuple[DataCard, ...]
    capabilities: tuple[CapabilityLine, ...]
    prompts: Prompts


def asked(comparison: Result, *, heading: str) -> AskedSection:
    """The section, with the reference before the models that are compared with it."""
    manifest = comparison.manifest
    return AskedSection(
        heading=heading,
        labelled=any(card.labels for card in manifest.models),
        models=tuple(
            ModelLine(role=card.role, card=card, fingerprint=card.fingerprint[:SHORT_FINGERPRINT])
            for card in sorted(manifest.models, key=lambda card: card.role != "reference")
        ),
        data=manifest.data,
        capabilities=tuple(
            CapabilityLine(
                name=card.name,
                question=card.question,
                origin=card.origin,
                settings=wording.written_settings(card.settings),
            )
            for card in manifest.capabilities
        ),
        prompts=prompts(comparison),
    )
