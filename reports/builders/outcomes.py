"""The outcome of each capability, and the failed searches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from reports import blocks
from reports.blocks import Block, Section, Table, Terms
from reports.builders.estimates import table_of
from reports.builders.run import data_name
from reports.prose import Span, Text, prose, written
from scope.printing import counted, listed
from scope.records import AuditResult, LeftOut, Manifest, Outcome
from scope.records.result import ASKED_ANEW, DIFFERENTLY, OBJECT, SAMPLED

MOST_NAMED = 4
"""Lines on what was left out or not answered in a terminal; the page has all."""

MOST_FAILURES = 200
"""Failed searches listed at most; all are counted."""


def outcomes_section(result: AuditResult, *, most: int) -> Section:
    """Every outcome, and the first failed searches in the result's order."""
    return Section(
        anchor="failures",
        title="Failures",
        heading="Searches and failures",
        blocks=(
            outcome_table(
                all_outcomes(result),
                first="Capability",
                counts=("Searches", "Found", "Failed"),
                caption="One search is one example in one trial.",
                queries=True,
            ),
            *tracebacks(all_outcomes(result)),
            *_failed_searches(result, most),
        ),
    )


def all_outcomes(result: AuditResult) -> list[Outcome]:
    """The outcomes of the searches for kept pairs, each before that of random candidates."""
    drawn = {
        outcome.capability: replace(outcome, capability=f"{outcome.capability}, random candidates")
        for outcome in result.candidate_outcomes
    }
    both = ((outcome, drawn.get(outcome.capability)) for outcome in result.outcomes)
    return [outcome for pair in both for outcome in pair if outcome is not None]


def outcome_table(
    outcomes: Iterable[Outcome],
    *,
    first: str,
    counts: tuple[str, str, str],
    caption: str,
    queries: bool = False,
) -> Table:
    """One row per outcome with its counts, and one below it for each reason of failure."""
    outcomes = tuple(outcomes)
    apart = any(outcome.not_applicable for outcome in outcomes)
    more = [*([_APART] if apart else []), *(_QUERIES if queries else [])]
    return Table(
        columns=(
            blocks.Column(first, "name"),
            blocks.Column("Outcome"),
            *(blocks.Column(name, "number") for name in (*counts, *more)),
        ),
        rows=tuple(
            row for outcome in outcomes for row in _rows(outcome, apart=apart, queries=queries)
        ),
        caption=prose(caption),
    )


_APART = "Not applicable"
_QUERIES = ("Queries of the reference", "Queries saved")


def _rows(outcome: Outcome, *, apart: bool, queries: bool) -> Iterator[blocks.Row]:
    status = f"{outcome.status}: {outcome.reason}" if outcome.reason else outcome.status
    missing = outcome.searched - outcome.found
    never = [sum(outcome.not_applicable.values())] if apart else []
    asked = [outcome.queries, outcome.queries_saved] if queries else []
    yield blocks.Row(
        cells=(outcome.capability, status, outcome.searched, outcome.found, missing, *never, *asked)
    )
    behind = (None,) * (len(never) + len(asked))
    for reason, count in sorted(outcome.failures.items()):
        failed = prose("failed: {reason}", reason=reason)
        yield blocks.Row(cells=(failed, None, None, None, count, *behind), detail=True)
    for reason, count in sorted(outcome.not_applicable.items()):
        left = prose("not applicable: {reason}", reason=reason)
        yield blocks.Row(cells=(left, None, None, None, None, count, *behind[1:]), detail=True)


def tracebacks(outcomes: Iterable[Outcome]) -> Iterator[Block]:
    """The traceback of each failed capability or task, folded."""
    for outcome in outcomes:
        if outcome.trace:
            title = prose("Traceback of {name}", name=outcome.capability)
            yield blocks.Fold(title, (blocks.Preformatted(outcome.trace),))


def _failed_searches(result: AuditResult, most: int) -> Iterator[Block]:
    texts = {scored.example.id: scored.example.text for scored in result.examples}
    failed = [
        (scored.capability, scored.perturbation)
        for scored in result.perturbations
        if scored.perturbation.failure is not None and scored.perturbation.applicable
    ]
    if not failed:
        yield from () if result.audits else [blocks.paragraph("No search failed.")]
        return
    shown = failed[:most]
    table = Table.of(
        {
            **{"Capability": "text", "Example": "name", "Trial": "number"},
            **{"Reason": "text", "Text": "text"},
        },
        (
            (
                *(capability, search.example_id, search.trial),
                search.failure or "no reason given",
                texts[search.example_id],
            )
            for capability, search in shown
        ),
    )
    title = prose("Failed searches: {shown} of {total} listed", shown=len(shown), total=len(failed))
    about = blocks.note("The first in the order of the run; all are in the run’s parquet files.")
    yield blocks.Fold(title, (about, table))


def outcome_lines(outcomes: Iterable[Outcome], *, of_tasks: bool = False) -> Terms:
    """The outcome of each capability, or task, in a line."""
    summary = _answered if of_tasks else _searched
    return Terms(
        tuple((written(outcome.capability), _summary(outcome, summary)) for outcome in outcomes),
        facts=True,
    )


def _summary(outcome: Outcome, measured: Callable[[Outcome], Text]) -> Text:
    if outcome.status != "measured":
        return prose("{status}: {reason}", status=outcome.status, reason=outcome.reason or "")
    return (
        *measured(outcome),
        *(prose("; {reason}", reason=outcome.reason) if outcome.reason else ()),
    )


def _searched(outcome: Outcome) -> Text:
    counts = [f"{outcome.found:,} perturbations in {outcome.searched:,} searches"]
    counts.append(f"{outcome.queries:,} queries")
    if outcome.queries_saved:
        counts.append(f"{outcome.queries_saved:,} saved")
    if outcome.compared:
        counts.append(f"{outcome.compared:,} words compared in context")
    return (Span(", ".join(counts)), *_apart(outcome.not_applicable))


def _apart(reasons: Mapping[str, int]) -> Text:
    """The number of searches that are not applicable, and why."""
    if not reasons:
        return ()
    counted = [f"{reason} ({count})" for reason, count in sorted(reasons.items())]
    return prose(
        "; {never} searches not applicable: {reasons}",
        never=sum(reasons.values()),
        reasons=", ".join(counted) if len(reasons) > 1 else min(reasons),
    )


def _answered(outcome: Outcome) -> Text:
    if missing := outcome.searched - outcome.found:
        return prose(
            "{found} answers, {missing} without one",
            found=outcome.found,
            missing=counted(missing, "question"),
        )
    return prose("{found} answers", found=outcome.found)


def model_lines(manifest: Manifest) -> Iterator[tuple[Text, Text]]:
    """The models whose answers are not kept or not equal, and the texts that each truncated."""
    if objects := [card.name for card in manifest.models if card.spec.startswith(OBJECT)]:
        yield written(", ".join(objects)), prose(ASKED_ANEW)
    for card in manifest.models:
        if card.reproducible.startswith((DIFFERENTLY, SAMPLED)):
            yield written(card.name), written(card.reproducible)
        if card.truncated:
            about = prose("{count} texts truncated to its maximum length", count=card.truncated)
            yield written(card.name), about


def left_out_section(manifest: Manifest) -> Section | None:
    """What was left out and why models gave no answer, by reason with examples; None if nothing."""
    lefts = [(data_name(card), left) for card in manifest.data for left in card.left_out]
    missing = [(card.name, left) for card in manifest.models for left in card.missing]
    tables = (
        table_of(
            caption,
            (of, "Reason", "Count", "For example"),
            ((name, left.reason, left.count, "; ".join(left.examples)) for name, left in rows),
        )
        for caption, of, rows in (
            ("Left out for all models:", "Data", lefts),
            ("Why no answer? Unless left out, it is wrong, and equals no other:", "Model", missing),
        )
    )
    shown = tuple(table for table in tables if table)
    return Section(anchor="left-out", title="Left out", blocks=shown) if shown else None


def left_out_lines(manifest: Manifest) -> Iterator[Terms]:
    """A line on what was left out, and on the answers that each of the first models lacks."""
    lines = []
    for card in manifest.data:
        empty = [LeftOut(reason="empty", count=card.empty)] * bool(card.empty)
        if lefts := (*card.left_out, *empty):
            lines.append(("left out", f"{_counts(lefts)}; {card.used:,} of {card.rows:,} used"))
    answers = [(f"no answer of {card.name}", card.missing) for card in manifest.models]
    lines += [(name, _counts(missing)) for name, missing in answers if missing]
    if more := lines[MOST_NAMED:]:
        lines[MOST_NAMED:] = [("and", f"{len(more):,} more")]
    if lines:
        yield Terms(tuple((written(name), written(text)) for name, text in lines), facts=True)


def _counts(lefts: Sequence[LeftOut]) -> str:
    """How many of each reason; the first with examples names one, or the commonest replies."""
    counts = ", ".join(f"{left.count:,} ({left.reason})" for left in lefts)
    left = next((left for left in lefts if left.examples), None)
    replies = left is not None and left.reason == "not readable"
    example = left and (listed(left.examples) if replies else f"{left.examples[0]:.160}")
    return f"{counts}, such as {example}" if example else counts


def answered_section(
    outcomes: Iterable[Outcome], *more: Block, title: str = "Answered questions"
) -> Section:
    """Every task's outcome, then further counts of a job."""
    outcomes = tuple(outcomes)
    return Section(
        anchor="answered",
        title=title,
        heading="Answered questions",
        blocks=(
            outcome_table(
                outcomes,
                first="Task",
                counts=("Asked", "Answered", "Not answered"),
                caption="One answer is one question asked of one model.",
            ),
            *tracebacks(outcomes),
            *more,
        ),
    )


def gates_box(gates: Any, failed: Sequence[str]) -> blocks.Callout | None:
    """Whether all gates passed, their options, and a line for each that failed; None for none."""
    options = [
        f"--{field.name.replace('_', '-')} {option}"
        for field in fields(gates)
        for value in [getattr(gates, field.name)]
        if value != field.default
        for option in ([value] if isinstance(value, str) else value)
    ]
    if not options:
        return None
    head = (
        "**✗ A gate failed**: ``{options}``" if failed else "**✓ All gates passed**: ``{options}``"
    )
    return blocks.Callout(
        "bad" if failed else "good",
        (
            blocks.Paragraph(prose(head, options=" ".join(options))),
            *([blocks.Bullets(tuple(map(written, failed)))] if failed else []),
        ),
    )
