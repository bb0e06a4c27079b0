"""What a report on a pair says first: one sentence a part, made from its verdict and numbers.

No sentence claims more than the verdict: what is within its limits is named where all is, and what
decides a verdict, or leaves it open, is named where not.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import shorten

from reports.prose import Text, joined, prose, written
from scope.jobs.audit.verdicts import named, rounded_up
from scope.jobs.pages import headline_of
from scope.jobs.pair.directions import reference_of, same_answers, target_of
from scope.records import AuditResult, Estimate, PairResult, Replacement, label_of

_OPENINGS = {
    "may replace": "**{target} may replace {reference}** on these texts",
    "may not": "**{target} may not replace {reference}** on these texts",
    "not shown": "**It is not shown that {target} may replace {reference}** on these texts",
}
_OF_ACCURACY = {
    "may replace": "accuracy at most {limit} points lower",
    "may not": "accuracy more than {limit} points lower",
}
_OF_OTHERS = {
    "may replace": "{names} within limits",
    "may not": "{names} below the limits",
    "not shown": "still open: {names}",
}
"""What a verdict says of the endpoints that carry it; an open accuracy is one of the others."""

_MOST_LETTERS = 140
"""Letters of a text that is shown as an example."""


def findings(result: PairResult) -> Iterator[Text]:
    """One sentence a part, in the order of the page."""
    for audit in result.audits:
        for verdict in audit.verdicts:
            yield _on_verdict(audit, verdict)
    for comparison in result.comparisons:
        yield written(headline_of(comparison))
    for one in (verdict for reuse in result.reuses for verdict in reuse.verdicts):
        yield prose(
            "Reuse: **{decision}**. {sentence}", decision=one.decision, sentence=one.sentence
        )


def _on_verdict(audit: AuditResult, verdict: Replacement) -> Text:
    """The verdict on a target, what it rests on, and how many labels are the same."""
    left_out = any(one.status == "not applicable" for one in audit.candidate_outcomes)
    partial = verdict.decision == "may replace" and (verdict.not_judged or left_out)
    return (
        *prose(_OPENINGS[verdict.decision], target=verdict.target, reference=reference_of(audit)),
        *(prose(", in what was assessed") if partial else ()),
        *(prose(" (exploratory: planned after a look)") if audit.earlier_looks else ()),
        *prose(": "),
        *joined(_reasons(audit, verdict), between="; "),
        *prose("."),
    )


def _reasons(audit: AuditResult, verdict: Replacement) -> Iterator[Text]:
    """The endpoints that carry the verdict, and how many labels are the same."""
    if verdict.reason is not None:
        yield prose("{reason}", reason=verdict.reason)
    shared = same_answers(audit)
    if isinstance(shared, Estimate):
        # Rounded down: 100 % is said of no less.
        share = f"same answer on {int(100 * shared.value + 1e-6)}\u00a0% of {{n}}\u00a0texts"
        yield prose(share, n=shared.n)
    limits = {one.name: one.limit for one in verdict.endpoints if one.limit is not None}
    carry = {"may replace": tuple(limits), "may not": verdict.beyond, "not shown": verdict.open}
    names = carry[verdict.decision]
    apart = _OF_ACCURACY.get(verdict.decision) if "accuracy" in names else None
    if apart:
        yield prose(apart, limit=prose(f"{-100 * limits['accuracy']:g}"))
    if others := [one for one in names if not (apart and one == "accuracy")]:
        yield prose(_OF_OTHERS[verdict.decision], names=named(others))
    if rows := verdict.rows_needed:
        yield prose("a new run on about {n}\u00a0texts may show it", n=rounded_up(rows))


def example_of(audit: AuditResult) -> Iterator[Text]:
    """How many unchanged texts get another label, with the first of them."""
    target, labels = target_of(audit), audit.manifest.reference.labels
    place = [card.name for card in audit.manifest.targets].index(target)
    differ = [one for one in audit.examples if one.targets[place].choice != one.reference.choice]
    if not differ:
        return
    first = differ[0]
    yield prose(
        "Another label on {n} of {total} unchanged texts, such as “{text}” ({reference}: {old}, "
        "{target}: {new}); more under [[examples|Examples]].",
        n=len(differ),
        total=len(audit.examples),
        text=shorten(first.example.text, _MOST_LETTERS, placeholder="…"),
        reference=reference_of(audit),
        old=label_of(first.reference, labels),
        target=target,
        new=label_of(first.targets[place], labels),
    )
