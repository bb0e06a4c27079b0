"""The page of a report on a pair: the answer, the sections of all parts, and what was not run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from reports.blocks import (
    Block,
    Bullets,
    Cards,
    Page,
    Paragraph,
    Preformatted,
    Section,
    Terms,
    note,
    paragraph,
)
from reports.builders.outcomes import data_lines
from reports.builders.reproduce import reproduce, run_lines
from reports.prose import Text, joined, prose, written
from scope.jobs.audit.sections import page as audit_page
from scope.jobs.compare.sections import page as compare_page
from scope.jobs.pair.directions import direction_tables, reference_of, target_of
from scope.jobs.pair.findings import findings
from scope.jobs.reuse.sections import page as reuse_page
from scope.records import (
    AuditResult,
    CompareResult,
    EstimatedResult,
    NotRun,
    PairResult,
    ReuseResult,
)

PAIRS_SHOWN = 100
"""Pairs of texts that the section of an audit shows; the page of its own run has more."""


def page(result: PairResult) -> Page:
    """The whole report."""
    models = [card.name for card in result.manifest.models if card.role == "model"]
    tables = tuple(direction_tables(result.audits))
    found = tuple(findings(result))
    return Page(
        title=f"SCoPE pair: {', '.join(models)}",
        sections=(
            Section(
                anchor="answer",
                title="Answer",
                blocks=(Bullets(found, findings=True), *tables, *([_ABOUT] if tables else [])),
            ),
            *_parts(result),
            *_left_out(result),
            _reproduce(result),
        ),
        brief=(
            *map(Paragraph, found[:1]),
            *tables,
            # The table has what other directions show.
            *map(Paragraph, found[max(1, len(result.audits)) :]),
            *_in_short(result),
            data_lines(result.manifest),
            *run_lines(result.clock),
        ),
    )


_ABOUT = note(
    "Accuracy is the model’s minus that of the model it would replace. Concordance: how often two "
    "random changes of a text move both models in the same order; ½ is chance. Reach: how far a "
    "model moves, against the other. Brackets show 95\u00a0% intervals. Audits of two directions "
    "are tests of their own, each corrected for itself alone."
)


def _parts(result: PairResult) -> Iterator[Section]:
    """The sections of each part under its own number; the last one, how to reproduce it, is left to
    the end of the page."""
    finds = False
    for place, part in enumerate(result.parts, start=1):
        about, made = _page(part)
        for section in made.sections[:-1]:
            blocks = tuple(_without_finder(one) if finds else one for one in section.blocks)
            lead = (paragraph("{about}", about=about),) if section is made.sections[0] else ()
            yield replace(
                section,
                anchor=f"part-{place}-{section.anchor}",
                title=f"Part {place}: {section.title}",
                heading=f"Part {place}: {section.heading or section.title}",
                blocks=(*lead, *blocks),
            )
        # A page has one search at most.
        finds = finds or any(getattr(one, "finder", None) for one in made.blocks())


def _page(part: EstimatedResult) -> tuple[Text, Page]:
    """What a part is, and the page of its job."""
    match part:
        case AuditResult():
            about = prose(
                "An audit of **{target}** in place of **{reference}**.",
                target=target_of(part),
                reference=reference_of(part),
            )
            return about, audit_page(part, max_pairs=PAIRS_SHOWN)
        case CompareResult():
            tasks = joined(card.name for card in part.manifest.capabilities)
            return prose("A comparison of answers to **{task}**.", task=tasks), compare_page(part)
        case ReuseResult():
            return prose("A test of reuse."), reuse_page(part)
    raise TypeError(type(part).__name__)


def _without_finder(block: Block) -> Block:
    return replace(block, finder=None) if isinstance(block, Cards) else block


def _in_short(result: PairResult) -> Iterator[Terms]:
    """What was not run; where other parts were, no reason why tasks do not fit the data."""
    few = [one for one in result.not_run if one.job != "compare"]
    if few:
        yield _reasons(few)
    if rest := [one.part for one in result.not_run if one not in few]:
        why = prose("{parts}: the report has the reasons", parts=joined(rest))
        yield Terms(((prose("not run"), why),), facts=True)


def _reasons(not_run: Sequence[NotRun]) -> Terms:
    pairs = ((prose("no {part}", part=one.part), written(one.reason)) for one in not_run)
    return Terms(tuple(pairs), facts=True)


def _left_out(result: PairResult) -> Iterator[Section]:
    if result.not_run:
        yield Section(anchor="left-out", title="Not run", blocks=(_reasons(result.not_run),))


def _reproduce(result: PairResult) -> Section:
    """How to reproduce all of it, and each part by its own command."""
    section = reproduce(result.manifest, result.clock)
    commands = [Preformatted(part.manifest.command) for part in result.parts]
    about = paragraph("Each part alone, with the same numbers:")
    return replace(section, blocks=(*section.blocks, about, *commands))
