"""What a report on a pair says first: one sentence a part, made from its verdict and numbers.

No sentence claims more than the verdict: what is within its limits is named where all is, and what
decides a verdict, or leaves it open, is named where not.
"""

from __future__ import annotations

from collections.abc import Iterator

from reports.blocks import Bullets
from reports.prose import Text, joined, prose, together
from reports.wording import Cell
from scope.jobs.audit.verdicts import rounded_up
from scope.jobs.compare.task_estimates import TaskEstimates, task_estimates
from scope.jobs.pair.directions import labels_shared, reference_of
from scope.metrics import metric_name
from scope.records import (
    AuditResult,
    CompareResult,
    Estimate,
    PairResult,
    Replacement,
    ReuseResult,
)

_OPENINGS = {
    "may replace": "**{target} may replace {reference}** on these texts",
    "may not": "**{target} may not replace {reference}** on these texts",
    "not shown": "**It is not shown that {target} may replace {reference}** on these texts",
}
_OF_ACCURACY = {
    "may replace": "accuracy at most {limit} points lower",
    "may not": "accuracy more than {limit} points lower",
    "not shown": "accuracy not shown to be at most {limit} points lower",
}
_OF_OTHERS = {
    "may replace": "{names} within limits",
    "may not": "{names} below the limits",
    "not shown": "{names} not shown to be within limits",
}
"""What a verdict says of the endpoints that carry it."""


def findings(result: PairResult) -> Iterator[Text]:
    """One sentence a part, in the order of the page."""
    for audit in result.audits:
        for verdict in audit.verdicts:
            yield _on_verdict(audit, verdict)
    for comparison in result.comparisons:
        yield from _on_answers(comparison)
    for reuse in result.reuses:
        yield from _on_reuse(reuse)


def _on_verdict(audit: AuditResult, verdict: Replacement) -> Text:
    """The verdict on a target, what it rests on, and how many labels are the same."""
    baseline = audit.manifest.baseline
    left_out = any(one.status == "not applicable" for one in audit.candidate_outcomes)
    partial = verdict.decision == "may replace" and (verdict.not_judged or left_out)
    return (
        *prose(_OPENINGS[verdict.decision], target=verdict.target, reference=reference_of(audit)),
        *(prose(", in what was assessed") if partial else ()),
        *(prose(", measured against {name}", name=baseline.name) if baseline else ()),
        *prose(": "),
        *joined(_reasons(audit, verdict), between="; "),
        *_more_texts(verdict),
        *prose("."),
    )


def _reasons(audit: AuditResult, verdict: Replacement) -> Iterator[Text]:
    """The endpoints that carry the verdict, and how many labels are the same."""
    if verdict.reason is not None:
        yield prose("{reason}", reason=verdict.reason)
    limits = {one.name: one.limit for one in verdict.endpoints if one.limit is not None}
    carry = {"may replace": tuple(limits), "may not": verdict.beyond, "not shown": verdict.open}
    names = carry[verdict.decision]
    if "accuracy" in names:
        limit = prose(f"{-100 * limits['accuracy']:g}")
        yield prose(_OF_ACCURACY[verdict.decision], limit=limit)
    if others := [one for one in names if one != "accuracy"]:
        yield prose(_OF_OTHERS[verdict.decision], names=joined(others, last=" and "))
    shared = labels_shared(audit)
    if isinstance(shared, Estimate):
        share = prose(Cell.share(shared).value)
        yield prose("same answer on {share} of {n}\u00a0texts", share=share, n=shared.n)


def _more_texts(verdict: Replacement) -> Text:
    if verdict.rows_needed is None:
        return ()
    return prose(
        "; a new run on about {n}\u00a0texts with another --seed may show it",
        n=rounded_up(verdict.rows_needed),
    )


def _on_answers(result: CompareResult) -> Iterator[Text]:
    """How alike two models answer, and which is more often right; of more, the page's findings."""
    for task in task_estimates(result):
        if len(task.names) == 2:
            yield _on_two(task, result)
    if len(result.manifest.models) > 2:
        from scope.jobs.compare.sections import page

        for block in page(result).sections[0].blocks:
            yield from block.items if isinstance(block, Bullets) else ()


def _on_two(task: TaskEstimates, result: CompareResult) -> Text:
    """Agreement, likeness given accuracy, and how often each is right."""
    first, second = task.names
    same, right = ("agreement", "accuracy") if task.choice else ("exact_match", "exact_match")
    parts = []
    for one in task.between(same).values():
        parts.append(prose("same answer to {share}", share=Cell.share(one.estimate)))
    for one in task.between(task.main_metric).values() if task.main_metric != same else ():
        label = metric_name(task.main_metric).label
        parts.append(prose("{label} {value}", label=label, value=one.estimate))
    for name, one in task.against_gold(right).items():
        share = Cell.share(one.estimate).value
        parts.append(prose("{name} right on {share}", name=name, share=share))
    parts += [
        prose(
            "{first} minus {second} {gap}",
            first=one.first,
            second=one.second,
            gap=Cell.points(one.estimate),
        )
        for one in result.differences
        if one.metric == right and one.capability == task.task
    ]
    parts += [
        prose("{name} is degenerate: its numbers are no evidence", name=one.model)
        for one in result.task_shares
        if one.task == task.task and one.degenerate is not None
    ]
    opening = prose(
        "On **{task}**, **{second}** and **{first}**: ", task=task.task, first=first, second=second
    )
    return (*opening, *joined(parts, between="; "), *prose("."))


def _on_reuse(result: ReuseResult) -> Iterator[Text]:
    for verdict in result.verdicts:
        yield together(
            prose("Reuse: **{decision}**.", decision=verdict.decision),
            prose("{sentence}", sentence=verdict.sentence),
        )
