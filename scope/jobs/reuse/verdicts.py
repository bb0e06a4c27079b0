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

from reports.wording import as_sentence, comma_list, in_percent
from scope.errors import counted
from scope.jobs.reuse.judging import OF_REFERENCE, THE_SUSPECTS, Finding, sibling_warning
from scope.records import Decision, Verdict
from scope.statistics.between_models import controls_needed, others_needed
from scope.statistics.paired import holm

HYPOTHESIS = "The suspect is no more like the reference than independent models of its skill."


def conclude(
    findings: Sequence[Finding], alpha: float, excluded: Sequence[str] = ()
) -> tuple[Verdict, ...]:
    """One verdict per finding, with a joint error rate of at most alpha.

    A suspect that cannot be tested against a reference has a p-value of 1. ``excluded`` are the
    controls that were left out by name.
    """
    p_values = [finding.verdict.p_value for finding in findings]
    corrected = holm([1.0 if p is None else p for p in p_values])
    verdicts = []
    for finding, p_adjusted in zip(findings, corrected, strict=True):
        numbers = replace(
            finding.verdict,
            alpha=alpha,
            p_adjusted=None if finding.verdict.p_value is None else p_adjusted,
            controls_needed=controls_needed(alpha / len(findings)),
            derivatives_needed=others_needed(alpha),
            excluded=tuple(excluded),
        )
        verdict = _judged(replace(finding, verdict=numbers), p_adjusted)
        warnings = tuple(_warnings(verdict))
        verdicts.append(replace(verdict, sentence=sentence_of(verdict), warnings=warnings))
    return tuple(verdicts)


def sentence_of(verdict: Verdict) -> str:
    """The decision, what it rests on and how sure it is."""
    facts, sure = why_of(verdict)
    return f"{lead_of(verdict)}: {facts}How sure? {sure}"


def _judged(finding: Finding, p_adjusted: float) -> Verdict:
    """The decision, the reasons against another one, and what would change it."""
    verdict, alpha = finding.verdict, finding.verdict.alpha
    if finding.unusable:
        change = "Answers to more of the questions, or answers that are better than guesses."
        if all(reason.startswith(OF_REFERENCE) for reason in finding.unusable):
            change = "A reference whose answers differ, or other questions."
        return replace(verdict, reasons=finding.unusable, changes=(change,))
    if verdict.p_rank is None:
        reason = "its answers give no evidence, for example because the reference makes no mistakes"
        change = "Questions that the suspect and the reference both answer."
        return replace(verdict, reasons=(reason,), changes=(change,))
    p_derivative = verdict.p_derivative
    unlike = p_derivative is not None and p_derivative <= alpha and not finding.uninformative
    other_kind = (
        "Nothing, if such derivatives are meant. To rule out another kind, for example distilled "
        f"models, name {verdict.derivatives_needed} of that kind (--derivative)."
    )
    source = (
        "Derived, or only of a common source? Add as a control a model of the same source that was "
        f"not made from {verdict.reference} (--control). If {verdict.suspect} stays related, the "
        "two share more than the source."
    )
    if p_adjusted <= alpha:
        decision: Decision = "of neither kind" if unlike else "related"
        return replace(verdict, decision=decision, changes=(other_kind if unlike else source,))
    if unlike:
        return replace(verdict, decision="not related", changes=(other_kind,))
    usable, needed = finding.usable_controls, verdict.controls_needed
    few = (
        f"{usable} of {counted(len(verdict.controls), 'control')} can be compared; at least "
        f"{needed} are needed"
    )
    reasons = (few if usable < needed else _why_not_related(verdict), *_why_not_cleared(finding))
    return replace(verdict, reasons=reasons, changes=tuple(_what_would_decide(verdict, usable)))


def in_tests(p_value: float) -> str:
    """In how many tests at most chance does this.

    >>> in_tests(0.0067), in_tests(0.05), in_tests(0.6)
    ('1 test of 149', '1 test of 20', '60 tests of 100')
    """
    if p_value > 0.5:
        return f"{math.ceil(100 * p_value - 1e-9)} tests of 100"
    return f"1 test of {math.floor(1 / max(p_value, 1e-6) + 1e-9):,}"


NO_SIGN = "there is no sign of a relation: "
"""The beginning of a reason that the heading says already."""


def _why_not_related(verdict: Verdict) -> str:
    """Which of the tests is not significant."""
    p_rank, p_value, agreement = verdict.p_rank or 1, verdict.p_value, verdict.agreement
    if p_value is None or agreement is None:
        return "its agreement with the reference cannot be compared with that of the controls"
    if p_value <= verdict.alpha:
        return (
            f"an unrelated model would look as similar in at most {in_tests(p_value)}, but not "
            "after Holm's correction over the references: there in up to "
            f"{in_tests(verdict.p_adjusted or 1)}"
        )
    if p_rank <= verdict.alpha:
        return (
            f"{_as_similar(verdict)}, but an unrelated model of its skill would agree as much with "
            f"the reference in up to {in_tests(agreement.p_value)}"
        )
    allowed = math.floor(verdict.alpha * verdict.pairs + 1e-9) - 1
    no_sign = NO_SIGN * (agreement.p_value > verdict.alpha)
    return f"{no_sign}{_as_similar(verdict)}; for “related” at most {allowed} may be"


def _as_similar(verdict: Verdict) -> str:
    """How many pairs of models are as similar, and which if they are few."""
    others = round((verdict.p_rank or 1) * verdict.pairs) - 1
    pairs = comma_list([f"{first} with {second}" for first, second in verdict.rivals[:others]])
    named = f" ({pairs})" if 0 < others == len(verdict.rivals) else ""
    return (
        f"{others or 'none'} of the {verdict.pairs - 1} other pairs of models "
        f"{'are' if others > 1 else 'is'} at least as similar in their answers to "
        f"{verdict.shared:,} questions{named}"
    )


def _why_not_cleared(finding: Finding) -> Iterator[str]:
    """Why it is not called unlike derivatives of the reference."""
    verdict, number = finding.verdict, len(finding.verdict.counted)
    if not verdict.derivatives:
        yield from finding.guesses
        yield f"without known derivatives of {verdict.reference} a relation cannot be ruled out"
    elif number < verdict.derivatives_needed:
        copies = ", ".join(each.model for each in verdict.derivatives if not each.counted)
        yield (
            f"{counted(number, 'derivative')} of {verdict.reference} cannot rule a relation out: "
            f"at least {verdict.derivatives_needed} are needed"
            f"{f' (copies do not count: {copies})' if copies else ''}"
        )
    elif (verdict.p_derivative or 1) > verdict.alpha:
        yield (
            f"{sum(each.unlike for each in verdict.counted)} of {number} derivatives are at most "
            f"as similar to {verdict.reference}, too many to rule a relation out"
        )
    else:
        yield from finding.uninformative


_LEADS: Mapping[Decision, str] = {
    "related": "{suspect} is related to {reference}: derived from it, or of a common source",
    "not related": "{suspect} is not a derivative of {reference} like {derivatives}",
    "of neither kind": "{suspect} is more like {reference} than unrelated models are, but less "
    "than derivatives like {derivatives}",
    "undecided": "It is too early to say whether {suspect} is related to {reference}",
}


def lead_of(verdict: Verdict) -> str:
    """The decision in words; the sentence begins with it."""
    lead, names = _LEADS[verdict.decision], [each.model for each in verdict.counted]
    if any(reason.startswith(NO_SIGN) for reason in verdict.reasons):
        lead = "No sign that {suspect} is related to {reference}, but it is not ruled out"
    others = [counted(len(names) - 1, "other")] if names[1:] else []
    models = {"suspect": verdict.suspect, "reference": verdict.reference}
    return lead.format(**models, derivatives=comma_list([*names[:1], *others]))


def why_of(verdict: Verdict) -> tuple[str, str]:
    """What the verdict rests on, empty if it is undecided, and how sure it is."""
    if verdict.decision == "undecided":
        reasons = (reason.removeprefix(NO_SIGN) for reason in verdict.reasons)
        return "", f"Not decided: {'; '.join(reasons)}."
    # As if each excluded control were as similar to the reference as the suspect is.
    left_out = len(verdict.excluded)
    p_rank = ((verdict.p_rank or 1) * verdict.pairs + left_out) / (verdict.pairs + left_out)
    p_value, adjusted = verdict.p_value or 1, verdict.p_adjusted or 1
    unrelated = (
        "An unrelated model would look this similar in at most "
        f"{in_tests(min(1, max(p_value, p_rank) * adjusted / p_value))}"
        f"{f', even if the {left_out} excluded models were as similar' if left_out else ''}."
    )
    unlike = sum(each.unlike for each in verdict.counted)
    shares = in_percent(*sorted(each.same for each in verdict.counted)) if verdict.counted else []
    derivatives = (
        f"it answers {in_percent(verdict.same or 0)[0]} % of {verdict.shared:,} questions as "
        f"{verdict.reference} does, the {counted(len(shares), 'derivative')} "
        f"{' to '.join(dict.fromkeys((*shares[:1], *shares[-1:])))} %; {unlike or 'none'} of them "
        f"{'are' if unlike > 1 else 'is'} as different. "
    )
    once = in_tests(verdict.p_derivative or 1)
    derived = f"A derivative like them would look this different in at most {once}."
    if verdict.decision == "not related":
        return derivatives, derived
    similar = f"{_as_similar(verdict)}. "
    if verdict.decision == "related":
        return similar, unrelated
    return f"{similar}{as_sentence(derivatives)}", f"{unrelated} {derived}"


def _what_would_decide(verdict: Verdict, usable: int) -> Iterator[str]:
    p_rank, agreement, alpha = verdict.p_rank or 1, verdict.agreement, verdict.alpha
    skilled = "more independent controls of the suspect's skill (--control)"
    if (few := verdict.controls_needed - usable) > 0:
        yield f"{counted(few, 'more independent control')} (--control)."
    elif p_rank <= alpha:
        yield f"M{skilled[1:]}, or more questions."
    elif agreement and agreement.p_value <= alpha:
        enough = controls_needed(alpha / round(p_rank * verdict.pairs)) - usable
        yield f"At least {enough} {skilled}: enough by rank if no pair of theirs is as similar."
    if (more := verdict.derivatives_needed - len(verdict.counted)) > 0:
        fewer = "; with 9 a wrong “not related” comes up in 1 test of 10 (--alpha 0.1)"
        yield (
            f"To rule a relation out, name {more}{' more' if verdict.counted else ''} models made "
            f"from {verdict.reference}, such as fine-tuned or distilled ones (--derivative)"
            f"{fewer * (not verdict.counted and more > others_needed(0.1))}."
        )
    yield from sibling_warning(verdict.reference, verdict.controls)


def _warnings(verdict: Verdict) -> Iterator[str]:
    """The controls that may be unfit; their table has every flag."""
    if verdict.decision != "undecided":
        yield from sibling_warning(verdict.reference, verdict.controls)
    checks = verdict.controls
    unequal = [each.model for each in checks if any(f.endswith(THE_SUSPECTS) for f in each.flags)]
    if unequal:
        yield (
            f"{len(unequal)} of {len(checks)} controls are far from the suspect's skill: "
            f"{', '.join(unequal)}"
        )
