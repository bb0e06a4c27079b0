"""The page of a report on a pair: the answer, examples, and all numbers part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from textwrap import shorten
from types import MappingProxyType
from typing import Any

from reports.blocks import (
    Beside,
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
from reports.builders.outcomes import data_lines
from reports.builders.run import reproduce, run_lines
from reports.prose import Text, joined, prose, written
from scope.jobs.audit.answer import picture, verdict_boxes
from scope.jobs.audit.page import page as audit_page
from scope.jobs.audit.verdicts import named, rounded_up
from scope.jobs.compare.page import page as compare_page
from scope.jobs.pages import headline_of
from scope.jobs.pair.directions import (
    direction_tables,
    reference_of,
    same_answers,
    target_of,
    verdict_matrix,
)
from scope.jobs.probe.page_layers import similar_layers
from scope.jobs.reuse.page import page as reuse_page
from scope.records import (
    AuditResult,
    CompareResult,
    Estimate,
    EstimatedResult,
    ModelFacts,
    PairResult,
    Replacement,
    ReuseResult,
    label_of,
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
            *(section for section in pages[0].sections[1:-1] if not section.folded),
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
        boxes = (
            block
            for audit in audits
            for block in verdict_boxes(audit.verdicts, audit.manifest.reference.name)
        )
        yield Beside(tuple(group for box in boxes for group in box.groups))
        yield from answers
    if sentences := (*others, *(text for audit in audits[:1] for text in example_of(audit))):
        yield Bullets(sentences, findings=True)
    if audits:
        yield _ABOUT
        yield from picture(audits[0])


_ABOUT = note(
    "Accuracy is the model’s minus that of the model it would replace. CAPA: agreement of the "
    "answers beyond what the accuracies alone give; 0 is chance, 1 identical. Error consistency: "
    "the same of right and wrong. Concordance: how often two random changes of a text move both "
    "models in the same order; ½ is chance. Reach: how far a model moves the way of the other, of "
    "how far that moves; below 0 it moves against it. ✓ is within its limit, ✗ beyond it, ? open. "
    "Brackets show 95\u00a0% intervals. *May* and *may not* are each wrong at most one time in "
    "forty, as far as one run is concerned, and need no more texts. Audits of two directions are "
    "tests of their own, each corrected for itself alone."
)


def _numbers(place: int, part: EstimatedResult, made: Page) -> Section:
    """The command of a part, and its sections that are not open above."""
    sections = [
        section
        for section in made.sections[:-1]
        if section.folded or not (place == 1 or _finds(section))
    ]
    return Section(
        anchor=f"part-{place}",
        title=f"Part {place}",
        heading=f"Part {place}, {made.title.removeprefix('SCoPE ')}",
        blocks=(
            paragraph("This part alone, with the same numbers and more examples:"),
            Preformatted(part.manifest.command),
            *(Fold(written(shown.heading or shown.title), shown.blocks) for shown in sections),
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


_OPENINGS = {
    "may replace": "**{target} may replace {reference}** on these texts",
    "may not": "**{target} may not replace {reference}** on these texts",
    "not shown": "**It is not shown that {target} may replace {reference}** on these texts",
}
_OF_ACCURACY = {
    "may replace": "accuracy at most {limit} points lower",
    "may not": "accuracy {lower} points lower, limit {limit}",
}
_OF_OTHERS = {
    "may replace": "{names} within limits",
    "may not": "{names} beyond limits",
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
    left_out = any(outcome.status == "not applicable" for outcome in audit.candidate_outcomes)
    partial = verdict.decision == "may replace" and (verdict.not_judged or left_out)
    before = " (exploratory: an audit with another plan asked these texts before)"
    return prose(
        f"{_OPENINGS[verdict.decision]}{', in what was assessed' if partial else ''}"
        f"{before if audit.earlier_looks else ''}: {{reasons}}.",
        target=verdict.target,
        reference=reference_of(audit),
        reasons=joined(_reasons(audit, verdict), between="; "),
    )


def _reasons(audit: AuditResult, verdict: Replacement) -> Iterator[Text]:
    """The endpoints that carry the verdict, and how many labels are the same."""
    if verdict.reason is not None:
        yield prose("{reason}", reason=verdict.reason)
    shared = same_answers(audit)
    if isinstance(shared, Estimate):
        # 100 % is said of no less.
        whole = 100 if shared.value == 1 else min(round(100 * shared.value), 99)
        share = f"same answer on {whole}\u00a0% of {{n}}\u00a0texts"
        yield prose(share, n=shared.n)
    limits = {end.name: end for end in verdict.endpoints if end.limit is not None}
    carry = {"may replace": tuple(limits), "may not": verdict.beyond, "not shown": verdict.open}
    names = carry[verdict.decision]
    apart = _OF_ACCURACY.get(verdict.decision) if "accuracy" in names else None
    if apart:
        accuracy = limits["accuracy"]
        lower = -100 * getattr(accuracy.estimate, "value", 0.0)
        words = apart.replace("{lower}", f"{lower:.1f}")
        yield prose(words, limit=f"{-100 * (accuracy.limit or 0):g}")
    if others := [name for name in names if not (apart and name == "accuracy")]:
        yield prose(_OF_OTHERS[verdict.decision], names=named(others))
    if rows := verdict.rows_needed:
        yield prose("a new run on about {n}\u00a0texts may show it", n=rounded_up(rows))


def example_of(audit: AuditResult) -> Iterator[Text]:
    """How many unchanged texts get another label, with the first of them."""
    target, labels = target_of(audit), audit.manifest.reference.labels
    place = [card.name for card in audit.manifest.targets].index(target)
    differ = [
        example
        for example in audit.examples
        if example.targets[place].choice != example.reference.choice
    ]
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


def models_section(result: PairResult) -> Iterator[Section]:
    """One section; none of results of earlier releases."""
    if result.facts:
        blocks = (
            *_facts(result.facts),
            *similar_layers(result.alignments),
        )
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
