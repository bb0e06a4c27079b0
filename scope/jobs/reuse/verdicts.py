"""The verdict on each reference: related, not related, or undecided, at a stated error rate.

The null hypothesis is that the suspect is no more like the reference than independent models of its
skill are. *Related* requires that three tests reject it. The conformal test ranks the suspect among
the controls; its error rate is at most alpha for any questions if suspect and controls are
exchangeable. The second test compares the suspect's agreement with the reference with that of
models of its skill, where controls that answer alike count as fewer (`scope.jobs.reuse.judging`).
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

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from scope.jobs.reuse.judging import Finding
from scope.jobs.reuse.usability import (
    MAY_BE_RELATED,
    OF_REFERENCE,
    SKILL_GAP,
    THE_SUSPECTS,
    exclusion,
    sibling_warning,
)
from scope.records import Decision, Estimate, PairedTest, Verdict
from scope.statistics import holm
from scope.statistics.conformal import controls_needed
from scope.statistics.intervals import normal_quantile

COMPARABLE_SHARE = 0.5
"""The share of the required controls that must be comparable with the suspect."""

FEWEST_INDEPENDENT = 4
"""The least number of independent controls that the controls must count as for a decision."""

NO_POWER_KNOWN = (
    "it may have been trained on answers of the reference, which this test can miss; if you know "
    "that it was not, add --assume-no-label-training"
)
"""The reason why a suspect is not cleared without the assumption."""

LARGEST_DETECTABLE = 0.5
"""A test that misses a suspect with this share of answers taken clears no suspect."""

LEAST_TO_CLEAR = 0.25
"""A suspect with a smaller p-value by rank is not cleared: it may be an undetected related one."""

HYPOTHESIS = "The suspect is no more like the reference than independent models of its skill."


class _Conditions(NamedTuple):
    """The conditions of all verdicts of a test.

    ``needed`` is the least number of controls, ``comparable`` that of controls that are comparable
    with the suspect. ``available`` is the number of questions in the data, None if unknown.
    """

    alpha: float
    needed: int
    comparable: int
    assume_no_label_training: bool
    available: int | None


class _Judged(NamedTuple):
    """A decision, the reasons against another one, and what would change it."""

    decision: Decision
    reasons: tuple[str, ...]
    changes: tuple[str, ...]


def _undecided(change: str, *reasons: str) -> _Judged:
    return _Judged("undecided", reasons, (change,))


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
    needed = controls_needed(alpha / max(len(findings), 1))
    comparable = math.ceil(COMPARABLE_SHARE * needed)
    conditions = _Conditions(alpha, needed, comparable, assume_no_label_training, available)
    p_values = [finding.verdict.p_value for finding in findings]
    corrected = holm([1.0 if p is None else p for p in p_values])
    verdicts = []
    for finding, p_adjusted in zip(findings, corrected, strict=True):
        numbers, judged = finding.verdict, _judge(finding, p_adjusted, conditions)
        verdicts.append(
            replace(
                numbers,
                decision=judged.decision,
                sentence=_sentence(finding, judged, p_adjusted, alpha),
                alpha=alpha,
                p_adjusted=None if numbers.p_value is None else p_adjusted,
                controls_needed=needed,
                comparable_needed=comparable,
                reasons=judged.reasons,
                changes=judged.changes,
                warnings=tuple(_warnings(numbers)),
                assume_no_label_training=assume_no_label_training,
            )
        )
    return tuple(verdicts)


def _judge(finding: Finding, p_adjusted: float, conditions: _Conditions) -> _Judged:
    if unfit := _unfit(finding, conditions):
        return unfit
    numbers, alpha = finding.verdict, conditions.alpha
    # Without a paired test the evidence is unfit.
    paired = cast(PairedTest, numbers.paired)
    if p_adjusted <= alpha and paired.p_more <= alpha:
        return _Judged(
            "related",
            (),
            (
                f"One more independent model that is as similar to {numbers.reference} as "
                f"{numbers.suspect} is; the most similar control is {paired.control}.",
                "Proof that both are derived from a third model that is not among the controls.",
            ),
        )
    if p_adjusted <= alpha:
        reasons: tuple[str, ...] = (
            "it is significantly more similar to the reference than independent models of its "
            f"skill (p = {p_adjusted:.2g}), but its lead over the control "
            f"`{paired.control}` is not significant (paired test over the questions, "
            f"p = {paired.p_more:.2g})",
        )
    else:
        reasons = tuple(_why_not_cleared(finding, p_adjusted, alpha))
    if reasons:
        return _undecided(_what_would_decide(finding, conditions), *reasons)
    if not conditions.assume_no_label_training:
        change = "If it is known not to be trained on answers of the reference"
        return _undecided(f"{change}: --assume-no-label-training.", NO_POWER_KNOWN)
    return _Judged(
        "not related",
        (),
        (
            f"Answers that agree with {numbers.reference} where {paired.control} and the other "
            "controls do not.",
            f"Evidence that {paired.control} or another control is derived from "
            f"{numbers.reference}.",
        ),
    )


def _unfit(finding: Finding, conditions: _Conditions) -> _Judged | None:
    """Why the evidence allows no verdict, and what is missing."""
    numbers, usable = finding.verdict, finding.usable_controls
    counted, controls = finding.counted_controls, len(numbers.controls)
    if finding.unusable:
        change = "Answers to more of the questions, or answers that are better than guesses."
        if all(reason.startswith(OF_REFERENCE) for reason in finding.unusable):
            change = "A reference whose answers differ, or other questions."
        return _undecided(change, *finding.unusable)
    if counted < conditions.needed:
        which = "different " if counted < usable else "usable " if usable < controls else ""
        of = f" of {controls}" if which else ""
        missing = conditions.needed - counted
        return _undecided(
            f"{missing} more independent controls.",
            f"{counted} {which}control{'' if counted == 1 else 's'}{of} "
            f"{'is' if counted == 1 else 'are'} too few for an error rate of "
            f"{conditions.alpha:g}: at least {conditions.needed} are needed, {missing} more",
        )
    if numbers.p_rank is None or numbers.paired is None or numbers.agreement is None:
        return _undecided(
            "Questions that the suspect and the reference both answer.",
            "its answers give no evidence, for example because the reference makes no mistakes",
        )
    if finding.comparable < conditions.comparable:
        missing, skill = conditions.comparable - finding.comparable, ""
        if isinstance(numbers.skill, Estimate):
            low, high = numbers.skill.value - SKILL_GAP, numbers.skill.value + SKILL_GAP
            skill = f" of a skill from {max(low, 0):.2f} to {min(high, 1):.2f}"
        return _undecided(
            f"{missing} more independent controls{skill}.",
            *finding.guesses,
            f"only {finding.comparable} of {controls} controls are comparable with it: their "
            f"answers are usable and their skill is within {SKILL_GAP:g} of its own; at least "
            f"{conditions.comparable} are needed, {missing} more",
        )
    if numbers.agreement.independent < FEWEST_INDEPENDENT:
        return _undecided(
            "Controls of other origins, which are less similar to each other.",
            f"{len(numbers.agreement.controls)} controls are so similar to each other that they "
            f"count as {numbers.agreement.independent:.1f} independent ones: at least "
            f"{FEWEST_INDEPENDENT} are needed",
        )
    return None


def _why_not_cleared(finding: Finding, p_adjusted: float, alpha: float) -> Iterator[str]:
    numbers, paired, agreement = finding.verdict, finding.verdict.paired, finding.verdict.agreement
    yield from finding.uninformative
    p_value, p_rank = numbers.p_value, numbers.p_rank
    if p_value is not None and p_value <= alpha < p_adjusted:
        yield (
            "it is significantly more similar to the reference than independent models of its "
            f"skill (p = {p_value:.2g}), but not after Holm's correction over the references "
            f"(p = {p_adjusted:.2g})"
        )
        return
    if p_rank is not None and agreement is not None and p_rank <= alpha < agreement.p_value:
        yield (
            f"its rank among the controls is significant (p = {p_rank:.2g}), but its "
            "agreement with the reference is not, compared with models of its skill "
            f"(p = {agreement.p_value:.2g}; the controls count as "
            f"{agreement.independent:.1f} independent models)"
        )
        return
    share = (1 + _as_similar(numbers)) / len(numbers.standings)
    if share < LEAST_TO_CLEAR:
        yield (
            f"too few controls are as similar to the reference as it is (p = {share:.2g} by rank; "
            f"to be called not related it needs at least {LEAST_TO_CLEAR:g})"
        )
    if paired is not None and paired.p_less > alpha:
        yield (
            f"it is not significantly less similar to the reference than the control "
            f"`{paired.control}` (paired test over the questions, p = {paired.p_less:.2g})"
        )
    if numbers.detectable is None:
        related = paired is not None and paired.control in _may_be_related(numbers)
        why = f", because of the control `{paired.control}`" if paired and related else ""
        yield f"not even a copy of the reference would have a significant rank{why}"
    elif numbers.detectable > LARGEST_DETECTABLE:
        yield (
            f"the rank would miss a suspect that took less than {numbers.detectable:.0%} "
            "of its answers from the reference"
        )


def _sentence(finding: Finding, judged: _Judged, p_adjusted: float, alpha: float) -> str:
    """The verdict in one sentence."""
    numbers = finding.verdict
    suspect, reference = numbers.suspect, numbers.reference
    as_similar, controls = _as_similar(numbers), len(numbers.standings) - 1
    evidence = (
        f"on {numbers.shared} questions {as_similar} of {controls} controls are at least as "
        f"similar to {reference} (p = {numbers.p_rank or 0:.3g} by rank), and a suspect that took "
        f"{numbers.detectable or 0:.0%} of its answers from {reference} would have a significant "
        "rank"
    )
    if judged.decision == "undecided":
        reasons = "; ".join(judged.reasons)
        undecided = f"Whether {suspect} is derived from {reference} cannot be decided: {reasons}."
        if NO_POWER_KNOWN not in judged.reasons:
            return undecided
        return f"{undecided} There is no evidence of reuse of its weights: {evidence}."
    if judged.decision == "not related":
        return (
            f"{suspect} is not related to {reference}, on the assumption that it was not trained "
            f"on answers of {reference}. The evidence: {evidence}. This verdict has no stated "
            "error rate: how often a related model is cleared is unknown."
        )
    if numbers.looks:
        # In a sequential test p = (2k + 1) / (n + 1), where k controls are not surpassed.
        k = round((numbers.looks[-1].p_value * (len(numbers.controls) + 1) - 1) / 2)
        as_similar = min(k, controls)
    surpassed = f"{controls - as_similar} of {controls}" if as_similar else f"each of {controls}"
    return (
        f"{suspect} is related to {reference}: on the {numbers.shared} questions that both "
        f"answered it is more similar to {reference} than {surpassed} controls, which are assumed "
        f"to be independent of {reference}. For a model that is exchangeable with the controls the "
        f"probability of this is at most {p_adjusted:.2g}, where {alpha:g} is allowed."
    )


def _as_similar(numbers: Verdict) -> int:
    """The number of controls with at least the suspect's joint statistic."""
    values = {score.model: score.value for score in numbers.standings}
    if numbers.suspect not in values:
        return 0
    return sum(value >= values[numbers.suspect] for value in values.values()) - 1


def _may_be_related(numbers: Verdict) -> tuple[str, ...]:
    """The controls that may be related to the reference."""
    return tuple(check.model for check in numbers.controls if MAY_BE_RELATED in check.flags)


def _what_would_decide(finding: Finding, conditions: _Conditions) -> str:
    numbers, paired = finding.verdict, finding.verdict.paired
    if finding.uninformative:
        return "A suspect that answers better than a guesser, and controls of its skill."
    if paired is not None and paired.control in _may_be_related(numbers):
        return (
            f"If the control {paired.control} is known to be derived from {numbers.reference} "
            "(similar answers alone are no proof), exclude it with "
            f"{exclusion(paired.control)} and test again."
        )
    asked, available = len(finding.case.items), conditions.available
    if available is not None and asked >= available:
        return f"Other data, or more independent controls: all {asked:,} questions were asked."
    needed = _questions_needed(finding, conditions.alpha)
    if needed is None or (available is not None and needed > available):
        return "Other data, or more independent controls: these questions are too few."
    return f"About {needed:,} questions in all instead of {asked:,}."


def _questions_needed(finding: Finding, alpha: float) -> int | None:
    """The number of questions to decide against the closest control, at the same difference."""
    paired = finding.verdict.paired
    if paired is None or paired.difference.high <= paired.difference.low:
        return None
    error = (paired.difference.high - paired.difference.low) / (2 * normal_quantile(0.95))
    needed = normal_quantile(1 - 2 * alpha) if alpha < 0.5 else 0.0
    seen = abs(paired.difference.value) / error
    if seen <= 0 or seen >= needed:
        return None
    return math.ceil((needed / seen) ** 2 * len(finding.case.items) / 10) * 10


def _warnings(numbers: Verdict) -> Iterator[str]:
    """The controls that may be unfit.

    Controls of different skill share one warning; the flags of the controls list them one by one.
    """
    flags = [(check.model, flag) for check in numbers.controls for flag in check.flags]
    unequal = [model for model, flag in flags if flag.endswith(THE_SUSPECTS)]
    for model, flag in flags:
        if not flag.endswith(THE_SUSPECTS) and flag != MAY_BE_RELATED:
            yield f"control {model}: {flag}"
    yield from sibling_warning(numbers.reference, numbers.controls)
    if unequal:
        yield (
            f"{len(unequal)} of {len(numbers.controls)} controls are far from the suspect's skill: "
            f"{', '.join(unequal)}"
        )
