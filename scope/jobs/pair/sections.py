"""The page of a report on a pair: the answer, examples, and all numbers part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
from scope.jobs.pair.directions import direction_tables, reference_of, target_of, verdict_matrix
from scope.jobs.pair.findings import example_of, findings
from scope.jobs.pair.models_section import models_section
from scope.jobs.reuse.sections import page as reuse_page
from scope.records import (
    AuditResult,
    CompareResult,
    EstimatedResult,
    NotRun,
    PairResult,
    ReuseResult,
)

EXAMPLES = 20
"""Examples of the first part; the page of each part's own run has more."""


def page(result: PairResult) -> Page:
    """The whole report: what the first part finds is open, and the numbers of all are folded."""
    models = [card.name for card in result.manifest.models if card.role == "model"]
    pages = [_page(part) for part in result.parts]
    tables = tuple(direction_tables(result))
    several = len(models) > 2 and bool(result.audits)
    answers = (verdict_matrix(result.audits),) if several else tables
    found = tuple(findings(result))
    return Page(
        title=f"SCoPE pair: {', '.join(models)}",
        sections=(
            Section(
                anchor="answer",
                title="Answer",
                blocks=(
                    *(_of_audits(result, found, answers) if result.audits else _of(pages, found)),
                    *([Fold(prose("Both directions of each two models"), tables)] * several),
                ),
            ),
            *(one for one in pages[0].sections[1:-1] if not one.folded),
            *models_section(result),
            *(
                _numbers(place, *both)
                for place, both in enumerate(zip(result.parts, pages, strict=True))
            ),
            *_left_out(result),
            reproduce(result.manifest, result.clock),
        ),
        brief=(
            *map(Paragraph, found[:1]),
            *answers,
            # The table has what other directions show.
            *map(Paragraph, found[max(1, len(result.audits)) :]),
            *_in_short(result),
            data_lines(result.manifest),
            *run_lines(result.clock),
        ),
    )


def _of(pages: Sequence[Page], found: Sequence[Text]) -> Iterator[Block]:
    """The answer of the first part, and a sentence on each other one."""
    yield from pages[0].sections[0].blocks
    if found[1:]:
        yield Bullets(tuple(found[1:]), findings=True)


def _of_audits(
    result: PairResult, found: Sequence[Text], answers: Sequence[Table]
) -> Iterator[Block]:
    """One sentence, then the verdict of each direction, its numbers, and the picture of the first.

    Of three models and more the sentences of all directions are in the place of the verdicts.
    """
    audits = result.audits
    yield Paragraph(found[0], lead=True)
    several = len(audits) > 2
    if not several:
        boxes = (block for one in audits for block in verdict_boxes(one))
        yield Beside(tuple(group for one in boxes for group in one.groups))
    others = found[1:] if several else found[len(audits) :]
    yield from answers
    yield Bullets((*example_of(audits[0]), *others), findings=True)
    yield _ABOUT
    yield from picture(audits[0])


_ABOUT = note(
    "Accuracy is the model’s minus that of the model it would replace. CAPA and error consistency "
    "are agreement above what two models of these accuracies have by chance. Concordance: how "
    "often two random changes of a text move both models in the same order; ½ is chance. Brackets "
    "show 95\u00a0% intervals. Audits of two directions are tests of their own, each corrected for "
    "itself alone."
)


def _page(part: EstimatedResult) -> Page:
    """The page of a part's own job."""
    match part:
        case AuditResult():
            return audit_page(part, max_pairs=EXAMPLES)
        case CompareResult():
            return compare_page(part, max_items=EXAMPLES)
        case ReuseResult():
            return reuse_page(part, max_items=EXAMPLES)
    raise TypeError(type(part).__name__)


def _title(part: EstimatedResult) -> str:
    """What a part is."""
    match part:
        case AuditResult():
            return f"{target_of(part)} in place of {reference_of(part)}"
        case ReuseResult():
            return "test of reuse"
    return f"answers to {', '.join(card.name for card in part.manifest.capabilities)}"


def _numbers(place: int, part: EstimatedResult, made: Page) -> Section:
    """The command of a part, and its sections that are not open above."""
    open_above = place == 0
    sections = [
        one for one in made.sections[open_above:-1] if one.folded or not (open_above or _finds(one))
    ]
    return Section(
        anchor=f"part-{place + 1}",
        title=f"Numbers: {_title(part)}",
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
    """What was not run; where other parts were, no reason why tasks do not fit the data."""
    few = [one for one in result.not_run if one.job in ("audit", "reuse")]
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
        blocks = (_reasons(result.not_run),)
        yield Section(anchor="left-out", title="Not run", blocks=blocks, folded=True)
