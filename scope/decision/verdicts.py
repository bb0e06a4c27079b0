"""The verdict on each reference: related, not related, or undecided, at a stated error rate.

The null hypothesis is that the suspect is no more like the reference than independent models of its
skill are. *Related* requires that three tests reject it. The conformal test ranks the suspect among
the controls; its error rate is at most alpha for any questions if suspect and controls are
exchangeable. The second test compares the suspect's agreement with the reference with that of
models of its skill, where controls that answer alike count as fewer (`scope.decision.judging`).
The greater of the two p-values is the verdict's; with several references it is corrected by Holm's
method. The paired test compares the suspect, over the questions, with the control that decides the
rank: other questions must not lead to another order.

The verdict is *undecided* if the evidence is unfit: a degenerate suspect or reference, too few
controls, too few that are comparable with the suspect, or controls so similar that they count as
few.

*Not related* requires power: the suspect is significantly less similar to the reference than the
deciding control, its rank is ordinary, its answers are no guesses, the controls reach its skill,
and a suspect that took a share of its answers from the reference would be found. The test may miss
a suspect that was trained on labels alone, so this verdict requires the assumption that it was not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scope.decision.case import NO_POWER_KNOWN, Conditions
from scope.decision.judging import FEWEST_INDEPENDENT, Finding
from scope.decision.usability import SKILL_GAP
from scope.decision.wording import as_like, changes, may_be_related, sentence, warnings
from scope.records import Decision, Verdict
from scope.statistics import holm
from scope.statistics.conformal import controls_needed

LARGEST_DETECTABLE = 0.5
"""A test that misses a suspect with this share of answers taken clears no suspect."""

LEAST_TO_CLEAR = 0.25
"""A suspect with a smaller p-value by rank is not cleared: it may be an undetected related one."""

HYPOTHESIS = "The suspect is no more like the reference than independent models of its skill."


def conclude(
    findings: Sequence[Finding],
    alpha: float,
    *,
    assume_no_label_training: bool = False,
    available: int | None = None,
) -> tuple[Verdict, ...]:
    """One verdict per finding, with a joint error rate of at most alpha.

    A suspect that cannot be tested against a reference has a p-value of 1.

    Parameters
    ----------
    assume_no_label_training
        Whether to assume that the suspect was not trained on answers of a reference.
    available
        The number of questions in the data, which bounds the advice.
    """
    p_values = [one.deciding_p_value for one in findings]
    adjusted = holm([1.0 if one is None else one for one in p_values])
    terms = Conditions(
        alpha=alpha,
        needed=controls_needed(alpha / max(len(findings), 1)),
        assume_no_label_training=assume_no_label_training,
        available=available,
    )
    return tuple(
        _verdict(finding, p_adjusted, terms)
        for finding, p_adjusted in zip(findings, adjusted, strict=True)
    )


def _verdict(finding: Finding, p_adjusted: float, terms: Conditions) -> Verdict:
    decision, reasons = _decide(finding, p_adjusted, terms)
    p_value = finding.deciding_p_value
    return Verdict(
        suspect=finding.case.suspect,
        reference=finding.case.reference,
        decision=decision,
        sentence=sentence(finding, decision, reasons, p_adjusted, terms),
        alpha=terms.alpha,
        p_value=p_value,
        p_adjusted=None if p_value is None else p_adjusted,
        p_rank=finding.p_value,
        agreement=finding.agreement,
        standings=finding.standings,
        evidence=finding.evidence,
        paired=finding.paired,
        controls=finding.controls,
        controls_needed=terms.needed,
        comparable_needed=terms.comparable,
        skill=finding.skill,
        detectable=finding.detectable,
        items=finding.items,
        reasons=reasons,
        changes=changes(finding, decision, reasons, terms),
        warnings=warnings(finding),
        shared=finding.shared,
        queries=finding.case.queries,
        probes=finding.case.hash,
        looks=finding.looks,
        assume_no_label_training=terms.assume_no_label_training,
    )


def _decide(
    finding: Finding, p_adjusted: float, terms: Conditions
) -> tuple[Decision, tuple[str, ...]]:
    """The decision, and the reasons against another one."""
    alpha = terms.alpha
    unfit = tuple(_why_unfit(finding, terms))
    if unfit or finding.paired is None:
        return "undecided", unfit
    if p_adjusted <= alpha and finding.paired.p_more <= alpha:
        return "related", ()
    if p_adjusted <= alpha:
        return "undecided", (
            "it is significantly more similar to the reference than independent models of its "
            f"skill (p = {p_adjusted:.2g}), but its lead over the control "
            f"`{finding.paired.control}` is not significant (paired test over the questions, "
            f"p = {finding.paired.p_more:.2g})",
        )
    reasons = tuple(_why_not_cleared(finding, p_adjusted, alpha))
    if not reasons and not terms.assume_no_label_training:
        return "undecided", (NO_POWER_KNOWN,)
    return ("undecided", reasons) if reasons else ("not related", ())


def _why_unfit(finding: Finding, terms: Conditions) -> Iterator[str]:
    """Why the evidence allows no verdict: the first reason that applies."""
    found = finding.comparable
    if finding.unusable:
        yield from finding.unusable
    elif finding.counted_controls < terms.needed:
        yield _too_few(finding, terms)
    elif finding.p_value is None or finding.paired is None or finding.agreement is None:
        yield "its answers give no evidence, for example because the reference makes no mistakes"
    elif found < terms.comparable:
        yield from finding.guesses
        yield (
            f"only {found} of {len(finding.case.controls)} controls are comparable with it: their "
            f"answers are usable and their skill is within {SKILL_GAP:g} of its own; at least "
            f"{terms.comparable} are needed, {terms.comparable - found} more"
        )
    elif finding.agreement.independent < FEWEST_INDEPENDENT:
        yield (
            f"{len(finding.agreement.controls)} controls are so similar to each other that they "
            f"count as {finding.agreement.independent:.1f} independent ones: at least "
            f"{FEWEST_INDEPENDENT} are needed"
        )


def _too_few(finding: Finding, terms: Conditions) -> str:
    """How many controls that count are missing."""
    found, usable, given = (
        finding.counted_controls,
        finding.usable_controls,
        len(finding.case.controls),
    )
    which = "different " if found < usable else "usable " if usable < given else ""
    controls = f"{which}control{'' if found == 1 else 's'}{f' of {given}' if which else ''}"
    return (
        f"{found} {controls} {'is' if found == 1 else 'are'} too few for an error rate of "
        f"{terms.alpha:g}: at least {terms.needed} are needed, {terms.needed - found} more"
    )


def _why_not_cleared(finding: Finding, p_adjusted: float, alpha: float) -> Iterator[str]:
    yield from finding.uninformative
    p_value = finding.deciding_p_value
    if p_value is not None and p_value <= alpha < p_adjusted:
        yield (
            "it is significantly more similar to the reference than independent models of its "
            f"skill (p = {p_value:.2g}), but not after Holm's correction over the references "
            f"(p = {p_adjusted:.2g})"
        )
        return
    if _only_the_rank_is_significant(finding, alpha) and finding.agreement is not None:
        yield (
            f"its rank among the controls is significant (p = {finding.p_value:.2g}), but its "
            "agreement with the reference is not, compared with models of its skill "
            f"(p = {finding.agreement.p_value:.2g}; the controls count as "
            f"{finding.agreement.independent:.1f} independent models)"
        )
        return
    share = (1 + as_like(finding)) / len(finding.standings)
    if share < LEAST_TO_CLEAR:
        yield (
            f"its rank among the controls is too high to clear it (p = {share:.2g}; at least "
            f"{LEAST_TO_CLEAR:g} is needed)"
        )
    paired = finding.paired
    if paired is not None and paired.p_less > alpha:
        yield (
            f"it is not significantly less similar to the reference than the control "
            f"`{paired.control}` (paired test over the questions, p = {paired.p_less:.2g})"
        )
    if finding.detectable is None:
        related = paired is not None and paired.control in may_be_related(finding)
        why = f", because of the control `{paired.control}`" if paired and related else ""
        yield f"not even a copy of the reference would have a significant rank{why}"
    elif finding.detectable > LARGEST_DETECTABLE:
        yield (
            f"the rank would miss a suspect that took less than {finding.detectable:.0%} "
            "of its answers from the reference"
        )


def _only_the_rank_is_significant(finding: Finding, alpha: float) -> bool:
    by_rank, agreement = finding.p_value, finding.agreement
    if by_rank is None or agreement is None:
        return False
    return by_rank <= alpha < agreement.p_value
