"""The text of a verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scope.decision.case import NO_POWER_KNOWN, Conditions
from scope.decision.judging import FEWEST_INDEPENDENT, Finding
from scope.decision.usability import (
    MAY_BE_RELATED,
    OF_REFERENCE,
    SKILL_GAP,
    THE_SUSPECTS,
    exclusion,
    sibling_warning,
)
from scope.records import Decision, Estimate
from scope.statistics.intervals import normal_quantile


def sentence(
    finding: Finding,
    decision: Decision,
    reasons: Sequence[str],
    p_adjusted: float,
    terms: Conditions,
) -> str:
    """The verdict in one sentence."""
    suspect, reference = finding.case.suspect, finding.case.reference
    controls = len(finding.standings) - 1
    at_least_as = _not_surpassed(finding) if decision == "related" else as_like(finding)
    if decision == "undecided":
        open_ = (
            f"Whether {suspect} is derived from {reference} cannot be decided: "
            f"{'; '.join(reasons)}."
        )
        if NO_POWER_KNOWN not in reasons:
            return open_
        return (
            f"{open_} There is no evidence of reuse of its weights: {_shown(finding, at_least_as)}."
        )
    if decision == "related":
        beyond = (
            f"each of {controls} controls"
            if not at_least_as
            else f"{controls - at_least_as} of {controls} controls"
        )
        return (
            f"{suspect} is related to {reference}: on the {finding.shared} questions that both "
            f"answered it is more similar to {reference} than {beyond}, which are assumed to be "
            f"independent of {reference}. For a model that is exchangeable with the controls the "
            f"probability of this is at most {p_adjusted:.2g}, where {terms.alpha:g} is allowed."
        )
    return (
        f"{suspect} is not related to {reference}, on the assumption that it was not trained on "
        f"answers of {reference}. The evidence: {_shown(finding, at_least_as)}. "
        "This verdict has no stated error rate: how often a related model is cleared is unknown."
    )


def _shown(finding: Finding, at_least_as: int) -> str:
    """The evidence that clears a suspect, with its power."""
    reference = finding.case.reference
    return (
        f"on {finding.shared} questions {at_least_as} of {len(finding.standings) - 1} controls are "
        f"at least as similar to {reference} (p = {finding.p_value:.3g} by rank), and a suspect "
        f"that took {finding.detectable or 0:.0%} of its answers from {reference} would have a "
        "significant rank"
    )


def _not_surpassed(finding: Finding) -> int:
    """The number of controls in the p-value; in a sequential test p = (2k + 1) / (n + 1)."""
    if not finding.looks:
        return as_like(finding)
    among = len(finding.case.controls) + 1
    left = round((finding.looks[-1].p_value * among - 1) / 2)
    return min(left, len(finding.standings) - 1)


def as_like(finding: Finding) -> int:
    """The number of controls with at least the suspect's joint statistic."""
    if not finding.standings or finding.standings[0].model != finding.case.suspect:
        return 0
    own, *others = (one.value for one in finding.standings)
    return sum(value >= own for value in others)


def changes(
    finding: Finding, decision: Decision, reasons: Sequence[str], terms: Conditions
) -> tuple[str, ...]:
    """What would change the verdict."""
    unfit = _what_would_be_fit(finding, terms)
    if unfit or finding.paired is None:
        return (unfit,)
    reference, closest = finding.case.reference, finding.paired.control
    if decision == "related":
        return (
            f"One more independent model that is as similar to {reference} as "
            f"{finding.case.suspect} is; the most similar control is {closest}.",
            "Proof that both are derived from a third model that is not among the controls.",
        )
    if decision == "not related":
        return (
            f"Answers that agree with {reference} where {closest} and the other controls do not.",
            f"Evidence that {closest} or another control is derived from {reference}.",
        )
    if NO_POWER_KNOWN in reasons:
        return (
            "If it is known not to be trained on answers of the reference: "
            "--assume-no-label-training.",
        )
    return (_what_would_decide(finding, terms),)


def _what_would_be_fit(finding: Finding, terms: Conditions) -> str:
    """What is missing if the evidence allows no verdict; empty if it does."""
    agreement = finding.agreement
    if finding.unusable:
        return _what_would_be_usable(finding.unusable)
    if finding.counted_controls < terms.needed:
        return f"{terms.needed - finding.counted_controls} more independent controls."
    if finding.paired is None or agreement is None:
        return "Questions that the suspect and the reference both answer."
    if finding.comparable < terms.comparable:
        missing = terms.comparable - finding.comparable
        return f"{missing} more independent controls{_of_skill(finding)}."
    if agreement.independent < FEWEST_INDEPENDENT:
        return "Controls of other origins, which are less similar to each other."
    return ""


def _what_would_be_usable(unusable: Sequence[str]) -> str:
    if all(reason.startswith(OF_REFERENCE) for reason in unusable):
        return "A reference whose answers differ, or other questions."
    return "Answers to more of the questions, or answers that are better than guesses."


def _of_skill(finding: Finding) -> str:
    if not isinstance(finding.skill, Estimate):
        return ""
    low, high = finding.skill.value - SKILL_GAP, finding.skill.value + SKILL_GAP
    return f" of a skill from {max(low, 0):.2f} to {min(high, 1):.2f}"


def _what_would_decide(finding: Finding, terms: Conditions) -> str:
    if finding.uninformative:
        return "A suspect that answers better than a guesser, and controls of its skill."
    if finding.paired is not None and finding.paired.control in may_be_related(finding):
        closest = finding.paired.control
        return (
            f"If the control {closest} is known to be derived from {finding.case.reference} "
            "(similar answers alone are no proof), exclude it with "
            f"{exclusion(closest)} and test again."
        )
    return _more_questions(finding, terms)


def may_be_related(finding: Finding) -> tuple[str, ...]:
    """The controls that may be related to the reference."""
    return tuple(one.model for one in finding.controls if MAY_BE_RELATED in one.flags)


def _more_questions(finding: Finding, terms: Conditions) -> str:
    """How many questions would decide between suspect and closest control, at the same difference.

    Only if the data have as many.
    """
    about = _questions_needed(finding, terms.alpha)
    asked = len(finding.case.items)
    if terms.available is not None and asked >= terms.available:
        return f"These data cannot decide it: all of their {asked} questions were asked."
    if about is None or (terms.available is not None and about > terms.available):
        return "These data cannot decide it: use other data, or more independent controls."
    return f"About {about} questions in all instead of {asked}."


def _questions_needed(finding: Finding, alpha: float) -> int | None:
    paired = finding.paired
    if paired is None or paired.difference.high <= paired.difference.low:
        return None
    error = (paired.difference.high - paired.difference.low) / (2 * normal_quantile(0.95))
    needed = normal_quantile(1 - 2 * alpha) if alpha < 0.5 else 0.0
    seen = abs(paired.difference.value) / error
    if seen <= 0 or seen >= needed:
        return None
    return math.ceil((needed / seen) ** 2 * len(finding.case.items) / 10) * 10


def warnings(finding: Finding) -> tuple[str, ...]:
    """The controls that may be unfit.

    Those of different skill are in one warning; the flags of the controls have them one by one.
    """
    flags = [(check.model, flag) for check in finding.controls for flag in check.flags]
    unequal = [model for model, flag in flags if flag.endswith(THE_SUSPECTS)]
    found = [
        f"control {model}: {flag}"
        for model, flag in flags
        if not flag.endswith(THE_SUSPECTS) and flag != MAY_BE_RELATED
    ]
    found += sibling_warning(finding.case.reference, finding.controls)
    if unequal:
        found.append(
            f"{len(unequal)} of {len(finding.controls)} controls are far from the suspect's skill: "
            f"{', '.join(unequal)}"
        )
    return tuple(found)
