"""The page of a report on a pair: the answer, both directions, examples, all numbers by part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, count, groupby
from operator import attrgetter
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
from reports.builders.outcomes import data_lines
from reports.builders.run import asked_differently, reproduce, run_lines
from reports.prose import Text, joined, prose, written
from reports.wording import number, percent, points, range_of_counts, short
from scope.jobs.audit.answer import (
    SIGNS,
    Answered,
    answered,
    estimates_of_models,
    exploratory,
    picture,
    verdict_boxes,
    verdict_sentences,
)
from scope.jobs.audit.page import page as audit_page
from scope.jobs.audit.verdict_words import in_plain_words
from scope.jobs.compare.page import page as compare_page
from scope.jobs.pages import headline_of
from scope.jobs.probe.page_tables import similar_layers
from scope.jobs.reuse.page import page as reuse_page
from scope.metrics import metric_name
from scope.records import (
    AuditResult,
    CompareResult,
    Endpoint,
    Estimate,
    EstimatedResult,
    Measurement,
    ModelFacts,
    PairResult,
    ReuseResult,
    Undefined,
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
    """The whole report: the first part's findings are open, and the numbers of all are folded."""
    models = [card.name for card in result.manifest.models if card.role == "model"]
    pages = [_PAGES[type(part)](part) for part in result.parts]
    others = tuple(findings(result))[0 if result.audits else 1 :]
    verdicts = [verdict for audit in result.audits for verdict in answered(audit)]
    several = len(result.audits) > 2
    # For two models the table contains the other direction.
    answers: tuple[Block, ...] = (verdict_matrix(result.audits),)
    if not several:
        sentence = map(Paragraph, verdict_sentences(verdicts[:1]))
        looks = [look for audit in result.audits[:1] for look in audit.earlier_looks]
        answers = (*sentence, *exploratory(looks), direction_table(result))
    if len(verdicts) == 2:
        (first, back) = verdicts
        reverse = prose(
            "{back}; see below", back=f"{SIGNS[back.verdict.decision]} {back.words.opening}"
        )
        verdicts[0] = first._replace(facts=(*first.facts, (prose("The reverse"), reverse)))
    answer = _answer(result, verdicts, others, pages[0])
    return Page(
        title=f"SCoPE pair: {', '.join(models)}",
        sections=(
            Section(anchor="answer", title="Answer", blocks=tuple(answer)),
            *(section for section in pages[0].sections[1:-1] if not section.folded),
            *models_section(result),
            *map(_numbers, count(1), result.parts, pages),
            *_left_out(result),
            reproduce(result.manifest, result.clock),
        ),
        brief=(
            *(asked_differently(result.manifest.models) if result.audits else ()),
            *(answers if result.audits else pages[0].brief),
            *map(Paragraph, others),
            *_in_short(result),
            *([data_lines(result.manifest)] if result.audits else []),
            *run_lines(result.clock),
        ),
    )


def _answer(
    result: PairResult, verdicts: Sequence[Answered], others: Sequence[Text], first: Page
) -> Iterator[Block]:
    """The verdict of each direction, the findings of other parts, and the picture of the first.

    With three or more models a matrix precedes the verdicts; without audits the answer is that of
    the first part.
    """
    if not result.audits:
        yield from first.sections[0].blocks
    if len(result.audits) > 2:
        yield verdict_matrix(result.audits)
    yield from verdict_boxes(verdicts)
    if sentences := (*others, *alike(result.similarities)):
        yield Bullets(sentences, findings=True)
    if result.audits:
        yield _ABOUT
        yield from picture(result.audits[0])


_ABOUT = note(
    "Discrete CAPA: agreement of the answers beyond what the accuracies alone give; 0 is chance, 1 "
    "the same answers. Error consistency: the same of right and wrong. "
    "Audits of two directions are tests of their own, each corrected for itself alone."
)


def alike(similarities: Sequence[Measurement]) -> Iterator[Text]:
    """The similarity of the answers of each two models, by each measure."""
    for (first, second), rows in groupby(similarities, key=attrgetter("target", "against")):
        numbers = joined(
            prose(f"{metric_name(row.metric).label} {short(row.estimate)}") for row in rows
        )
        yield prose(
            "Answers of {first} and {second}: {numbers}.",
            first=first,
            second=str(second),
            numbers=numbers,
        )


def _numbers(place: int, part: EstimatedResult, made: Page) -> Section:
    """The command of a part, and its sections that are not open above.

    Examples with a search stay in the part's own page: a page has one search at most.
    """
    sections = [
        section
        for section in made.sections[:-1]
        if section.folded
        or not (place == 1 or any(getattr(item, "finder", None) for item in within(section.blocks)))
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


def _in_short(result: PairResult) -> Iterator[Terms]:
    """What was not run, without the reasons."""
    if result.not_run:
        names = joined(left.part for left in result.not_run)
        why = prose("{parts}: the report has the reasons", parts=names)
        yield Terms(((prose("not run"), why),), facts=True)


def _left_out(result: PairResult) -> Iterator[Section]:
    reasons = tuple((written(left.part), written(left.reason)) for left in result.not_run)
    if reasons:
        blocks = (Terms(reasons, facts=True),)
        yield Section(anchor="left-out", title="Not run", blocks=blocks, folded=True)


def findings(result: PairResult) -> Iterator[Text]:
    """A sentence per part that is not an audit, in the order of the page."""
    for comparison in result.comparisons:
        yield written(headline_of(comparison))
    for verdict in (verdict for reuse in result.reuses for verdict in reuse.verdicts):
        yield prose(
            "Reuse: **{decision}**. {sentence}",
            decision=verdict.decision,
            sentence=verdict.sentence,
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


Found = Estimate | Undefined | None


def direction_table(result: PairResult) -> Table:
    """One column per direction: the standard, then numbers, and last the numbers of texts."""
    audits = result.audits
    names = dict.fromkeys(card.name for audit in audits for card in audit.manifest.capabilities)
    directions = (
        prose("{target} for {reference}", target=target_of(audit), reference=reference_of(audit))
        for audit in audits
    )
    return Table.with_columns(
        (
            Column("", "name"),
            *(Column(head, "number") for head in directions),
            Column("texts", "number"),
        ),
        (
            ("verdict", *map(_verdict, audits), None),
            ("measured against", *map(_standard, audits), None),
            _row("accuracy, points", map(_accuracy, audits), points, _signs("accuracy", audits)),
            _row(
                "same answer, %", [_of_target(audit, "iid_agreement") for audit in audits], percent
            ),
            *(
                _row(
                    f"{in_plain_words(name)}, points",
                    [getattr(_endpoints(audit).get(name), "estimate", None) for audit in audits],
                    points,
                    _signs(name, audits),
                )
                for name in dict.fromkeys(chain.from_iterable(map(_endpoints, audits)))
                if name.startswith("keeps")
            ),
            *(
                _row(label, [_similarity(result, label, audit) for audit in audits], number)
                for label in dict.fromkeys(map(_label, result.similarities))
            ),
            *(
                _row(
                    in_plain_words(f"{metric} on {capability}"),
                    [_of_target(audit, metric, capability) for audit in audits],
                    number,
                    _signs(f"{metric} on {capability}", audits),
                )
                for capability in names
                for metric in ("concordance", "reach")
            ),
        ),
        close=True,
    )


def _label(similarity: Measurement) -> str:
    return metric_name(similarity.metric).label


def _similarity(result: PairResult, label: str, audit: AuditResult) -> Found:
    """How similar the answers of an audit's two models are, by a measure."""
    pair = {target_of(audit), reference_of(audit)}
    rows = (row for row in result.similarities if {row.target, row.against} == pair)
    return next((row.estimate for row in rows if _label(row) == label), None)


def _of_target(audit: AuditResult, metric: str, capability: str | None = None) -> Found:
    return estimates_of_models(audit, metric, capability).get(target_of(audit))


_STATES = {"within": "✓ ", "beyond": "✗ ", "fails alone": "? ", "not shown": "? "}


def _signs(name: str, audits: Sequence[AuditResult]) -> Sequence[str]:
    """For each audit whether this endpoint is within its limit; empty if it is not judged."""
    states = (getattr(_endpoints(audit).get(name), "state", "") for audit in audits)
    return [_STATES.get(state, "") for state in states]


def _row(
    name: str,
    estimates: Iterable[Found],
    write: Callable[[float], str],
    signs: Sequence[str] = (),
) -> Sequence[str]:
    """A number of each direction, with the sign of its state if it is judged."""
    each = tuple(estimates)
    texts = range_of_counts(estimate for estimate in each if isinstance(estimate, Estimate))
    cells = (_in_line(estimate, write) for estimate in each)
    return (name, *map(str.__add__, signs or [""] * len(each), cells), texts)


def verdict_matrix(audits: Sequence[AuditResult]) -> Table:
    """Which model may replace which: one row per target, one column per reference."""
    decided = {(target_of(audit), reference_of(audit)): _verdict(audit) for audit in audits}
    names = list(dict.fromkeys(name for pair in decided for name in reversed(pair)))
    decided |= {(name, name): "–" for name in names}
    heads = (Column(prose("in place of {name}", name=name)) for name in names)
    return Table.with_columns(
        (Column("", "name"), *heads),
        ((name, *(decided.get((name, other), "not run") for other in names)) for name in names),
        caption=prose("Who may replace whom"),
    )


def _verdict(audit: AuditResult) -> str:
    return next(
        (f"{SIGNS[verdict.decision]} {verdict.decision}" for verdict in audit.verdicts), "none"
    )


def _standard(audit: AuditResult) -> str:
    """The model whose similarity to the reference is the standard for the target."""
    baseline = audit.manifest.baseline
    return f"{reference_of(audit)} itself" if baseline is None else baseline.name


def target_of(audit: AuditResult) -> str:
    """The name of the target."""
    return next(card.name for card in audit.manifest.targets if card.role == "target")


def reference_of(audit: AuditResult) -> str:
    """The name of the reference."""
    return audit.manifest.reference.name


def _accuracy(audit: AuditResult) -> Found:
    """The target's accuracy minus the reference's."""
    endpoint = _endpoints(audit).get("accuracy")
    return None if endpoint is None else endpoint.estimate


def _endpoints(audit: AuditResult) -> dict[str, Endpoint]:
    return {end.name: end for verdict in audit.verdicts for end in verdict.endpoints}


def _in_line(estimate: Found, write: Callable[[float], str]) -> str:
    """A number and its interval.

    Examples
    --------
    >>> _in_line(Estimate(value=0.5, low=0.25, high=0.75, n=8, method="bootstrap"), percent)
    '50.0 [25.0, 75.0]'
    """
    if not isinstance(estimate, Estimate):
        return "not measured" if estimate is None else "undefined"
    value, low, high = map(write, (estimate.value, estimate.low, estimate.high))
    return f"{value} [{low}, {high}]"
