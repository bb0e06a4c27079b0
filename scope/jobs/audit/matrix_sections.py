"""The page of an audit with several references: who keeps whose invariances, in every direction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.blocks import (
    Block,
    Bullets,
    Column,
    Fold,
    Page,
    Row,
    Section,
    Table,
    note,
    paragraph,
)
from reports.builders.asked import asked
from reports.builders.estimates import (
    CLEAN,
    differences_section,
    every_estimate,
    meanings,
    rival_pairs,
    short_name,
)
from reports.builders.outcomes import (
    all_outcomes,
    data_lines,
    outcome_lines,
    outcome_table,
    tracebacks,
)
from reports.builders.reproduce import reproduce, run_lines
from reports.prose import Text, prose, written
from reports.wording import Cell, p_value
from scope.metrics import metric_name
from scope.records import AuditMatrix, AuditResult, Estimate, Measurement, marked

SHOWN = ("hard_scope", "soft_scope", "concordance")
"""The metrics that have a matrix."""

MOST_MODELS = 30
"""With more references or targets a matrix would be unreadable."""

_LEVEL = 0.05


def matrix_page(result: AuditResult) -> Page:
    """The whole report of an audit with several references."""
    matrix = result.matrix or AuditMatrix(asymmetries=(), correlations=(), groups=())
    tables = tuple(_matrices(result))
    asymmetries = tuple(_asymmetries(matrix))
    groups = tuple(_groups(matrix))
    manifest = result.manifest
    references = ", ".join(card.name for card in manifest.references)
    return Page(
        title=f"SCoPE {manifest.job}: a matrix of {references}",
        sections=(
            _answer(result, matrix, tables),
            asked(manifest, capabilities="Capabilities"),
            _asymmetry_section(asymmetries),
            _correlation_section(matrix),
            *([_group_section(groups)] if groups else []),
            _references(result),
            _outcomes(result),
            reproduce(manifest, result.clock),
        ),
        brief=(
            *tables,
            *asymmetries,
            *groups,
            outcome_lines(all_outcomes(result)),
            data_lines(manifest),
            *run_lines(result.clock),
        ),
    )


def _answer(result: AuditResult, matrix: AuditMatrix, tables: Sequence[Table]) -> Section:
    names = {head: metric_name(head) for head in SHOWN}
    return Section(
        anchor="answer",
        title="Answer",
        blocks=(
            Bullets((*_degenerate(result), *_findings(result, matrix)), findings=True),
            paragraph(
                "Each row is a reference, whose kept pairs and random candidates the column’s "
                "model answers. The two directions of a pair of models differ: their difference is "
                "tested under __Asymmetry__."
            ),
            *tables,
            answers_table(result),
            meanings(names.values()),
        ),
    )


def answers_table(result: AuditResult) -> Table:
    """How often each model is right on the unchanged texts, and which answers it gives."""
    columns = (Column("model", "name"), Column("accuracy", "estimate"), Column("answers"))
    return Table(
        columns=columns,
        rows=tuple(
            Row(
                cells=(
                    marked(one.model, result.answer_shares),
                    Cell.of(one.accuracy),
                    one.in_words(),
                )
            )
            for one in result.answer_shares
        ),
        caption=prose("Answers to the unchanged texts"),
    )


def _degenerate(result: AuditResult) -> Iterator[Text]:
    for one in result.answer_shares:
        if one.degenerate is not None:
            yield prose(
                "**{model}** is **degenerate**: {reason}; its numbers are no evidence.",
                model=one.model,
                reason=one.degenerate,
            )


def _findings(result: AuditResult, matrix: AuditMatrix) -> Iterator[Text]:
    """The most and the least alike pair on each capability, then the asymmetries."""
    for card in result.manifest.capabilities:
        rows = _ranked(result, card.name)
        if not rows:
            yield prose("On **{capability}**, no pair was measured.", capability=card.name)
            continue
        yield (
            *prose("On **{capability}**, ", capability=card.name),
            *_pair("the most alike pair is" if rows[1:] else "the only pair is", rows[0], rows),
            *(_pair("; the least alike is", rows[-1], rows) if rows[1:] else ()),
            *prose("."),
        )
    tested = [one for one in matrix.asymmetries if one.p_adjusted is not None]
    clear = [one for one in tested if one.p_adjusted is not None and one.p_adjusted < _LEVEL]
    if tested:
        yield prose(
            "In {clear} of {tested} tests a pair of models differs by its direction (p below "
            "{level}, Holm-corrected).",
            clear=len(clear),
            tested=len(tested),
            level=f"{_LEVEL:g}",
        )


def _ranked(result: AuditResult, capability: str) -> list[Measurement]:
    """The pairs of a capability by concordance, the highest first; without it by Hard-SCoPE.

    Degenerate models are left out.
    """
    for metric in ("concordance", "hard_scope"):
        rows = [
            (one.estimate.value, one)
            for one in result.measurements
            if (one.metric, one.capability, one.subset) == (metric, capability, None)
            and isinstance(one.estimate, Estimate)
            and result.degenerate(one) is None
        ]
        if rows:
            ordered = sorted(rows, key=lambda row: (-row[0], str(row[1].against), row[1].target))
            return [one for _, one in ordered]
    return []


def _pair(words: str, one: Measurement, rows: Sequence[Measurement]) -> Text:
    """A pair, its number, and how many others' intervals overlap with it."""
    cell = Cell.of(one.estimate)
    pair = prose(
        f"{words} **{{target}}** against **{{reference}}**: {{metric}} **{{value}}** {{interval}} "
        "(n\u00a0=\u00a0{n})",
        target=one.target,
        reference=str(one.against),
        metric=short_name(one.metric),
        value=cell.value,
        interval=cell.interval,
        n=cell.n,
    )
    if not isinstance(one.estimate, Estimate):
        return pair
    return (*pair, *rival_pairs(one.estimate, (row.estimate for row in rows)))


def _matrices(result: AuditResult) -> Iterator[Table]:
    """One table a capability and metric: a row a reference, a column a target."""
    references = [card.name for card in result.manifest.references]
    targets = [card.name for card in result.manifest.models if card.role != "reference"]
    if max(len(references), len(targets)) > MOST_MODELS:
        return
    found: dict[tuple[str, str], dict[tuple[str, str], Measurement]] = {}
    for one in result.measurements:
        if one.subset is None and metric_name(one.metric).head in SHOWN:
            rows = found.setdefault((str(one.capability), one.metric), {})
            rows[str(one.against), one.target] = one
    for (capability, metric), rows in found.items():
        yield Table(
            columns=(
                Column("reference", "name"),
                *(
                    Column(written(marked(name, result.answer_shares)), "estimate")
                    for name in targets
                ),
            ),
            rows=tuple(
                Row(
                    cells=(
                        reference,
                        *(
                            Cell.of(rows[reference, target].estimate)
                            if (reference, target) in rows
                            else None
                            for target in targets
                        ),
                    )
                )
                for reference in references
            ),
            caption=prose(
                "{metric} on {capability}", metric=short_name(metric), capability=capability
            ),
            stacked=True,
        )


def _asymmetries(matrix: AuditMatrix) -> Iterator[Table]:
    if matrix.asymmetries:
        yield Table(
            columns=(
                Column("capability", "name"),
                Column("metric"),
                Column("A"),
                Column("B"),
                Column("(B given A) − (A given B)", "estimate"),
                Column("p", "number"),
                Column("p, adjusted", "number"),
            ),
            rows=tuple(
                Row(
                    cells=(
                        one.capability,
                        short_name(one.metric),
                        one.first,
                        one.second,
                        Cell.of(one.estimate, signed=True),
                        p_value(one.p_value),
                        p_value(one.p_adjusted),
                    )
                )
                for one in matrix.asymmetries
            ),
            caption=prose("Asymmetry of each pair of models"),
        )


def _asymmetry_section(tables: Sequence[Table]) -> Section:
    about = paragraph(
        "How much better B keeps what A ignores, or follows what moves A, than the other way "
        "round. The mean of each example with pairs in both directions is paired with itself; "
        "p-values exchange the directions at random and are corrected for all tests (Holm). One "
        "metric a capability is tested: concordance, or else Hard-SCoPE; the other describes."
    )
    none = paragraph("No two models were compared in both directions; see --both-directions.")
    return Section(
        anchor="asymmetry", title="Asymmetry", blocks=(about, *tables) if tables else (none,)
    )


def _correlation_section(matrix: AuditMatrix) -> Section:
    table = Table(
        columns=(
            Column("Capability", "name"),
            Column("Metric"),
            Column("With"),
            Column("Correlation", "estimate"),
        ),
        rows=tuple(
            Row(
                cells=(
                    one.capability,
                    short_name(one.metric),
                    short_name(one.other),
                    Cell.of(one.estimate, signed=True),
                )
            )
            for one in matrix.correlations
        ),
    )
    return Section(
        anchor="correlations",
        title="Correlations",
        heading="Correlations over all pairs of models",
        blocks=(
            note(
                "Pearson’s correlation over all ordered pairs of reference and target; n counts "
                "pairs. The interval is a jackknife that leaves out one model at a time: pairs "
                "that share a model are not independent."
            ),
            *([table] if matrix.correlations else [paragraph("No pair of models was measured.")]),
        ),
    )


def _groups(matrix: AuditMatrix) -> Iterator[Table]:
    shown = [one for one in matrix.groups if metric_name(one.metric).head in SHOWN]
    if shown:
        yield Table(
            columns=(
                Column("group", "name"),
                Column("models", "number"),
                Column("reference"),
                Column("capability"),
                Column("metric"),
                Column("mean", "estimate"),
            ),
            rows=tuple(
                Row(
                    cells=(
                        one.group,
                        len(one.members),
                        one.against,
                        one.capability or CLEAN,
                        short_name(one.metric),
                        Cell.of(one.estimate),
                    )
                )
                for one in shown
            ),
            caption=prose("Means over the models of each group"),
        )


def _group_section(tables: Sequence[Table]) -> Section:
    about = paragraph(
        "The variance is that of the models’ means over their number, plus that of their common "
        "mean over the examples, each with the Student’s t of its own degrees of freedom. A "
        "reference that is one of the group is left out. The other metrics are in ``result.json``."
    )
    return Section(anchor="groups", title="Groups", blocks=(about, *tables))


def _references(result: AuditResult) -> Section:
    """The audit against each reference, behind a line that a reader opens."""
    return Section(
        anchor="references",
        title="References",
        heading="The audit against each reference",
        blocks=(
            note(
                "All pairs of texts are in ``to_frame('examples')`` and in the run’s parquet files."
            ),
            *(
                Fold(
                    prose("Against {reference}", reference=audit.manifest.reference.name),
                    tuple(_of_reference(audit)),
                )
                for audit in result.audits
            ),
        ),
    )


def _of_reference(audit: AuditResult) -> Iterator[Block]:
    name = audit.manifest.reference.name
    yield from every_estimate("All", audit.measurements, name).blocks
    if audit.differences:
        yield from differences_section(audit.differences, audit.answer_shares).blocks
        yield note("P-values are corrected for the tests of this reference alone.")


def _outcomes(result: AuditResult) -> Section:
    outcomes = all_outcomes(result)
    return Section(
        anchor="failures",
        title="Failures",
        heading="Searches and failures",
        blocks=(
            outcome_table(
                outcomes,
                first="Capability",
                counts=("Searches", "Found", "Failed"),
                caption="One search is one example in one trial.",
                queries=True,
            ),
            *tracebacks(outcomes),
        ),
    )
