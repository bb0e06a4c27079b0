"""The verdict on each reference: related, not related, or undecided, at a stated error rate.

The null hypothesis is that the suspect is no more like the reference than independent models of its
skill are. It is rejected where two tests agree. The conformal one asks whether any model could
stand where the suspect stands: it ranks the suspect among the controls, and errs with probability
alpha at most, whatever the questions. The paired one asks whether other questions could have led
to another order: it holds the suspect against the control that decides the rank. With several
references the conformal p-values are corrected by Holm's method.

*Not related* is said only where it could have been otherwise: the suspect is significantly less
like the reference than the control that decides and stands among the crowd, its answers have been
shown to mean something, the controls reach its skill, and a suspect that had taken a share of its
answers from the reference would have been found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scope.decision.judging import Finding
from scope.decision.wording import as_like, changes, may_be_related, sentence, warnings
from scope.records import Decision, Verdict
from scope.statistics import holm
from scope.statistics.conformal import controls_needed

LARGEST_DETECTABLE = 0.5
"""A test that would miss a suspect with this share of its answers taken clears nobody."""

LEAST_TO_CLEAR = 0.25
"""A suspect that stands among the foremost quarter is not cleared: one that is related, but not
proven to be, would stand there too."""

HYPOTHESIS = "The suspect is no more like the reference than independent models of its skill."


def conclude(findings: Sequence[Finding], alpha: float) -> tuple[Verdict, ...]:
    """One verdict a finding; together they err with probability alpha at most.

    A suspect that cannot be ranked against a reference counts with a p-value of 1.
    """
    adjusted = holm([1.0 if one.p_value is None else one.p_value for one in findings])
    needed = controls_needed(alpha / max(len(findings), 1))
    return tuple(
        _verdict(finding, p_adjusted, needed, alpha)
        for finding, p_adjusted in zip(findings, adjusted, strict=True)
    )


def _verdict(finding: Finding, p_adjusted: float, needed: int, alpha: float) -> Verdict:
    decision, reasons = _decide(finding, p_adjusted, needed, alpha)
    return Verdict(
        suspect=finding.case.suspect,
        reference=finding.case.reference,
        decision=decision,
        sentence=sentence(finding, decision, reasons, p_adjusted=p_adjusted, alpha=alpha),
        alpha=alpha,
        p_value=finding.p_value,
        p_adjusted=None if finding.p_value is None else p_adjusted,
        standings=finding.standings,
        evidence=finding.evidence,
        paired=finding.paired,
        controls=finding.controls,
        controls_needed=needed,
        skill=finding.skill,
        detectable=finding.detectable,
        items=finding.items,
        reasons=reasons,
        changes=changes(finding, decision, needed=needed, alpha=alpha),
        warnings=warnings(finding),
        shared=finding.shared,
        queries=finding.case.queries,
        probes=finding.case.hash,
        looks=finding.looks,
    )


def _decide(
    finding: Finding, p_adjusted: float, needed: int, alpha: float
) -> tuple[Decision, tuple[str, ...]]:
    """The decision, and what kept it from being another one."""
    if finding.unusable:
        return "undecided", finding.unusable
    if finding.p_value is None or finding.paired is None:
        return "undecided", ("nothing that it answered could be held against the reference",)
    if finding.different_controls < needed:
        return "undecided", (
            f"{finding.different_controls} {_different(finding)}controls cannot keep an error rate "
            f"of {alpha:g}: at least {needed} are needed, {needed - finding.different_controls} "
            "more",
        )
    if p_adjusted <= alpha and finding.paired.p_more <= alpha:
        return "related", ()
    if p_adjusted <= alpha:
        return "undecided", (
            f"few independent models are as like the reference as it is (p = {p_adjusted:.2g}), "
            f"but on other questions the control `{finding.paired.control}` could be "
            f"(p = {finding.paired.p_more:.2g} by question)",
        )
    reasons = tuple(_why_not_cleared(finding, alpha))
    return ("undecided", reasons) if reasons else ("not related", ())


def _different(finding: Finding) -> str:
    """Controls that answer alike are one: the rank among them would count it twice."""
    return "" if finding.different_controls == len(finding.standings) - 1 else "different "


def _why_not_cleared(finding: Finding, alpha: float) -> Iterator[str]:
    yield from finding.uninformative
    share = (1 + as_like(finding)) / len(finding.standings)
    if share < LEAST_TO_CLEAR:
        yield (
            f"only {share:.2g} of independent models would be as like the reference as it is, "
            f"which is less than {LEAST_TO_CLEAR:g}"
        )
    paired = finding.paired
    if paired is not None and paired.p_less > alpha:
        yield (
            f"on other questions it could be as like the reference as the control "
            f"`{paired.control}` is (p = {paired.p_less:.2g} by question)"
        )
    if finding.detectable is None:
        related = paired is not None and paired.control in may_be_related(finding)
        beside = f" beside the control `{paired.control}`" if paired and related else ""
        yield f"even a copy of the reference would not have stood out{beside}"
    elif finding.detectable > LARGEST_DETECTABLE:
        yield (
            f"a suspect that had taken less than {finding.detectable:.0%} of its answers from the "
            "reference would have been missed"
        )
