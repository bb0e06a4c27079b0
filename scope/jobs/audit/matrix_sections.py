"""The page of an audit with several references: who keeps whose invariances, in every direction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reports.blocks import (
    Block,
    Callout,
    Column,
    Fold,
    Page,
    Paragraph,
    Row,
    Section,
    Table,
    note,
    paragraph,
)
from reports.builders.estimates import (
    CLEAN,
    differences_section,
    every_estimate,
    rival_pairs,
    short_name,
    table_of,
)
from reports.builders.outcomes import all_outcomes, outcome_lines, outcomes_section
from reports.builders.run import asked, reproduce, run_lines
from reports.prose import Text, prose, written
from reports.wording import Cell, p_value, short
from scope.estimation import PRIMARY_ON_CAPABILITIES
from scope.jobs.audit.picture import in_little_room
from scope.records import AuditMatrix, AuditResult, Estimate, Measurement, marked

MOST_MODELS = 30
"""With more references or targets a matrix would be unreadable."""


def matrix_page(result: AuditResult) -> Page:
    """The whole report of an audit with several references."""
    matrix = result.matrix or AuditMatrix(asymmetries=(), correlations=(), groups=())
    manifest = result.manifest
    references = [card.name for card in manifest.references]
    first = Callout("neutral", (*_most_alike(result), *_degenerate(result)))
    tables = tuple(_matrices(result, references))
    failed = [one for one in all_outcomes(result) if one.status != "measured"]
    numbers = tuple(one for one in _numbers(result, matrix) if one is not None)
    folded = (
        Section(anchor="numbers", title="All numbers", blocks=numbers),
        Section(anchor="references", title="References", blocks=tuple(_references(result))),
        asked(manifest, capabilities="Capabilities"),
        outcomes_section(result, most=0),
        reproduce(manifest, result.clock),
    )
    return Page(
        title=f"SCoPE {manifest.job}: a matrix of {', '.join(references)}",
        sections=(
            Section(
                anchor="answer",
                title="Answer",
                blocks=(first, *tables, *_both_directions(matrix)),
            ),
            *(replace(one, folded=True) for one in folded),
        ),
        brief=(
            first,
            *tables,
            *_both_directions(matrix),
            *([outcome_lines(failed)] if failed else []),
            *run_lines(result.clock),
        ),
    )


def answers_table(result: AuditResult) -> Table | None:
    """How often each model is right on the unchanged texts, and which answers it gives."""
    shares = result.answer_shares
    cells = ((marked(one.model, shares), Cell.of(one.accuracy), one.in_words()) for one in shares)
    return table_of("Answers to the unchanged texts", ("model", "accuracy", "answers"), cells)


def _degenerate(result: AuditResult) -> Iterator[Block]:
    for one in result.answer_shares:
        if one.degenerate is not None:
            yield paragraph(
                "!!degenerate!!: {model}: {reason}; its numbers are no evidence",
                model=one.model,
                reason=one.degenerate,
            )


def _most_alike(result: AuditResult) -> Iterator[Paragraph]:
    """The most and the least alike pair on each capability."""
    for card in result.manifest.capabilities:
        ranked = _ranked(result, card.name)
        if not ranked:
            yield paragraph("On **{capability}**, no pair was measured.", capability=card.name)
            continue
        (best, one), (worst, other) = ranked[0], ranked[-1]
        least = prose("; least alike are {pair}, {worst}", pair=_pair(other), worst=short(worst))
        head = prose("Most alike on {capability}: {pair}", capability=card.name, pair=_pair(one))
        yield Paragraph(prose("**{head}**", head=head), lead=True)
        yield paragraph(
            "{metric} {best}{rivals}{least}.",
            metric=short_name(one.metric),
            best=short(best),
            rivals=rival_pairs(best, (estimate for estimate, _ in ranked)),
            least=least if ranked[1:] else (),
        )


def _pair(one: Measurement) -> Text:
    return prose("{target} against {reference}", target=one.target, reference=one.against or "")


def _ranked(result: AuditResult, capability: str) -> list[tuple[Estimate, Measurement]]:
    """The pairs of a capability by its main metric, the highest first.

    Degenerate models are left out.
    """
    rows = [
        (one.estimate, one)
        for one in _main(result, capability)
        if isinstance(one.estimate, Estimate) and result.degenerate(one) is None
    ]
    return sorted(rows, key=lambda row: (-row[0].value, str(row[1].against), row[1].target))


def _main(result: AuditResult, capability: str) -> list[Measurement]:
    """Concordance on a capability, and without it Hard-SCoPE."""
    rows = [one for one in result.measurements if one.capability == capability and not one.subset]
    of_metric = ([one for one in rows if one.metric == name] for name in PRIMARY_ON_CAPABILITIES)
    return next(
        (found for found in of_metric if any(isinstance(x.estimate, Estimate) for x in found)), []
    )


def _matrices(result: AuditResult, references: list[str]) -> Iterator[Table]:
    """A table a capability: a row a reference, a column a target."""
    targets = [card.name for card in result.manifest.models if card.role != "reference"]
    if max(len(references), len(targets)) > MOST_MODELS:
        return
    for card in result.manifest.capabilities:
        if not (found := _main(result, card.name)):
            continue
        cells = {(one.against, one.target): one.estimate for one in found}
        yield Table(
            columns=(
                Column("reference", "name"),
                *(Column(written(marked(one, result.answer_shares)), "number") for one in targets),
            ),
            rows=tuple(
                Row(
                    cells=(
                        one,
                        *(in_little_room(cells.get((one, x)), len(targets)) for x in targets),
                    )
                )
                for one in references
            ),
            caption=prose(
                "{metric} on {capability}: rows are references",
                metric=short_name(found[0].metric),
                capability=card.name,
            ),
            close=True,
        )


def _both_directions(matrix: AuditMatrix) -> Iterator[Paragraph]:
    tested = [one.p_adjusted for one in matrix.asymmetries if one.p_adjusted is not None]
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
    yield answers_table(result)
    yield table_of(
        "Asymmetry of each pair of models: how much better B keeps or follows A than A does B, "
        "paired by example. Concordance, or else Hard-SCoPE, is tested; the other describes",
        ("capability", "metric", "A", "B", "(B given A) − (A given B)", "p", "p, adjusted"),
        (
            (
                *(one.capability, short_name(one.metric), one.first, one.second),
                *(Cell.of(one.estimate, signed=True), p_value(one.p_value)),
                p_value(one.p_adjusted),
            )
            for one in matrix.asymmetries
        ),
    )
    yield table_of(
        "Correlations over all ordered pairs of models; the interval is a jackknife over models: "
        "pairs that share a model are not independent",
        ("capability", "metric", "with", "correlation"),
        (
            (
                *(one.capability, short_name(one.metric), short_name(one.other)),
                Cell.of(one.estimate, signed=True),
            )
            for one in matrix.correlations
        ),
    )
    yield table_of(
        "Means over the models of each group, without a reference that is one of them",
        ("group", "models", "reference", "capability", "metric", "mean"),
        (
            (
                *(one.group, len(one.members), one.against, one.capability or CLEAN),
                *(short_name(one.metric), Cell.of(one.estimate)),
            )
            for one in matrix.groups
        ),
    )


def _references(result: AuditResult) -> Iterator[Block]:
    """The audit against each reference, behind a line that a reader opens."""
    for audit in result.audits:
        name = audit.manifest.reference.name
        blocks = every_estimate("All", audit.measurements, name).blocks
        if audit.differences:
            about = note("P-values are corrected for the tests of this reference alone.")
            blocks += (*differences_section(audit.differences, audit.answer_shares).blocks, about)
        yield Fold(prose("Against {reference}", reference=name), blocks)
