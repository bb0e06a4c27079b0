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

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from reports.wording import as_sentence, in_percent
from scope.jobs.reuse.judging import Finding
from scope.jobs.reuse.usability import (
    MAY_BE_RELATED,
    OF_REFERENCE,
    THE_SUSPECTS,
    sibling_warning,
)
from scope.records import Decision, Verdict
from scope.statistics.conformal import controls_needed, others_needed
from scope.statistics.paired import holm

HYPOTHESIS = "The suspect is no more like the reference than independent models of its skill."

MOST_NAMED = 2
"""Number of models, or pairs, that a sentence names."""


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
    other_kind = (
        "This is said of such derivatives alone. For another kind name "
        f"{numbers.derivatives_needed} models made from {numbers.reference} in that way "
        "(--derivative)."
    )
    source = (
        "Derived, or only of a common source? Add a model of the same source that was not made "
        f"from {numbers.reference} (--control): if it stays related, the source alone does not "
        "explain it."
    )
    if p_adjusted <= alpha:
        return (
            _Judged("of neither kind", (), (other_kind,))
            if unlike
            else _Judged("related", (), (source,))
        )
    if unlike:
        return _Judged("not related", (), (other_kind,))
    usable, controls = finding.usable_controls, len(numbers.controls)
    few = (
        f"{usable}{'' if usable == controls else f' usable of {controls}'} "
        f"control{' is' if usable == 1 else 's are'} too few: at least {numbers.controls_needed} "
        f"are needed to err in at most {in_tests(alpha)}"
    )
    why = [few] if usable < numbers.controls_needed else _why_not_related(numbers)
    reasons = (*why, *_why_not_cleared(finding))
    return _Judged("undecided", reasons, tuple(_what_would_decide(numbers, usable)))


def in_tests(p_value: float) -> str:
    """In how many tests at most chance does this.

    >>> in_tests(0.0067), in_tests(0.05), in_tests(0.6)
    ('1 test of 149', '1 test of 20', '60 tests of 100')
    """
    if p_value > 0.5:
        return f"{math.ceil(100 * p_value - 1e-9)} tests of 100"
    return f"1 test of {math.floor(1 / max(p_value, 1e-6) + 1e-9):,}"


def _why_not_related(numbers: Verdict) -> Iterator[str]:
    """Which of the tests is not significant."""
    p_rank, p_value, agreement = numbers.p_rank, numbers.p_value, numbers.agreement
    if p_rank is None or p_value is None or agreement is None:
        yield "its agreement with the reference cannot be compared with that of the controls"
        return
    place = round(p_rank * numbers.pairs)
    if p_value <= numbers.alpha:
        yield (
            f"an unrelated model would come out as similar in at most {in_tests(p_value)}, but not "
            "after Holm's correction over the references: there in up to "
            f"{in_tests(numbers.p_adjusted or 1)}"
        )
    elif p_rank <= numbers.alpha:
        yield (
            f"it is number {place} of {numbers.pairs} pairs by likeness, but an unrelated model of "
            "its skill would agree as much with the reference in up to "
            f"{in_tests(agreement.p_value)}"
        )
    elif agreement.p_value <= numbers.alpha:
        yield (
            f"it is number {place} of {numbers.pairs} pairs by likeness, not near enough to the "
            f"top to call it related{_as_similar(numbers)}"
        )
    else:
        yield (
            f"there is no sign of a relation: of the {numbers.pairs - 1} other pairs of models "
            f"{place - 1} are as similar{_as_similar(numbers)}"
        )


def _as_similar(numbers: Verdict) -> str:
    """The controls that are at least as similar to the reference."""
    values = {score.model: score.value for score in numbers.standings}
    suspect = values.pop(numbers.suspect, math.inf)
    names = sorted((name for name in values if values[name] >= suspect), key=lambda n: -values[n])
    with_reference = f", among them that of {numbers.reference} with "
    return f"{with_reference}{_named(names)}" if names else ""


def _named(names: Sequence[str]) -> str:
    """The first names, and how many more there are.

    >>> _named("abcd"), _named("ab"), _named("a")
    ('a, b and 2 more', 'a and b', 'a')
    """
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"
    return " and ".join(names)


def _why_not_cleared(finding: Finding) -> Iterator[str]:
    """Why it is not called unlike derivatives of the reference."""
    numbers, counted = finding.verdict, len(finding.verdict.counted)
    needed = numbers.derivatives_needed
    if not numbers.derivatives:
        yield from finding.guesses
        yield "without derivatives of the reference a relation cannot be ruled out"
    elif counted < needed:
        yield (
            f"{counted} derivative{'' if counted == 1 else 's'} of the reference "
            f"{'is' if counted == 1 else 'are'} too few to rule a relation out: at least {needed} "
            "are needed"
        )
    elif (numbers.p_derivative or 1) > numbers.alpha:
        yield (
            f"{sum(each.unlike for each in numbers.counted)} of {counted} derivatives of the "
            "reference are at most as similar to it, too many to rule a relation out"
        )
    else:
        yield from finding.uninformative


_LEADS: Mapping[Decision, str] = {
    "related": "{suspect} is related to {reference}: derived from it, or of a common source",
    "not related": "{suspect} is not a derivative of {reference} of the kind tested",
    "of neither kind": "{suspect} is neither like an unrelated model nor like the derivatives of "
    "{reference}",
    "undecided": "It is too early to say whether {suspect} is related to {reference}",
}


def lead_of(verdict: Verdict, decision: Decision) -> str:
    """The decision in words; the sentence begins with it."""
    return _LEADS[decision].format(suspect=verdict.suspect, reference=verdict.reference)


def _sentence(numbers: Verdict, judged: _Judged) -> str:
    """The verdict in one sentence."""
    lead, allowed = lead_of(numbers, judged.decision), in_tests(numbers.alpha)
    if judged.decision == "undecided":
        return f"{lead}: {'; '.join(judged.reasons)}."
    how_sure = (
        "How sure? {} comes out this {} in at most {} "
        f"({allowed.replace('1 test of', '1 in')} is allowed)."
    )
    others = round((numbers.p_rank or 1) * numbers.pairs) - 1
    pairs = [f"{first} with {second}" for first, second in numbers.rivals[:others]]
    related = (
        f"on {numbers.shared:,} questions {others or 'none'} of the {numbers.pairs - 1} other "
        f"pairs of models {'are' if others > 1 else 'is'} as similar in their answers"
        f"{f' ({_named(pairs)})' if others == len(pairs) > 0 else ''}. "
        + how_sure.format("An unrelated model", "similar", in_tests(numbers.p_adjusted or 1))
    )
    counted = numbers.counted
    unlike, names = sum(each.unlike for each in counted), [each.model for each in counted]
    shares = in_percent(*sorted(each.same for each in counted)) if counted else [""]
    derivatives = (
        f"it answers {in_percent(numbers.same or 0)[0]} % of the questions as {numbers.reference} "
        f"does, {len(names)} derivatives ({_named(names)}) {shares[0]} to {shares[-1]} %; "
        f"{unlike or 'none'} of these {'are' if unlike > 1 else 'is'} as unlike it. "
        + how_sure.format("Such a derivative", "unlike", in_tests(numbers.p_derivative or 1))
    )
    if judged.decision == "of neither kind":
        return f"{lead}: {related} {as_sentence(derivatives)}"
    return f"{lead}: {related if judged.decision == 'related' else derivatives}"


def _what_would_decide(numbers: Verdict, usable: int) -> Iterator[str]:
    p_rank, agreement, alpha = numbers.p_rank or 1, numbers.agreement, numbers.alpha
    skilled = "more independent controls of the suspect's skill (--control)"
    if (few := numbers.controls_needed - usable) > 0:
        yield f"{few} more independent control{'' if few == 1 else 's'} (--control)."
    elif p_rank <= alpha:
        yield f"M{skilled[1:]}, or more questions."
    elif agreement and agreement.p_value <= alpha:
        enough = controls_needed(alpha / round(p_rank * numbers.pairs)) - usable
        yield f"At least {enough} {skilled}: enough by rank if no pair of theirs is as similar."
    there = len(numbers.counted)
    if (more := numbers.derivatives_needed - there) > 0:
        count = f"{more} more (now {there})" if there else f"{more}"
        yield (
            f"To rule a relation out, name {count} models made from {numbers.reference}, such as "
            "fine-tuned or distilled ones (--derivative). With only n the error rate can be 1 in "
            "n + 1 at best (--alpha)."
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
