"""How often may one seed of a training replace another? On the measured values of a stored audit.

Every model of the audit whose name has ``seed`` in it is the target once, and every other one the
baseline; texts are drawn without replacement from those that were measured. Nothing tells two seeds
apart but chance, so that a *may not* is wrong, and *may replace* is power.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations

import numpy as np

from scope.jobs.audit.request import AuditRequest
from scope.jobs.audit.verdicts import audit_verdicts
from scope.records import AuditResult, Measurement
from scope.records.result import ModelRole

DRAWS = 40
SIZES = ((100, 500), (300, 1000))
"""Changed and unchanged texts."""


def seed_against_seed(
    result: AuditResult, generator: np.random.Generator, draws: int = DRAWS
) -> dict[str, float]:
    """The share of each verdict over all ordered pairs and draws, and of each open endpoint."""
    request = AuditRequest(reference="any", targets="any", data="any")
    pairs = [
        *permutations([card.name for card in result.manifest.models if "seed" in card.name], 2)
    ]
    found: dict[str, float] = {"ordered_pairs": len(pairs)}
    for changed, unchanged in SIZES:
        counts: Counter[str] = Counter({"may replace": 0, "may not": 0})
        for _ in range(draws):
            part = _on_some_texts(result, changed, unchanged, generator)
            for target, baseline in pairs:
                (verdict,) = audit_verdicts(_between(part, target, baseline), request)
                counts.update({verdict.decision, *(f"open {name}" for name in verdict.open)})
        for name, count in sorted(counts.items()):
            key = f"seeds_{changed}_{unchanged}_{name}".replace(" ", "_")
            found[key] = count / len(pairs) / draws
    return found


def _on_some_texts(
    result: AuditResult, changed: int, unchanged: int, generator: np.random.Generator
) -> AuditResult:
    rows = [row for row in result.measurements if row.values and row.subset is None]
    kept: list[Measurement] = []
    for kind, count in ((False, unchanged), (True, changed)):
        of_kind = [row for row in rows if bool(row.capability) is kind]
        texts = sorted({text for row in of_kind for text in row.example_ids})
        drawn = set(generator.permutation(texts)[:count].tolist())
        for row in of_kind:
            values = {text: value for text, value in row.by_text().items() if text in drawn}
            kept.append(replace(row, example_ids=(*values,), values=(*values.values(),)))
    return replace(result, measurements=tuple(kept))


def _between(result: AuditResult, target: str, baseline: str) -> AuditResult:
    roles: dict[str, ModelRole] = {target: "target", baseline: "baseline"}
    cards = [
        replace(card, role=roles.get(card.name, card.role))
        for card in result.manifest.models
        if card.name in roles or card.role == "reference"
    ]
    return replace(result, manifest=replace(result.manifest, models=tuple(cards)))
