"""The page of a report on a pair: the answer, examples, and all numbers part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from types import MappingProxyType
from typing import Any

from reports.blocks import (
    Beside,
    Block,
    Bullets,
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
from reports.builders.outcomes import data_lines
from reports.builders.reproduce import reproduce, run_lines
from reports.prose import Text, joined, prose, written
from scope.jobs.audit.picture import picture
from scope.jobs.audit.sections import page as audit_page
from scope.jobs.audit.verdict_section import verdict_boxes
from scope.jobs.compare.sections import page as compare_page
from scope.jobs.pair.directions import direction_tables, verdict_matrix
from scope.jobs.pair.findings import example_of, findings
from scope.jobs.pair.models_section import models_section
from scope.jobs.reuse.page import page as reuse_page
from scope.records import (
    AuditResult,
    CompareResult,
    EstimatedResult,
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
    """The whole report: what the first part finds is open, and the numbers of all are folded."""
    models = [card.name for card in result.manifest.models if card.role == "model"]
    pages = [_PAGES[type(part)](part) for part in result.parts]
    tables = tuple(direction_tables(result))
    several = len(result.audits) > 2
    answers = (verdict_matrix(result.audits),) if several else tables
    found = tuple(findings(result))
    sentence = () if several else (Paragraph(found[0]),)
    return Page(
        title=f"SCoPE pair: {', '.join(models)}",
        sections=(
            Section(
                anchor="answer",
                title="Answer",
                blocks=(
                    *_answer(result, found, answers, pages[0]),
                    *([Fold(prose("Both directions of each two models"), tables)] * several),
                ),
            ),
            *(one for one in pages[0].sections[1:-1] if not one.folded),
            *models_section(result),
            *map(_numbers, count(1), result.parts, pages),
            *_left_out(result),
            reproduce(result.manifest, result.clock),
        ),
        brief=(
            *((*sentence, *answers) if result.audits else pages[0].brief),
            # The table has what other directions show.
            *map(Paragraph, found[max(1, len(result.audits)) :]),
            *_in_short(result),
            *([data_lines(result.manifest)] if result.audits else []),
            *run_lines(result.clock),
        ),
    )


def _answer(
    result: PairResult, found: Sequence[Text], answers: Sequence[Table], first: Page
) -> Iterator[Block]:
    """One sentence, then the verdict of each direction, its numbers, and the picture of the first.

    Of three models and more a matrix comes first, then a sentence a direction; without audits the
    answer is that of the first part.
    """
    audits = result.audits
    others = found[max(1, len(audits)) :]
    if not audits:
        yield from first.sections[0].blocks
    elif len(audits) > 2:
        yield from answers
        others = found
    else:
        yield Paragraph(found[0], lead=True)
        boxes = (block for one in audits for block in verdict_boxes(one))
        yield Beside(tuple(group for one in boxes for group in one.groups))
        yield from answers
    if sentences := (*others, *(text for one in audits[:1] for text in example_of(one))):
        yield Bullets(sentences, findings=True)
    if audits:
        yield _ABOUT
        yield from picture(audits[0])


_ABOUT = note(
    "Accuracy is the model’s minus that of the model it would replace. CAPA and error consistency "
    "are agreement above what two models of these accuracies have by chance. Concordance: how "
    "often two random changes of a text move both models in the same order; ½ is chance. Brackets "
    "show 95\u00a0% intervals. Audits of two directions are tests of their own, each corrected for "
    "itself alone."
)


def _numbers(place: int, part: EstimatedResult, made: Page) -> Section:
    """The command of a part, and its sections that are not open above."""
    sections = [one for one in made.sections[:-1] if one.folded or not (place == 1 or _finds(one))]
    return Section(
        anchor=f"part-{place}",
        title=f"Part {place}",
        heading=f"Part {place}, {made.title.removeprefix('SCoPE ')}",
        blocks=(
            paragraph("This part alone, with the same numbers and more examples:"),
            Preformatted(part.manifest.command),
            *(Fold(written(one.heading or one.title), one.blocks) for one in sections),
        ),
        folded=True,
    )


def _finds(section: Section) -> bool:
    """Whether it holds examples with a search, of which a page has one at most."""
    return any(getattr(one, "finder", None) is not None for one in within(section.blocks))


def _in_short(result: PairResult) -> Iterator[Terms]:
    """What was not run, without the reasons."""
    if result.not_run:
        names = joined(one.part for one in result.not_run)
        why = prose("{parts}: the report has the reasons", parts=names)
        yield Terms(((prose("not run"), why),), facts=True)


def _left_out(result: PairResult) -> Iterator[Section]:
    reasons = tuple((written(one.part), written(one.reason)) for one in result.not_run)
    if reasons:
        blocks = (Terms(reasons, facts=True),)
        yield Section(anchor="left-out", title="Not run", blocks=blocks, folded=True)
