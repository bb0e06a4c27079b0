"""The outcome of each capability, and the failed searches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from reports import blocks
from reports.blocks import Block, Section, Terms
from reports.builders.estimates import table_of
from reports.builders.run import data_name
from reports.prose import Text, prose, written
from scope.errors import counted, listed
from scope.records import AuditResult, LeftOut, Manifest, Outcome
from scope.records.result import ASKED_ANEW, DIFFERENTLY, OBJECT, SAMPLED

MOST_NAMED = 4
"""Lines on what was left out or not answered in a terminal; the page has all."""


def outcomes_section(result: AuditResult) -> Section:
    """Every outcome, with the number of failed searches by reason."""
    heads = ("Capability", "Searches", "Found", "Failed")
    shown = _outcomes(all_outcomes(result), heads, "Each text is searched once a trial.")
    heading = "Searches and failures"
    return Section(anchor="failures", title="Failures", heading=heading, blocks=tuple(shown))


def all_outcomes(result: AuditResult) -> list[Outcome]:
    """The outcomes of the searches for kept pairs, each before that of random candidates."""
    drawn = {
        outcome.capability: replace(outcome, capability=f"{outcome.capability}, random changes")
        for outcome in result.candidate_outcomes
    }
    both = ((outcome, drawn.get(outcome.capability)) for outcome in result.outcomes)
    return [outcome for pair in both for outcome in pair if outcome is not None]


def _outcomes(
    outcomes: Iterable[Outcome], heads: tuple[str, str, str, str], caption: str
) -> Iterator[Block]:
    """One row per outcome, with the reasons of failures; tracebacks are folded."""
    first, *counts = heads
    more = ("Not applicable", "Queries of the reference", "Queries saved", "Why")
    outcomes = tuple(outcomes)
    rows = (
        (
            outcome.capability,
            f"{outcome.status}: {outcome.reason}" if outcome.reason else outcome.status,
            *(outcome.searched, outcome.found, outcome.searched - outcome.found),
            *(sum(outcome.not_applicable.values()), outcome.queries, outcome.queries_saved),
            _reasons({**outcome.failures, **outcome.not_applicable}),
        )
        for outcome in outcomes
    )
    if table := table_of(caption, (first, "Outcome", *counts, *more), rows):
        yield table
    for outcome in outcomes:
        if outcome.trace:
            title = prose("Traceback of {name}", name=outcome.capability)
            yield blocks.Fold(title, (blocks.Preformatted(outcome.trace),))


def _reasons(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} ({count:,})" for reason, count in sorted(reasons.items()))


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
    words = prose("{found} changed texts in {n} tries", found=outcome.found, n=outcome.searched)
    if not outcome.not_applicable:
        return words
    never, reasons = sum(outcome.not_applicable.values()), _reasons(outcome.not_applicable)
    none = "; in {never} others none is possible: {reasons}"
    return (*words, *prose(none, never=never, reasons=reasons))


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
            about = written(f"{counted(card.truncated, 'text')} cut to its maximum length")
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
            ("Why is there no answer? If not left out, it counts as wrong:", "Model", missing),
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
    heads, caption = ("Task", "Asked", "Answered", "Not answered"), "An answer is one model’s."
    shown = (*_outcomes(outcomes, heads, caption), *more)
    return Section(anchor="answered", title=title, heading="Answered questions", blocks=shown)


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
