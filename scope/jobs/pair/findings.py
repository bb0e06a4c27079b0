"""What a report on a pair says first: one sentence a part, made from its verdict and numbers.

No sentence claims more than the verdict: what is within its limits is named where all is, and what
decides a verdict, or leaves it open, is named where not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scope.jobs.audit.verdicts import rounded_up
from scope.jobs.compare.task_estimates import TaskEstimates, task_estimates
from scope.jobs.pair.directions import in_percent, in_points, labels_shared, reference_of
from scope.metrics import metric_name
from scope.records import (
    AuditResult,
    CompareResult,
    Endpoint,
    Estimate,
    PairResult,
    Replacement,
    ReuseResult,
)
from scope.sections.blocks import Bullets
from scope.sections.prose import Text, joined, prose, together

_OPENINGS = {
    "may replace": "**{target} may replace {reference}** on these texts",
    "may not": "**{target} may not replace {reference}** on these texts",
    "not shown": "**It is not shown that {target} may replace {reference}** on these texts",
}


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
    if verdict.reason is not None:
        yield prose("{reason}", reason=verdict.reason)
    named = {
        "may replace": [one.name for one in verdict.endpoints if one.limit is not None],
        "may not": verdict.beyond,
        "not shown": verdict.open,
    }[verdict.decision]
    yield from _in_words(audit, [one for one in verdict.endpoints if one.name in named], verdict)
    shared = labels_shared(audit)
    if isinstance(shared, Estimate):
        share = in_percent(shared).partition(" ")[0]
        yield prose(
            "same label on {share}\u00a0% of {n}\u00a0texts",
            share=prose(share),
            n=shared.n,
        )


def _in_words(
    audit: AuditResult, endpoints: Sequence[Endpoint], verdict: Replacement
) -> Iterator[Text]:
    """What is known of these endpoints; capabilities of one kind together."""
    known = {
        "may replace": ("accuracy at most {limit} points lower", "{names} within limits"),
        "may not": ("accuracy more than {limit} points lower", "{names} below the limits"),
        "not shown": (
            "accuracy not shown to be at most {limit} points lower",
            "{names} not shown to be within limits",
        ),
    }
    of_accuracy, of_others = known[verdict.decision]
    others = []
    for one in endpoints:
        if one.name == "accuracy" and one.limit is not None:
            limit = prose(f"{-100 * one.limit:g}")
            yield prose(of_accuracy, limit=limit)
        else:
            others.append(one.name)
    if others:
        yield prose(of_others, names=joined(others, last=" and "))


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
    first, second = task.names
    same, right = ("agreement", "accuracy") if task.choice else ("exact_match", "exact_match")
    alike, beyond = (
        next((one.estimate for one in task.between(metric).values()), None)
        for metric in (same, task.main_metric)
    )
    gold = task.against_gold(right)
    parts = [
        prose(
            "On **{task}**, **{second}** and **{first}** give the same answer to {share}\u00a0% of "
            "{n}\u00a0questions",
            task=task.task,
            first=first,
            second=second,
            share=prose(in_percent(alike)),
            n=0 if alike is None else alike.n,
        )
    ]
    if beyond is not None and task.main_metric != same:
        label = metric_name(task.main_metric).label
        parts.append(prose("{label} {estimate}", label=label, estimate=beyond))
    right_shares = (
        prose(
            "{name} {share}\u00a0%",
            name=name,
            share=prose(in_percent(one.estimate).partition(" ")[0]),
        )
        for name, one in gold.items()
    )
    if gold:
        parts.append(prose("right: {shares}", shares=joined(right_shares, last=" and ")))
    gap = next(
        (one for one in result.differences if one.metric == right and one.capability == task.task),
        None,
    )
    if gap is not None:
        parts.append(
            prose(
                "{first} minus {second} {points}\u00a0points",
                first=gap.first,
                second=gap.second,
                points=prose(in_points(gap.estimate)),
            )
        )
    parts += [
        prose(
            "**{model}** is **degenerate**, {reason}: its numbers are no evidence",
            model=one.model,
            reason=one.degenerate,
        )
        for one in result.task_shares
        if one.task == task.task and one.degenerate is not None
    ]
    return (*joined(parts, between="; "), *prose("."))


def _on_reuse(result: ReuseResult) -> Iterator[Text]:
    for verdict in result.verdicts:
        yield together(
            prose("Reuse: **{decision}**.", decision=verdict.decision),
            prose("{sentence}", sentence=verdict.sentence),
        )
