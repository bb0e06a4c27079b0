"""The last section: how to get the same result again."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view import wording
from scope.records import Clock, Result


@dataclass(frozen=True, kw_only=True)
class Reproduce:
    """The command, and everything on which the result depends.

    ``equal`` states for each model how equal its answers are in any batch.
    """

    command: str
    settings: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    fingerprints: tuple[tuple[str, str], ...]
    equal: tuple[tuple[str, str], ...]
    clock: Clock | None


def reproduce(comparison: Result) -> Reproduce:
    """The last section of a report."""
    manifest = comparison.manifest
    return Reproduce(
        command=manifest.command,
        settings=wording.written_settings(manifest.settings),
        versions=tuple(sorted(manifest.versions.items())),
        fingerprints=(
            *((f"model {card.name}", card.fingerprint) for card in manifest.models),
            *((f"data {card.spec}", card.fingerprint) for card in manifest.data),
        ),
        equal=tuple(
            (name, statement)
            for name, statement in (
                *((card.name, card.reproducible) for card in manifest.models),
                ("the sentence encoder", manifest.encoder_reproducible),
            )
            if statement
        ),
        clock=comparison.clock,
    )
