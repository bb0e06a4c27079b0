"""The page of an audit: what each target keeps of the invariances of one or several references."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.blocks import (
    Block,
    Column,
    Fold,
    Page,
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
    short_name,
    spelled,
    table_of,
)
from reports.builders.outcomes import (
    all_outcomes,
    model_lines,
    outcome_lines,
    outcomes_section,
)
from reports.builders.run import asked, asked_differently, folded, reproduce, run_lines
from reports.prose import prose
from reports.wording import Cell, p_value
from scope.estimation.audits import MORE_SIMILAR
from scope.jobs.audit.answer import (
    about,
    answer_blocks,
    heading_of,
    to_do,
    verdict_sentences,
    written_verdicts,
)
from scope.jobs.audit.examples import MOST_EXAMPLES, example_section
from scope.jobs.audit.limits import WrittenVerdict, in_order, measured_table, numbers_table
from scope.jobs.audit.moves import moves_blocks
from scope.jobs.audit.page_matrix import matrix_page
from scope.metrics.catalog import metric_name
from scope.records import AuditResult, marked


def page(result: AuditResult, *, max_pairs: int = MOST_EXAMPLES) -> Page:
    """The whole report of an audit; ``max_pairs`` limits the listed texts, not the counts."""
    if result.matrix is not None:
        numbers = _estimates(result)
        return matrix_page(result, [*_notable(result)], numbers, _about_the_run(result))
    manifest, answers = result.manifest, list(written_verdicts(result))
    answer = (*_notable(result), *(answer_blocks(result, answers) if answers else ()))
    moves = moves_blocks(result)
    react = Section(
        anchor="moves",
        title="Reactions",
        heading=f"Do they react as {manifest.reference.name} does?",
        blocks=moves,
    )
    differences = differences_section(result.differences, result.answer_shares)
    return Page(
        title=f"SCoPE {manifest.job}: {manifest.reference.name}",
        heading=heading_of(answers) if answers else (),
        about=about(result, answers) if answers else (),
        sections=(
            Section(anchor="answer", title="Answer", blocks=answer),
            *([react] if moves else []),
            example_section(result, most=max_pairs),
            *folded(_estimates(result), differences, *_about_the_run(result)),
        ),
        brief=tuple(_brief(result, answers)),
    )


def _brief(result: AuditResult, answers: Sequence[WrittenVerdict]) -> Iterator[Block]:
    """The reasons, a line of numbers a target, and what to do."""
    yield from asked_differently(result.manifest.models)
    ordered = in_order(answers)
    yield from verdict_sentences(ordered)
    yield from _notable(result)
    if ordered:
        lines = dict.fromkeys(line for answer in ordered for line in answer.words.notes)
        yield from (paragraph("{line}.", line=line) for line in lines)
        yield numbers_table(ordered)
        yield from to_do(result, ordered, brief=True)
    if models := tuple(model_lines(result.manifest)):
        yield Terms(models, facts=True)
    yield from run_lines(result.clock)


def _about_the_run(result: AuditResult) -> Iterator[Section]:
    yield asked(result.manifest)
    yield outcomes_section(result)
    yield reproduce(result.manifest, result.clock)


def _notable(result: AuditResult) -> Iterator[Block]:
    """Why there is no verdict, models that are no evidence, and capabilities that failed."""
    if not result.verdict_lines():
        yield paragraph(
            "No verdict: random changes, which tell a target from a model that never moves, were "
            "not drawn."
        )
        if not result.audits and (table := measured_table(result)).columns[1:]:
            yield table
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
    """Capabilities that were not measured."""
    rows = [row for row in all_outcomes(result) if not row.found or row.status == "failed"]
    if rows:
        yield outcome_lines(rows)


def _estimates(result: AuditResult) -> Section:
    """The meaning of the metrics, each model's answers, and every number against each reference."""
    names = map(metric_name, dict.fromkeys(row.metric for row in result.measurements))
    about = note(
        "Metrics range from 0 to 1, informedness and excess from −1 to 1; strength of "
        "reaction is a slope. n is the number of examples; values and intervals are of examples, "
        "each with the mean of its trials. The {half} of a capability’s kept pairs: those whose "
        "similarity is at least the median.",
        half=MORE_SIMILAR,
    )
    shares = result.answer_shares
    answers = table_of(
        "Answers to the unchanged texts",
        ("model", "accuracy", "answers"),
        ((marked(row.model, shares), Cell.of(row.accuracy), row.in_words()) for row in shares),
    )
    slices = table_of(
        "Where slices differ, from one another: the lowest; p-values are corrected for all of them",
        ("slices by", "on", "metric", "model", "lowest", "value", "p, adjusted"),
        (
            (
                *(test.grouping, row.capability or CLEAN, short_name(row.metric), row.target),
                *(row.subset, Cell.of(row.estimate), p_value(test.p_adjusted)),
            )
            for test in result.slice_tests
            for row in [test.worst]
        ),
    )
    tables = map(_against, result.audits) if result.audits else _tables(result)
    blocks = (*filter(None, (answers, slices)), *tables)
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
