"""The section with the outcomes of the capabilities and the failed searches."""

from __future__ import annotations

from dataclasses import dataclass

from scope.records import Comparison, Outcome


@dataclass(frozen=True, kw_only=True)
class FailedSearch:
    """One example and trial for which the search found nothing, and why."""

    capability: str
    example_id: str
    trial: int
    reason: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Failures:
    """The outcome of each capability, and some of the failed searches; ``total`` counts all."""

    outcomes: tuple[Outcome, ...]
    searches: tuple[FailedSearch, ...]
    total: int


def failure_section(comparison: Comparison, *, limit: int) -> Failures:
    """Every outcome, and the first ``limit`` failed searches in the comparison's order."""
    texts = {scored.example.id: scored.example.text for scored in comparison.examples}
    failed = [
        (scored.capability, scored.perturbation, scored.perturbation.failure)
        for scored in comparison.perturbations
        if scored.perturbation.failure is not None
    ]
    return Failures(
        outcomes=comparison.outcomes,
        searches=tuple(
            FailedSearch(
                capability=capability,
                example_id=perturbation.example_id,
                trial=perturbation.trial,
                reason=reason or "no reason given",
                text=texts[perturbation.example_id],
            )
            for capability, perturbation, reason in failed[:limit]
        ),
        total=len(failed),
    )
