"""The section with the texts: which pairs are shown, and by what they can be filtered."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view.pairs import Pair, lost_targets, pair
from scope.records import Comparison, ScoredExample, ScoredPerturbation


@dataclass(frozen=True, kw_only=True)
class Examples:
    """The pairs shown, in order; ``total`` counts all, ``lost`` those lost by any target."""

    pairs: tuple[Pair, ...]
    total: int
    lost: int
    capabilities: tuple[str, ...]
    targets: tuple[str, ...]
    labels: tuple[str | None, ...]


def examples(comparison: Comparison, *, limit: int) -> Examples:
    """At most ``limit`` pairs: lost invariances first, otherwise in the comparison's order."""
    known = {scored.example.id: scored for scored in comparison.examples}
    found = [
        (known[scored.perturbation.example_id], scored)
        for scored in comparison.perturbations
        if scored.perturbation.text is not None and scored.reference is not None
    ]
    lost = [both for both in found if lost_targets(*both)]
    others = [both for both in found if not lost_targets(*both)]
    pairs = _pairs(comparison, [*lost, *others][:limit])
    manifest = comparison.manifest
    return Examples(
        pairs=pairs,
        total=len(found),
        lost=len(lost),
        capabilities=tuple(dict.fromkeys(shown.capability for shown in pairs)),
        targets=tuple(card.name for card in manifest.targets),
        labels=_labels(pairs, manifest.reference.labels),
    )


def _pairs(
    comparison: Comparison, chosen: list[tuple[ScoredExample, ScoredPerturbation]]
) -> tuple[Pair, ...]:
    manifest = comparison.manifest
    names = (manifest.reference.name, *(card.name for card in manifest.targets))
    made = (pair(*both, names=names, labels=manifest.reference.labels) for both in chosen)
    return tuple(one for one in made if one is not None)


def _labels(pairs: tuple[Pair, ...], known: tuple[str, ...]) -> tuple[str | None, ...]:
    """The gold labels that occur: first the reference's, then foreign ones, then none."""
    present = {shown.gold for shown in pairs}
    foreign = sorted(label for label in present if label is not None and label not in known)
    ordered: list[str | None] = [label for label in known if label in present]
    return (*ordered, *foreign, *([None] if None in present else []))
