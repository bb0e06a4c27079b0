"""The page of an audit: what each target keeps of the reference's invariances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from reports.blocks import (
    Block,
    Bullets,
    Column,
    Page,
    Paragraph,
    Row,
    Section,
    Table,
    Terms,
    heading,
    note,
    paragraph,
)
from reports.builders.estimates import CLEAN, differences_section, meanings, spelled
from reports.builders.outcomes import (
    MOST_FAILURES,
    all_outcomes,
    model_lines,
    outcome_lines,
    outcomes_section,
)
from reports.builders.run import asked, reproduce, run_lines
from reports.prose import Text
from reports.wording import Cell
from scope.estimation import MORE_SIMILAR
from scope.jobs.audit.examples import MOST_EXAMPLES, example_section
from scope.jobs.audit.matrix_sections import answers_table, matrix_page
from scope.jobs.audit.picture import picture, small_table
from scope.jobs.audit.slice_sections import where_targets_differ
from scope.jobs.audit.verdict_section import verdict_boxes, verdict_sentences
from scope.metrics import metric_name
from scope.records import (
    AuditResult,
    Measurement,
    marked,
)

MOST_ROWS = 40
"""A longer table of estimates scrolls within the page."""


def page(
    result: AuditResult, *, max_pairs: int = MOST_EXAMPLES, max_failures: int = MOST_FAILURES
) -> Page:
    """The whole report of an audit.

    ``max_pairs`` and ``max_failures`` bound how many texts are listed, not what is counted.
    """
    if result.audits:
        return matrix_page(result)
    manifest = result.manifest
    targets = ", ".join(card.name for card in manifest.targets)
    table, models = small_table(result), tuple(model_lines(manifest))
    notable = tuple(_notable(result))
    differ = tuple(where_targets_differ(result))
    folded = (
        _estimates(result),
        differences_section(result.differences, result.answer_shares),
        asked(manifest, capabilities="Capabilities"),
        outcomes_section(result, most=max_failures),
        reproduce(manifest, result.clock),
    )
    return Page(
        title=f"SCoPE {manifest.job}: {targets} against {manifest.reference.name}",
        sections=(
            Section(
                anchor="answer",
                title="Answer",
                blocks=(*verdict_boxes(result), *notable, *picture(result)),
            ),
            *([_differ(differ)] if differ else []),
            example_section(result, most=max_pairs),
            *(replace(one, folded=True) for one in folded),
        ),
        brief=(
            *map(Paragraph, verdict_sentences(result)),
            *notable,
            *([table] if table.rows else []),
            *([Terms(models, facts=True)] if models else []),
            *run_lines(result.clock),
        ),
    )


def _differ(sentences: tuple[Text, ...]) -> Section:
    return Section(
        anchor="differ",
        title="Where targets differ",
        blocks=(Bullets(sentences, findings=True),),
    )


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
    for one in result.answer_shares:
        if one.degenerate is not None:
            yield paragraph(
                "!!degenerate!!: {model}: {reason}; its numbers are no evidence",
                model=one.model,
                reason=one.degenerate,
            )
    failed = [one for one in all_outcomes(result) if one.status != "measured"]
    failed += [one for one in result.outcomes if one.status == "measured" and one.failures]
    if failed:
        yield outcome_lines(failed)


def _search_goal(result: AuditResult) -> Iterator[Paragraph]:
    if result.manifest.settings.get("goal") == "released":
        yield paragraph(
            "The search scored kept pairs as the paper’s published code does, with a second "
            "softmax on the changed side: where the reference is sure of a text, the changed text "
            "of which it is surest wins."
        )


def _estimates(result: AuditResult) -> Section:
    # The reference's own base rate stands in the answer.
    reference = result.manifest.reference.name
    rows = [one for one in result.measurements if one.target != reference]
    names = [metric_name(spelling) for spelling in dict.fromkeys(one.metric for one in rows)]
    # Original texts first, then capability by capability.
    capabilities = sorted(
        dict.fromkeys(one.capability for one in rows), key=lambda one: one is not None
    )
    return Section(
        anchor="estimates",
        title="All estimates",
        blocks=(
            # Several spellings of one metric differ in parameters alone: explain it once.
            meanings({name.head: name for name in names}.values()),
            note(
                "Metrics range from 0 to 1, informedness and excess from −1 to 1; reach is a "
                "slope. n is the number of examples; intervals treat an example with all its "
                "trials as one unit. The {half} of a capability’s kept pairs: those whose "
                "similarity is at least the median.",
                half=MORE_SIMILAR,
            ),
            *_search_goal(result),
            *([shares] if (shares := answers_table(result)) else []),
            *([] if rows else [paragraph("No metric was measured.")]),
            *(
                block
                for capability in capabilities
                for block in (
                    heading("On {part}", part=capability or CLEAN),
                    _table([one for one in rows if one.capability == capability], result),
                )
            ),
            *_curves(result),
        ),
    )


def _table(rows: Sequence[Measurement], result: AuditResult) -> Table:
    """Estimates on all texts of a capability, then those on parts of them."""
    return Table(
        columns=(
            Column("Metric", "name"),
            Column("Part"),
            Column("Target"),
            Column("Value", "estimate", method=True),
        ),
        rows=tuple(
            Row(
                cells=(
                    spelled(metric_name(one.metric)),
                    one.subset or "all",
                    marked(one.target, result.answer_shares),
                    Cell.of(one.estimate),
                )
            )
            for one in sorted(rows, key=lambda one: one.subset is not None)
        ),
        tall=len(rows) > MOST_ROWS,
    )


def _curves(result: AuditResult) -> Iterator[Block]:
    """The estimates of every cutoff."""
    if result.curves:
        yield heading("Soft-SCoPE over the cutoff")
        yield Table(
            columns=(
                Column("Capability", "name"),
                Column("Cutoff"),
                Column("Target"),
                Column("Soft-SCoPE", "estimate"),
            ),
            rows=tuple(
                Row(cells=(one.capability, f"{x:g}", one.target, Cell.of(estimate)))
                for one in result.curves
                for x, estimate in one.points
            ),
            tall=True,
        )
