"""What a verdict says in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scope.decision.judging import Finding
from scope.decision.usability import MAY_BE_RELATED, THE_SUSPECTS
from scope.records import Decision
from scope.statistics.clusters import normal_quantile


def sentence(
    finding: Finding,
    decision: Decision,
    reasons: Sequence[str],
    *,
    p_adjusted: float,
    alpha: float,
) -> str:
    """The verdict for a reader who reads nothing else."""
    suspect, reference = finding.case.suspect, finding.case.reference
    controls = len(finding.standings) - 1
    at_least_as = _not_surpassed(finding) if decision == "related" else as_like(finding)
    if decision == "undecided":
        return (
            f"Whether {suspect} is derived from {reference} cannot be decided: "
            f"{'; '.join(reasons)}."
        )
    if decision == "related":
        beyond = (
            f"each of {controls} controls"
            if not at_least_as
            else f"{controls - at_least_as} of {controls} controls"
        )
        return (
            f"{suspect} is related to {reference}: on the {finding.shared} questions that both "
            f"answered it is more like {reference} than {beyond}, which are taken to be "
            f"independent of it. A model that has nothing to do "
            f"with {reference} would be so by chance with a probability of at most "
            f"{p_adjusted:.2g}, where {alpha:g} is allowed."
        )
    return (
        f"{suspect} is not related to {reference} so far as {finding.shared} questions show: "
        f"{at_least_as} of {controls} controls are at least as like {reference} "
        f"(p = {p_adjusted:.3g}), and a suspect that had taken "
        f"{finding.detectable or 0:.0%} of its answers from {reference} would have stood out."
    )


def _not_surpassed(finding: Finding) -> int:
    """How many controls the p-value counts; in a sequential test p = (2k + 1) / (n + 1)."""
    if not finding.looks:
        return as_like(finding)
    return round((finding.looks[-1].p_value * len(finding.standings) - 1) / 2)


def as_like(finding: Finding) -> int:
    """How many controls reach the suspect's joint statistic."""
    if not finding.standings or finding.standings[0].model != finding.case.suspect:
        return 0
    own, *others = (one.value for one in finding.standings)
    return sum(value >= own for value in others)


def changes(finding: Finding, decision: Decision, *, needed: int, alpha: float) -> tuple[str, ...]:
    """What would change the verdict."""
    if finding.unusable:
        return ("Answers to more of the questions, or answers that are better than guesses.",)
    if finding.different_controls < needed:
        return (f"{needed - finding.different_controls} more independent controls.",)
    if finding.paired is None:
        return ("Questions that the suspect and the reference both answer.",)
    reference, closest = finding.case.reference, finding.paired.control
    if decision == "related":
        return (
            f"One more independent model that is as like {reference} as {finding.case.suspect} "
            f"is; the control that comes nearest is {closest}.",
            "Proof that both were made from a third model which is not among the controls.",
        )
    if decision == "not related":
        return (
            f"Answers that agree with {reference} where {closest} and the other controls do not.",
            f"The discovery that {closest} or another control is itself derived from {reference}.",
        )
    return (_what_would_decide(finding, alpha),)


def _what_would_decide(finding: Finding, alpha: float) -> str:
    if finding.uninformative:
        return "A suspect that answers better than a guesser, and controls of its skill."
    if finding.paired is not None and finding.paired.control in may_be_related(finding):
        return (
            f"Knowledge of whether the control {finding.paired.control} is derived from "
            f"{finding.case.reference}: if it is known to be, and not for its likeness alone, "
            "leave it out and test again."
        )
    return _more_questions(finding, alpha)


def may_be_related(finding: Finding) -> tuple[str, ...]:
    """The controls that look related to the reference themselves."""
    return tuple(one.model for one in finding.controls if MAY_BE_RELATED in one.flags)


def _more_questions(finding: Finding, alpha: float) -> str:
    """How many questions would decide between suspect and closest control, if they go on alike."""
    paired = finding.paired
    if paired is None or paired.difference.high <= paired.difference.low:
        return "More questions."
    error = (paired.difference.high - paired.difference.low) / (2 * normal_quantile(0.95))
    needed = normal_quantile(1 - 2 * alpha) if alpha < 0.5 else 0.0
    seen = abs(paired.difference.value) / error
    if seen <= 0 or seen >= needed:
        return "More questions, or questions on which the reference errs more often."
    factor = (needed / seen) ** 2
    if factor > 100:
        return (
            "Hardly more questions alone, for suspect and closest control are equally alike; more "
            "independent controls."
        )
    about = math.ceil(factor * len(finding.case.probes) / 10) * 10
    return f"About {about} questions in all instead of {len(finding.case.probes)}."


def warnings(finding: Finding) -> tuple[str, ...]:
    """What a reader must know before the numbers: controls that may serve badly.

    Those of another skill are told together, and one by one in the flags of the controls.
    """
    flags = [(check.model, flag) for check in finding.controls for flag in check.flags]
    unequal = [model for model, flag in flags if flag.endswith(THE_SUSPECTS)]
    told = [f"control {model}: {flag}" for model, flag in flags if not flag.endswith(THE_SUSPECTS)]
    if unequal:
        told.append(
            f"{len(unequal)} of {len(finding.controls)} controls are far from the suspect's skill: "
            f"{', '.join(unequal)}"
        )
    return tuple(told)
