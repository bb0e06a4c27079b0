"""The first section of a test of reuse: the verdict on each reference."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view.reuse_words import DecisionMark, decision_mark, names_in_sentence
from scope.records import Decision, ReuseResult, Verdict


@dataclass(frozen=True, kw_only=True)
class VerdictLine:
    """The verdict on one reference, as text, with its numbers.

    ``p_adjusted`` is empty with a single reference; ``p_rank`` and ``p_agreement``, of which
    ``p_value`` is the greater, if they are unknown. ``skipped`` counts the controls without a joint
    statistic, ``comparable`` those that are comparable with the suspect, and ``independent`` is
    the number of independent controls that they count as, empty if unknown.
    """

    reference: str
    mark: DecisionMark
    sentence: str
    p_value: str
    p_adjusted: str
    p_rank: str
    p_agreement: str
    alpha: str
    controls: int
    skipped: int
    needed: int
    comparable: int
    comparable_needed: int
    independent: str
    assumed: bool
    shared: int
    queries: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Sources:
    """The references with the same decision, each with the separator after it."""

    decision: Decision
    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class ReuseHeadline:
    """The verdicts at a glance; ``sources`` only with several references."""

    title: str
    suspect: str
    verdicts: tuple[VerdictLine, ...]
    sources: tuple[Sources, ...]


def reuse_headline(comparison: ReuseResult) -> ReuseHeadline:
    """The first section of the report on a test of reuse."""
    cards = comparison.manifest.models
    suspect = ", ".join(card.name for card in cards if card.role == "suspect")
    references = ", ".join(card.name for card in cards if card.role == "reference")
    return ReuseHeadline(
        title=f"SCoPE reuse: {suspect} against {references}",
        suspect=suspect,
        verdicts=tuple(
            _line(verdict, several=len(comparison.verdicts) > 1) for verdict in comparison.verdicts
        ),
        sources=_sources(comparison.verdicts) if len(comparison.verdicts) > 1 else (),
    )


def _line(verdict: Verdict, *, several: bool) -> VerdictLine:
    agreement = verdict.agreement
    placed = {standing.model for standing in verdict.standings}
    return VerdictLine(
        reference=verdict.reference,
        mark=decision_mark(verdict.decision),
        sentence=verdict.sentence,
        p_value=_beside_alpha(verdict, verdict.p_value) or "none",
        p_adjusted=(_beside_alpha(verdict, verdict.p_adjusted) or "none") if several else "",
        p_rank=_beside_alpha(verdict, verdict.p_rank) if agreement else "",
        p_agreement=_beside_alpha(verdict, agreement.p_value) if agreement else "",
        alpha=f"{verdict.alpha:g}",
        controls=len(verdict.controls),
        skipped=sum(check.model not in placed for check in verdict.controls),
        needed=verdict.controls_needed,
        comparable=verdict.comparable,
        comparable_needed=verdict.comparable_needed,
        independent=f"{agreement.independent:.1f}" if agreement else "",
        assumed=verdict.assume_no_label_training,
        shared=verdict.shared,
        queries=verdict.queries,
        warnings=verdict.warnings,
    )


def _beside_alpha(verdict: Verdict, p_value: float | None) -> str:
    return "" if p_value is None else verdict.written(p_value)


def _sources(verdicts: tuple[Verdict, ...]) -> tuple[Sources, ...]:
    """The references by decision; the related ones are first."""
    order: tuple[Decision, ...] = ("related", "not related", "undecided")
    groups = (
        (one, [verdict.reference for verdict in verdicts if verdict.decision == one])
        for one in order
    )
    return tuple(
        Sources(decision=decision, names=names_in_sentence(names))
        for decision, names in groups
        if names or decision == "related"
    )
