"""The verdict on each reference: related, not related, of neither kind, or undecided.

**Related** (derived from the reference, or of a common source) takes two tests at most at alpha.
Among all pairs of suspect, reference and controls, the pair of suspect and reference is one of the
most similar; the error rate of this rank is at most alpha for any questions if the models are
exchangeable. And suspect and reference agree more than models of the suspect's skill do, where
controls that answer alike count as fewer (`scope.jobs.reuse.judging`). The greater of the two
p-values is the verdict's; with several references it is corrected by Holm's method.

**Not related** is the opposite claim with an error rate of its own: among known derivatives of the
reference the suspect is one of the least similar to it. It is said of derivatives of this kind. If
a suspect is more similar than unrelated models are, and less than derivatives are, it is **of
neither kind**.

All else is *undecided*: a degenerate suspect or reference, too few controls, or neither claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from scope.jobs.reuse.judging import Finding
from scope.jobs.reuse.usability import (
    MAY_BE_RELATED,
    OF_REFERENCE,
    THE_SUSPECTS,
    sibling_warning,
)
from scope.records import Decision, Verdict
from scope.statistics import holm
from scope.statistics.conformal import controls_needed, others_needed

HYPOTHESIS = "The suspect is no more like the reference than independent models of its skill."

MOST_NAMED = 4
"""Number of derivatives that a sentence names."""


class _Judged(NamedTuple):
    """A decision, the reasons against another one, and what would change it."""

    decision: Decision
    reasons: tuple[str, ...]
    changes: tuple[str, ...]


def conclude(findings: Sequence[Finding], alpha: float) -> tuple[Verdict, ...]:
    """One verdict per finding, with a joint error rate of at most alpha.

    A suspect that cannot be tested against a reference has a p-value of 1.
    """
    needed = controls_needed(alpha / max(len(findings), 1))
    p_values = [finding.verdict.p_value for finding in findings]
    corrected = holm([1.0 if p is None else p for p in p_values])
    verdicts = []
    for finding, p_adjusted in zip(findings, corrected, strict=True):
        numbers = replace(
            finding.verdict,
            alpha=alpha,
            p_adjusted=None if finding.verdict.p_value is None else p_adjusted,
            controls_needed=needed,
            derivatives_needed=others_needed(alpha),
        )
        judged = _judge(replace(finding, verdict=numbers), p_adjusted)
        verdicts.append(
            replace(
                numbers,
                decision=judged.decision,
                sentence=_sentence(numbers, judged),
                reasons=judged.reasons,
                changes=judged.changes,
                warnings=tuple(_warnings(numbers)),
            )
        )
    return tuple(verdicts)


def _judge(finding: Finding, p_adjusted: float) -> _Judged:
    numbers = finding.verdict
    if finding.unusable:
        change = "Answers to more of the questions, or answers that are better than guesses."
        if all(reason.startswith(OF_REFERENCE) for reason in finding.unusable):
            change = "A reference whose answers differ, or other questions."
        return _Judged("undecided", finding.unusable, (change,))
    if numbers.p_rank is None:
        return _Judged(
            "undecided",
            ("its answers give no evidence, for example because the reference makes no mistakes",),
            ("Questions that the suspect and the reference both answer.",),
        )
    p_derivative, alpha = numbers.p_derivative, numbers.alpha
    unlike = p_derivative is not None and p_derivative <= alpha and not finding.uninformative
    if p_adjusted <= alpha:
        change = f"Pairs of independent models that are as similar; {numbers.pairs} were compared."
        return _Judged("of neither kind" if unlike else "related", (), (change,))
    if unlike:
        change = f"A derivative of {numbers.reference} that is as little like it as "
        return _Judged("not related", (), (f"{change}{numbers.suspect} is.",))
    missing = numbers.controls_needed - finding.usable_controls
    few = _few_controls(finding) if missing > 0 else ()
    reasons = (*few, *(() if few else _why_not_related(numbers)), *_why_not_cleared(finding))
    return _Judged("undecided", reasons, tuple(_what_would_decide(numbers, max(missing, 0))))


def _few_controls(finding: Finding) -> tuple[str, ...]:
    usable, numbers = finding.usable_controls, finding.verdict
    of = f" usable control{'' if usable == 1 else 's'} of {len(numbers.controls)}"
    if usable == len(numbers.controls):
        of = " control" if usable == 1 else " controls"
    return (
        f"{usable}{of} {'is' if usable == 1 else 'are'} too few for an error rate of "
        f"{numbers.alpha:g}: at least {numbers.controls_needed} are needed, "
        f"{numbers.controls_needed - usable} more",
    )


def _why_not_related(numbers: Verdict) -> Iterator[str]:
    """Which of the tests is not significant."""
    p_rank, p_value, agreement = numbers.p_rank, numbers.p_value, numbers.agreement
    if p_rank is None or p_value is None or agreement is None:
        yield "its agreement with the reference cannot be compared with that of the controls"
    elif p_value <= numbers.alpha:
        yield (
            f"it is significantly more similar to the reference than unrelated models are (p = "
            f"{p_value:.2g}), but not after Holm's correction over the references "
            f"(p = {numbers.p_adjusted or 1:.2g})"
        )
    elif min(p_rank, agreement.p_value) <= numbers.alpha:
        yield (
            f"one of two tests is significant (p = {p_rank:.2g} by rank among {numbers.pairs} "
            f"pairs, {agreement.p_value:.2g} by agreement, where the controls count as "
            f"{agreement.independent:.1f} independent models)"
        )
    else:
        yield f"nothing speaks for a relation (p = {p_value:.2g})"


def _why_not_cleared(finding: Finding) -> Iterator[str]:
    """Why it is not called unlike derivatives of the reference."""
    numbers, counted = finding.verdict, len(finding.verdict.counted)
    if not numbers.derivatives:
        yield from finding.guesses
        yield "no derivatives of the reference are known that it could be less similar than"
    elif counted < numbers.derivatives_needed:
        yield (
            f"{counted} derivative{'' if counted == 1 else 's'} of the reference "
            f"{'is' if counted == 1 else 'are'} too few for *not related* at an error rate of "
            f"{numbers.alpha:g}: at least {numbers.derivatives_needed} are needed"
        )
    elif (numbers.p_derivative or 1) > numbers.alpha:
        yield (
            f"{sum(each.unlike for each in numbers.counted)} of {counted} derivatives of the "
            f"reference are at most as similar to it (p = {numbers.p_derivative:.2g})"
        )
    else:
        yield from finding.uninformative


def _sentence(numbers: Verdict, judged: _Judged) -> str:
    """The verdict in one sentence."""
    suspect, reference = numbers.suspect, numbers.reference
    if judged.decision == "undecided":
        reasons = "; ".join(judged.reasons)
        return f"Whether {suspect} is related to {reference} cannot be decided: {reasons}."
    as_similar = round((numbers.p_rank or 1) * numbers.pairs) - 1
    similar = (
        f"on the {numbers.shared} questions that both answered {as_similar or 'none'} of the "
        f"{numbers.pairs - 1} other pairs of {reference}, {suspect} and "
        f"{len(numbers.standings) - 1} controls are as similar. For unrelated models the "
        f"probability of this is at most {numbers.p_adjusted or 1:.2g}, where {numbers.alpha:g} is "
        "allowed"
    )
    unlike = sum(each.unlike for each in numbers.counted)
    names = [each.model for each in numbers.counted]
    named = ", ".join(names[:MOST_NAMED])
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    derivatives = (
        f"{unlike or 'none'} of {len(names)} derivatives of {reference} ({named}{more}) are as "
        f"little like it. For such a derivative the probability of this is at most "
        f"{numbers.p_derivative or 1:.2g}, where {numbers.alpha:g} is allowed"
    )
    if judged.decision == "related":
        return f"{suspect} is related to {reference}, derived or of a common source: {similar}."
    if judged.decision == "not related":
        return f"{suspect} is not related to {reference} as its derivatives are: {derivatives}."
    return (
        f"{suspect} is neither like an unrelated model nor like the derivatives of {reference}: "
        f"{similar}; {derivatives}."
    )


def _what_would_decide(numbers: Verdict, missing: int) -> Iterator[str]:
    if missing:
        yield f"{missing} more independent control{'' if missing == 1 else 's'}."
    elif numbers.agreement and min(numbers.p_rank or 1, numbers.agreement.p_value) <= numbers.alpha:
        yield "More independent controls of the suspect's skill, or more questions."
    more = numbers.derivatives_needed - len(numbers.counted)
    if more > 0:
        yield (
            f"For *not related*: {more} {'more ' if numbers.counted else ''}derivatives of "
            f"{numbers.reference} of the kind to be excluded, such as fine-tuned or distilled "
            "models (--derivative)."
        )


def _warnings(numbers: Verdict) -> Iterator[str]:
    """The models that may be unfit.

    Controls of different skill share one warning; the flags of the controls list them one by one.
    """
    flags = [(check.model, flag) for check in numbers.controls for flag in check.flags]
    unequal = [model for model, flag in flags if flag.endswith(THE_SUSPECTS)]
    for model, flag in flags:
        if not flag.endswith(THE_SUSPECTS) and flag != MAY_BE_RELATED:
            yield f"control {model}: {flag}"
    yield from sibling_warning(numbers.reference, numbers.controls)
    if copies := [each.model for each in numbers.derivatives if not each.counted]:
        yield (
            f"copies of {numbers.reference} among the derivatives, which do not count: "
            f"{', '.join(copies)}"
        )
    if unequal:
        yield (
            f"{len(unequal)} of {len(numbers.controls)} controls are far from the suspect's skill: "
            f"{', '.join(unequal)}"
        )
