"""The page of an audit: what each target keeps of the invariances of one or several references."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.blocks import (
    Block,
    Bullets,
    Callout,
    Column,
    Fold,
    Page,
    Paragraph,
    Section,
    Table,
    Terms,
    heading,
    note,
    paragraph,
)
from reports.builders.estimates import (
    CLEAN,
    differences_section,
    every_estimate,
    meanings,
    rival_pairs,
    short_name,
    spelled,
    table_of,
)
from reports.builders.outcomes import (
    MOST_FAILURES,
    all_outcomes,
    model_lines,
    outcome_lines,
    outcomes_section,
)
from reports.builders.run import asked, folded, reproduce, run_lines
from reports.prose import Text, prose, written
from reports.wording import Cell, p_value, short
from scope.estimation import MORE_SIMILAR, PRIMARY_ON_CAPABILITIES
from scope.jobs.audit.answer import (
    answered,
    in_little_room,
    picture,
    small_table,
    verdict_boxes,
    verdict_sentences,
    where_targets_differ,
)
from scope.jobs.audit.examples import MOST_EXAMPLES, example_section
from scope.metrics import metric_name
from scope.records import AuditMatrix, AuditResult, Estimate, Measurement, marked

MOST_ROWS = 40
"""A longer table of estimates scrolls within the page."""

MOST_MODELS = 30
"""With more references or targets a matrix would be unreadable."""


def page(
    result: AuditResult, *, max_pairs: int = MOST_EXAMPLES, max_failures: int = MOST_FAILURES
) -> Page:
    """The whole report of an audit.

    ``max_pairs`` and ``max_failures`` bound how many texts are listed, not what is counted.
    """
    if result.audits:
        return _matrix_page(result)
    manifest = result.manifest
    targets = ", ".join(card.name for card in manifest.targets)
    table, models, verdicts = (
        small_table(result),
        tuple(model_lines(manifest)),
        list(answered(result)),
    )
    notable = tuple(_notable(result))
    answer = (
        *verdict_boxes(verdicts),
        *notable,
        *picture(result),
    )
    differ = tuple(where_targets_differ(result))
    bullets = (Bullets(differ, findings=True),)
    return Page(
        title=f"SCoPE {manifest.job}: {targets} against {manifest.reference.name}",
        sections=(
            Section(anchor="answer", title="Answer", blocks=answer),
            *(
                [Section(anchor="differ", title="Where targets differ", blocks=bullets)]
                * bool(differ)
            ),
            example_section(result, most=max_pairs),
            *folded(
                _estimates(result),
                differences_section(result.differences, result.answer_shares),
                *_about_the_run(result, max_failures),
            ),
        ),
        brief=(
            *map(Paragraph, verdict_sentences(verdicts)),
            *notable,
            *([table] if table.rows else []),
            *([Terms(models, facts=True)] if models else []),
            *run_lines(result.clock),
        ),
    )


def _about_the_run(result: AuditResult, failures: int) -> Iterator[Section]:
    yield asked(result.manifest, capabilities="Capabilities")
    yield outcomes_section(result, most=failures)
    yield reproduce(result.manifest, result.clock)


def _notable(result: AuditResult) -> Iterator[Block]:
    """Why there is no verdict, models that are no evidence, and capabilities that failed."""
    if not result.verdicts:
        yield paragraph(
            "No verdict: random candidates, which tell a target from a model that never moves, "
            "were not drawn."
        )
    if result.verdicts and result.earlier_looks:
        yield paragraph(
            "**Exploratory**: {runs} asked about the same texts with another plan before. With "
            "each look an error becomes more likely than one plan says; texts that no run has "
            "used give the stated rates.",
            runs=", ".join(result.earlier_looks),
        )
    yield from _degenerate(result)
    failed = [outcome for outcome in all_outcomes(result) if outcome.status != "measured"]
    failed += [
        outcome for outcome in result.outcomes if outcome.status == "measured" and outcome.failures
    ]
    if failed:
        yield outcome_lines(failed)


def _degenerate(result: AuditResult) -> Iterator[Block]:
    for shares in result.answer_shares:
        if shares.degenerate is not None:
            yield paragraph(
                "!!degenerate!!: {model}: {reason}; its numbers are no evidence",
                model=shares.model,
                reason=shares.degenerate,
            )


def _estimates(result: AuditResult) -> Section:
    # The reference's own base rate stands in the answer.
    reference = result.manifest.reference.name
    rows = [row for row in result.measurements if row.target != reference]
    names = [metric_name(spelling) for spelling in dict.fromkeys(row.metric for row in rows)]
    # Original texts first, then capability by capability.
    groups = sorted(dict.fromkeys(row.capability for row in rows), key=lambda one: one is not None)
    blocks: list[Block] = [
        # Several spellings of one metric differ in parameters alone: explain it once.
        meanings({name.head: name for name in names}.values()),
        note(
            "Metrics range from 0 to 1, informedness and excess from −1 to 1; reach is a "
            "slope. n is the number of examples; intervals treat an example with all its "
            "trials as one unit. The {half} of a capability’s kept pairs: those whose "
            "similarity is at least the median.",
            half=MORE_SIMILAR,
        ),
    ]
    if result.manifest.settings.get("goal") == "released":
        blocks.append(
            paragraph(
                "The search scored kept pairs as the paper’s published code does, with a second "
                "softmax on the changed side: where the reference is sure of a text, the changed "
                "text of which it is surest wins."
            )
        )
    if (shares := _answers_table(result)) is not None:
        blocks.append(shares)
    if not rows:
        blocks.append(paragraph("No metric was measured."))
    for group in groups:
        blocks.append(heading("On {part}", part=group or CLEAN))
        blocks.append(_estimates_table([row for row in rows if row.capability == group], result))
    return Section(anchor="estimates", title="All estimates", blocks=(*blocks, *_curves(result)))


def _estimates_table(rows: Sequence[Measurement], result: AuditResult) -> Table:
    """Estimates on all texts of a capability, then those on parts of them."""
    value = Column("Value", "estimate", method=True)
    cells = (
        (
            spelled(metric_name(row.metric)),
            *(row.subset or "all", marked(row.target, result.answer_shares)),
            Cell.of(row.estimate),
        )
        for row in sorted(rows, key=lambda row: row.subset is not None)
    )
    columns = (Column("Metric", "name"), Column("Part"), Column("Target"), value)
    return Table.with_columns(columns, cells, tall=len(rows) > MOST_ROWS)


def _curves(result: AuditResult) -> Iterator[Block]:
    """The estimates of every cutoff."""
    if result.curves:
        yield heading("Soft-SCoPE over the cutoff")
        yield Table.of(
            {"Capability": "name", "Cutoff": "text", "Target": "text", "Soft-SCoPE": "estimate"},
            (
                (curve.capability, f"{x:g}", curve.target, Cell.of(estimate))
                for curve in result.curves
                for x, estimate in curve.points
            ),
            tall=True,
        )


def _answers_table(result: AuditResult) -> Table | None:
    """How often each model is right on the unchanged texts, and which answers it gives."""
    shares = result.answer_shares
    cells = (
        (marked(share.model, shares), Cell.of(share.accuracy), share.in_words()) for share in shares
    )
    return table_of("Answers to the unchanged texts", ("model", "accuracy", "answers"), cells)


def _matrix_page(result: AuditResult) -> Page:
    """The whole report of an audit with several references."""
    matrix = result.matrix or AuditMatrix(asymmetries=(), correlations=(), groups=())
    manifest = result.manifest
    references = [card.name for card in manifest.references]
    answer: tuple[Block, ...] = (
        Callout("neutral", (*_most_alike(result), *_degenerate(result))),
        *_matrices(result, references),
        *_both_directions(matrix),
    )
    failed = [outcome for outcome in all_outcomes(result) if outcome.status != "measured"]
    numbers = tuple(table for table in _numbers(result, matrix) if table is not None)
    against = tuple(map(_against, result.audits))
    return Page(
        title=f"SCoPE {manifest.job}: a matrix of {', '.join(references)}",
        sections=(
            Section(anchor="answer", title="Answer", blocks=answer),
            *folded(
                Section(anchor="numbers", title="All numbers", blocks=numbers),
                Section(anchor="references", title="References", blocks=against),
                *_about_the_run(result, 0),
            ),
        ),
        brief=(
            *answer,
            *([outcome_lines(failed)] if failed else []),
            *run_lines(result.clock),
        ),
    )


def _most_alike(result: AuditResult) -> Iterator[Paragraph]:
    """The most and the least alike pair on each capability, without degenerate models."""
    for card in result.manifest.capabilities:
        rows = [
            (row.estimate, row)
            for row in _main(result, card.name)
            if isinstance(row.estimate, Estimate) and result.degenerate(row) is None
        ]
        if not rows:
            yield paragraph("On **{capability}**, no pair was measured.", capability=card.name)
            continue
        rows.sort(key=lambda pair: (-pair[0].value, str(pair[1].against), pair[1].target))
        (best, most), (worst, least) = rows[0], rows[-1]
        head = prose("Most alike on {capability}: {pair}", capability=card.name, pair=_pair(most))
        rest = prose("; least alike are {pair}, {worst}", pair=_pair(least), worst=short(worst))
        yield Paragraph(prose("**{head}**", head=head), lead=True)
        yield paragraph(
            "{metric} {best}{rivals}{least}.",
            metric=short_name(most.metric),
            best=short(best),
            rivals=rival_pairs(best, (estimate for estimate, _ in rows)),
            least=rest if rows[1:] else (),
        )


def _pair(row: Measurement) -> Text:
    return prose("{target} against {reference}", target=row.target, reference=row.against or "")


def _main(result: AuditResult, capability: str) -> list[Measurement]:
    """Concordance on a capability, and without it Hard-SCoPE."""
    rows = [row for row in result.measurements if row.capability == capability and not row.subset]
    for metric in PRIMARY_ON_CAPABILITIES:
        of_metric = [row for row in rows if row.metric == metric]
        if any(isinstance(row.estimate, Estimate) for row in of_metric):
            return of_metric
    return []


def _matrices(result: AuditResult, references: list[str]) -> Iterator[Table]:
    """A table a capability: a row a reference, a column a target."""
    targets = [card.name for card in result.manifest.models if card.role != "reference"]
    if max(len(references), len(targets)) > MOST_MODELS:
        return
    names = (written(marked(name, result.answer_shares)) for name in targets)
    columns = (Column("reference", "name"), *(Column(name, "number") for name in names))
    for card in result.manifest.capabilities:
        rows = _main(result, card.name)
        of_pairs = {(row.against, row.target): row.estimate for row in rows}
        cells = (
            (name, *(in_little_room(of_pairs.get((name, to)), len(targets)) for to in targets))
            for name in references
        )
        if rows:
            yield Table.with_columns(
                columns,
                cells,
                caption=prose(
                    "{metric} on {capability}: rows are references",
                    metric=short_name(rows[0].metric),
                    capability=card.name,
                ),
                close=True,
            )


def _both_directions(matrix: AuditMatrix) -> Iterator[Paragraph]:
    tested = [row.p_adjusted for row in matrix.asymmetries if row.p_adjusted is not None]
    if tested:
        yield paragraph(
            "In {clear} of {tested} tests a pair of models differs by its direction "
            "(p\u00a0<\u00a00.05, Holm-corrected).",
            clear=sum(p < 0.05 for p in tested),
            tested=len(tested),
        )
    if not matrix.asymmetries:
        yield note("No two models were compared in both directions; see --both-directions.")


def _numbers(result: AuditResult, matrix: AuditMatrix) -> Iterator[Table | None]:
    """Answers, asymmetries, correlations and means of groups, as far as there are any."""
    yield _answers_table(result)
    yield table_of(
        "Asymmetry of each pair of models: how much better B keeps or follows A than A does B, "
        "paired by example. Concordance, or else Hard-SCoPE, is tested; the other describes",
        ("capability", "metric", "A", "B", "(B given A) − (A given B)", "p", "p, adjusted"),
        (
            (
                *(row.capability, short_name(row.metric), row.first, row.second),
                *(Cell.of(row.estimate, signed=True), p_value(row.p_value)),
                p_value(row.p_adjusted),
            )
            for row in matrix.asymmetries
        ),
    )
    yield table_of(
        "Correlations over all ordered pairs of models; the interval is a jackknife over models: "
        "pairs that share a model are not independent",
        ("capability", "metric", "with", "correlation"),
        (
            (
                *(row.capability, short_name(row.metric), short_name(row.other)),
                Cell.of(row.estimate, signed=True),
            )
            for row in matrix.correlations
        ),
    )
    yield table_of(
        "Means over the models of each group, without a reference that is one of them",
        ("group", "models", "reference", "capability", "metric", "mean"),
        (
            (
                *(group.group, len(group.members), group.against, group.capability or CLEAN),
                *(short_name(group.metric), Cell.of(group.estimate)),
            )
            for group in matrix.groups
        ),
    )


def _against(audit: AuditResult) -> Fold:
    """The audit against one reference, behind a line that a reader opens."""
    name = audit.manifest.reference.name
    blocks = every_estimate("All", audit.measurements, name).blocks
    if audit.differences:
        about = note("P-values are corrected for the tests of this reference alone.")
        blocks += (*differences_section(audit.differences, audit.answer_shares).blocks, about)
    return Fold(prose("Against {reference}", reference=name), blocks)
