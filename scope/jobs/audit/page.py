"""The page of an audit: what each target keeps of the invariances of one or several references."""

from __future__ import annotations

from collections.abc import Iterator

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
    numbers_section,
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
from reports.builders.run import asked, asked_differently, folded, reproduce, run_lines
from reports.prose import Text, prose, written
from reports.wording import Cell, p_value, short
from scope.estimation import MORE_SIMILAR, PRIMARY_ON_CAPABILITIES
from scope.jobs.audit.answer import (
    answered,
    exploratory,
    in_little_room,
    picture,
    small_table,
    verdict_boxes,
    verdict_sentences,
    where_targets_differ,
)
from scope.jobs.audit.examples import MOST_EXAMPLES, example_section
from scope.jobs.audit.moves import moves_blocks
from scope.metrics import metric_name
from scope.records import AuditMatrix, AuditResult, Estimate, Measurement, marked


def page(result: AuditResult, *, max_pairs: int = MOST_EXAMPLES) -> Page:
    """The whole report of an audit; ``max_pairs`` limits the listed texts, not the counts."""
    if result.matrix is not None:
        return _matrix_page(result, result.matrix)
    manifest, verdicts = result.manifest, list(answered(result))
    targets = ", ".join(card.name for card in manifest.targets)
    notable, table = tuple(_notable(result)), small_table(result)
    models, differ = tuple(model_lines(manifest)), tuple(where_targets_differ(result))
    answer = (*verdict_boxes(verdicts), *notable, *picture(result))
    sections = [Section(anchor="answer", title="Answer", blocks=answer)]
    if moves := moves_blocks(result):
        title = f"Do they react as {manifest.reference.name} does?"
        sections.append(Section(anchor="moves", title="Reactions", heading=title, blocks=moves))
    if differ:
        blocks = (Bullets(differ, findings=True),)
        sections.append(Section(anchor="differ", title="Where targets differ", blocks=blocks))
    differences = differences_section(result.differences, result.answer_shares)
    return Page(
        title=f"SCoPE {manifest.job}: {targets} against {manifest.reference.name}",
        sections=(
            *sections,
            example_section(result, most=max_pairs),
            *folded(_estimates(result), differences, *_about_the_run(result)),
        ),
        brief=(
            *asked_differently(manifest.models),
            *map(Paragraph, verdict_sentences(verdicts)),
            *notable,
            *([table] if table.rows else []),
            *([Terms(models, facts=True)] if models else []),
            *run_lines(result.clock),
        ),
    )


def _about_the_run(result: AuditResult) -> Iterator[Section]:
    yield asked(result.manifest)
    yield outcomes_section(result, most=MOST_FAILURES)
    yield reproduce(result.manifest, result.clock)


def _notable(result: AuditResult) -> Iterator[Block]:
    """Why there is no verdict, models that are no evidence, and capabilities that failed."""
    if not result.verdicts:
        yield paragraph(
            "No verdict: random candidates, which tell a target from a model that never moves, "
            "were not drawn."
        )
    else:
        yield from exploratory(result.earlier_looks)
    yield from _degenerate(result)
    yield from _failed(result)


def _degenerate(result: AuditResult) -> Iterator[Block]:
    for shares in result.answer_shares:
        if shares.degenerate is not None:
            yield paragraph(
                "!!degenerate!!: {model}: {reason}; it passes no verdict and no gate",
                model=shares.model,
                reason=shares.degenerate,
            )


def _failed(result: AuditResult) -> Iterator[Block]:
    """Capabilities that were not measured, and notes on failed searches."""
    rows = [row for row in all_outcomes(result) if not row.found or row.reason]
    if rows:
        yield outcome_lines(rows)


def _estimates(result: AuditResult) -> Section:
    """The meaning of the metrics, each model's answers, and every number against each reference."""
    names = map(metric_name, dict.fromkeys(row.metric for row in result.measurements))
    about = note(
        "Metrics range from 0 to 1, informedness and excess from −1 to 1; reach is a "
        "slope. n is the number of examples; values and intervals are of examples, each with "
        "the mean of its trials. The {half} of a capability’s kept pairs: those whose "
        "similarity is at least the median.",
        half=MORE_SIMILAR,
    )
    shares = result.answer_shares
    answers = table_of(
        "Answers to the unchanged texts",
        ("model", "accuracy", "answers"),
        ((marked(row.model, shares), Cell.of(row.accuracy), row.in_words()) for row in shares),
    )
    tables = map(_against, result.audits) if result.audits else _tables(result)
    blocks = (*([answers] if answers else []), *tables)
    return numbers_section(names, blocks, about=about, anchor="estimates")


def _tables(result: AuditResult) -> Iterator[Block]:
    """One table of original texts, one per capability: estimates on all texts, then on parts."""
    rows = sorted(result.measurements, key=lambda row: (bool(row.capability), bool(row.subset)))
    for group in dict.fromkeys(row.capability for row in rows):
        yield heading("On {part}", part=group or CLEAN)
        yield Table.with_columns(
            (
                *(Column("Metric", "name"), Column("Part"), Column("Model")),
                Column("Value", "estimate", method=True),
            ),
            (
                (
                    *(spelled(metric_name(row.metric)), row.subset or "all"),
                    *(marked(row.target, result.answer_shares), Cell.of(row.estimate)),
                )
                for row in rows
                if row.capability == group
            ),
        )
    if result.curves:
        yield heading("Soft-SCoPE over the cutoff")
        yield Table.of(
            {"Capability": "name", "Cutoff": "text", "Model": "text", "Soft-SCoPE": "estimate"},
            (
                (curve.capability, f"{x:g}", curve.target, Cell.of(estimate))
                for curve in result.curves
                for x, estimate in curve.points
            ),
            tall=True,
        )


def _against(audit: AuditResult) -> Fold:
    """All numbers against one reference, folded."""
    blocks = tuple(_tables(audit))
    if audit.differences:
        about = note("P-values are corrected for the tests of this reference alone.")
        blocks += (*differences_section(audit.differences, audit.answer_shares).blocks, about)
    return Fold(prose("Against {reference}", reference=audit.manifest.reference.name), blocks)


def _matrix_page(result: AuditResult, matrix: AuditMatrix) -> Page:
    """The whole report of an audit with several references."""
    manifest = result.manifest
    answer: tuple[Block, ...] = (
        Callout("neutral", (*_most_alike(result), *_degenerate(result))),
        *_matrices(result),
        *_both_directions(matrix),
    )
    tables = tuple(table for table in _over_models(matrix) if table is not None)
    over = Section(anchor="numbers", title="Over all models", blocks=tables) if tables else None
    names = ", ".join(card.name for card in manifest.references)
    return Page(
        title=f"SCoPE {manifest.job}: a matrix of {names}",
        sections=(
            Section(anchor="answer", title="Answer", blocks=answer),
            *folded(over, _estimates(result), *_about_the_run(result)),
        ),
        brief=(*answer, *_failed(result), *run_lines(result.clock)),
    )


def _most_alike(result: AuditResult) -> Iterator[Paragraph]:
    """The most and the least similar pair on each capability, without degenerate models."""
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
        head = "**Most alike on {capability}: {pair}**"
        if rows[1:] and short(best) == short(worst):
            head = "**All pairs are equally alike on {capability}, such as {pair}**"
        yield Paragraph(prose(head, capability=card.name, pair=_pair(most)), lead=True)
        rest = prose("; least alike are {pair}, {worst}", pair=_pair(least), worst=short(worst))
        yield paragraph(
            "{metric} {best}{rivals}{least}.",
            metric=short_name(most.metric),
            best=short(best),
            rivals=rival_pairs(best, (estimate for estimate, _ in rows)),
            least=rest if short(best) != short(worst) else (),
        )


def _pair(row: Measurement) -> Text:
    return prose("{target} against {reference}", target=row.target, reference=row.against or "")


def _main(result: AuditResult, capability: str) -> list[Measurement]:
    """Concordance on a capability, or else Hard-SCoPE."""
    rows = [row for row in result.measurements if row.capability == capability and not row.subset]
    for metric in PRIMARY_ON_CAPABILITIES:
        of_metric = [row for row in rows if row.metric == metric]
        if any(isinstance(row.estimate, Estimate) for row in of_metric):
            return of_metric
    return []


def _matrices(result: AuditResult) -> Iterator[Table]:
    """A table per capability: one row per reference, one column per target."""
    targets = [card.name for card in result.manifest.models if card.role != "reference"]
    names = (written(marked(name, result.answer_shares)) for name in targets)
    columns = (Column("reference", "name"), *(Column(name, "number") for name in names))
    for card in result.manifest.capabilities:
        if not (rows := _main(result, card.name)):
            continue
        of_pairs = {(row.against, row.target): row.estimate for row in rows}
        yield Table.with_columns(
            columns,
            (
                (name, *(in_little_room(of_pairs.get((name, to)), len(targets)) for to in targets))
                for name in (reference.name for reference in result.manifest.references)
            ),
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
            clear=sum(round(p, 3) < 0.05 for p in tested),
            tested=len(tested),
        )
    if not matrix.asymmetries:
        yield note("No two models were compared in both directions; see --both-directions.")


def _over_models(matrix: AuditMatrix) -> Iterator[Table | None]:
    """Asymmetries, correlations and means of groups, if there are any."""
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
