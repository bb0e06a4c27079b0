"""The page of a report on a pair: the answer, both directions, examples, all numbers by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from reports.blocks import (
    Block,
    Bullets,
    Column,
    Fold,
    Page,
    Paragraph,
    Preformatted,
    Section,
    Table,
    Terms,
    note,
    paragraph,
    within,
)
from reports.estimates import drift_blocks, table_of
from reports.prose import Text, prose, written
from reports.sections import asked_differently, model_lines, page_of_run
from reports.wording import Cell
from scope.jobs.audit.answer import numbers_table, to_do, verdict_sentences
from scope.jobs.audit.page import (
    Direction,
    about_directions,
    counted_verdicts,
    directions,
    limits_section,
    most_telling,
    page as audit_page,
    replacements,
    replacements_in_short,
)
from scope.jobs.compare.page import page as compare_page
from scope.jobs.pages import headline_of
from scope.jobs.probe.page import similar_layers
from scope.jobs.reuse.page import page as reuse_page
from scope.metrics.catalog import metric_name
from scope.records import (
    AuditResult,
    CompareResult,
    EstimatedResult,
    ModelFacts,
    PairResult,
    ReuseResult,
)

EXAMPLES = 20
"""Examples of the first part; the page of each part's own run has more."""


_PAGES: Mapping[type[EstimatedResult], Callable[[Any], Page]] = MappingProxyType(
    {
        AuditResult: partial(audit_page, max_pairs=EXAMPLES),
        CompareResult: partial(compare_page, max_items=EXAMPLES),
        ReuseResult: reuse_page,
    }
)


def page(result: PairResult) -> Page:
    """The whole report: the first screen is that of an audit, or of a comparison without any.

    Of three models or more it shows who may replace whom, and examples of the two that differ most.
    """
    models = [card.name for card in result.manifest.models if card.role == "model"]
    pages = [_PAGES[type(part)](part) for part in result.parts]
    every = directions(result.audits)
    several = len(result.audits) > 2
    place = result.audits.index(most_telling(every).audit) if several else 0
    first = pages[place]
    blocks = replacements(every) if several else first.sections[0].blocks
    sentences = tuple(findings(result))
    lines = [*model_lines(result.manifest)] if result.audits else []
    if result.not_run:
        more = f" and {len(result.not_run) - 1} more" if result.not_run[1:] else ""
        why = prose(f"{{part}}{more}; the report has the reasons", part=result.not_run[0].part)
        lines.append((prose("not run"), why))
    return page_of_run(
        result.manifest,
        result.clock,
        title=f"pair: {', '.join(models)}",
        heading=counted_verdicts(every) if several else first.heading,
        about=about_directions(every) if several else first.about,
        answer=(*blocks, *([Bullets(sentences)] if sentences else [])),
        findings=(
            limits_section(every) if several else None,
            *(section for section in first.sections[1:-1] if not section.folded),
            *models_section(result),
        ),
        details=(
            Section(
                anchor="parts",
                title="Each part",
                heading="Each part, with its own command",
                blocks=tuple(
                    _part(part, made, is_open=made is first)
                    for part, made in zip(result.parts, pages, strict=True)
                ),
            ),
            *_left_out(result),
        ),
        brief=_brief(result, every, first),
        facts=lines,
    )


def _brief(result: PairResult, every: Sequence[Direction], first: Page) -> Iterator[Block]:
    """The reason, the numbers of each direction, and what was found and not run."""
    answers = [each.answer for each in every if each.answer]
    if not result.audits:
        yield from first.brief
    else:
        yield from asked_differently(result.manifest.models)
    if len(result.audits) > 2:
        yield from replacements_in_short(every)
    elif answers:
        yield from verdict_sentences(answers[:1])
        yield numbers_table(answers)
        yield from to_do(every[0].audit, answers[:1])
    yield from map(Paragraph, findings(result))
    for part in result.comparisons if result.audits else ():
        yield from drift_blocks(part.drift)


_ABOUT = note(
    "1: all answers the same; 0: as many as their accuracies alone would give. Discrete CAPA "
    "counts same answers, error consistency that both are right or both are wrong."
)


def _part(part: EstimatedResult, made: Page, *, is_open: bool) -> Fold:
    """The command of a part, and its sections that are not open above.

    Examples with a search stay in the part's own page: a page has one search at most.
    """
    sections = [
        section
        for section in made.sections[:-1]
        if section.folded
        or not (is_open or any(getattr(item, "finder", None) for item in within(section.blocks)))
    ]
    blocks: tuple[Block, ...] = (
        *([Paragraph(made.about)] if made.about else []),
        paragraph("This part alone, with the same numbers and more examples:"),
        Preformatted(part.manifest.command),
        *(Fold(written(shown.heading or shown.title), shown.blocks) for shown in sections),
    )
    return Fold(made.heading or written(made.title.removeprefix("SCoPE ")), blocks)


def _left_out(result: PairResult) -> Iterator[Section]:
    reasons = tuple((written(left.part), written(left.reason)) for left in result.not_run)
    if reasons:
        blocks = (Terms(reasons, facts=True),)
        yield Section(anchor="left-out", title="Not run", blocks=blocks)


def findings(result: PairResult) -> Iterator[Text]:
    """A sentence for each part that the page does not begin with."""
    parts = (*result.comparisons, *result.reuses)
    yield from (written(headline_of(part)) for part in parts[0 if result.audits else 1 :])


def models_section(result: PairResult) -> Iterator[Section]:
    """One section; none of results of earlier releases."""
    if result.facts:
        rows = (
            (
                f"{row.target} and {row.against}",
                metric_name(row.metric).label,
                Cell.of(row.estimate),
            )
            for row in result.similarities
        )
        table = table_of("How alike the answers are", ("models", "measure", "value"), rows)
        likeness = (table, _ABOUT) if table else ()
        blocks = (*_facts(result.facts), *likeness, *similar_layers(result.alignments))
        yield Section(anchor="models", title="Models", blocks=blocks)


def _facts(facts: tuple[ModelFacts, ...]) -> Iterator[Block]:
    rows = {
        "parameters": [_known(fact.parameters, "{:,}") for fact in facts],
        "files of weights": [_known(fact.stored, "{:,.1f} MB", 1e6) for fact in facts],
        "precision": [fact.dtype or "unknown" for fact in facts],
        "memory of the weights": [_known(fact.memory, "{:,.1f} MB", 1e6) for fact in facts],
        "seconds an answer": [_known(fact.seconds, "{:#.2g}") for fact in facts],
        "answers timed": [f"{fact.timed:,}" for fact in facts],
    }
    names = (Column(written(fact.model), "number") for fact in facts)
    yield Table.with_columns(
        (Column("", "name"), *names), ((name, *values) for name, values in rows.items())
    )
    for fact in facts:
        if fact.reason:
            yield note("Unknown of {model}: {reason}.", model=fact.model, reason=fact.reason)
    yield note(
        "Memory is that of the parameters alone; what a batch takes comes on top. Answers were "
        "timed in batches on the machine of this run, with whatever else ran there."
    )


def _known(value: float | None, template: str, unit: float = 1) -> str:
    """
    >>> _known(90_867_952, "{:,.1f} MB", 1e6), _known(12, "{:,}"), _known(None, "{}")
    ('90.9 MB', '12', 'unknown')
    """
    return "unknown" if value is None else template.format(value if unit == 1 else value / unit)
