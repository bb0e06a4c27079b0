"""The page of an audit: what each target keeps of the reference's invariances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from scope.estimation import MORE_SIMILAR
from scope.jobs.audit.curves import curves_section
from scope.jobs.audit.examples import MOST_PAIRS, example_section
from scope.jobs.audit.matrix_sections import matrix_page
from scope.jobs.audit.picture import picture, small_table
from scope.jobs.audit.slice_sections import where_targets_differ
from scope.jobs.audit.verdict_section import verdict_boxes, verdict_sentences
from scope.jobs.sections.asked import asked
from scope.jobs.sections.estimates import CLEAN, differences_section, meanings, short_name, spelled
from scope.jobs.sections.outcomes import (
    MOST_FAILURES,
    all_outcomes,
    outcome_lines,
    outcomes_section,
)
from scope.jobs.sections.reproduce import reproduce, run_lines
from scope.metrics import metric_name
from scope.records import (
    AuditResult,
    Measurement,
    marked,
)
from scope.sections.blocks import (
    Block,
    Bullets,
    Column,
    Figure,
    Page,
    Paragraph,
    Row,
    Section,
    Table,
    heading,
    note,
    paragraph,
)
from scope.sections.charts import interval_chart
from scope.sections.prose import Text, prose
from scope.sections.wording import Cell, setting


def page(
    result: AuditResult, *, max_pairs: int = MOST_PAIRS, max_failures: int = MOST_FAILURES
) -> Page:
    """The whole report of an audit.

    ``max_pairs`` and ``max_failures`` bound how many texts are listed, not what is counted.
    """
    if result.audits:
        return matrix_page(result)
    manifest = result.manifest
    targets = ", ".join(card.name for card in manifest.targets)
    table = small_table(result)
    notable = tuple(_notable(result))
    differ = tuple(where_targets_differ(result))
    folded = (
        _estimates(result),
        differences_section(result.differences, result.answer_shares),
        curves_section(result),
        _parts(result),
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


def _answers(result: AuditResult) -> tuple[Table, ...]:
    """How often each model is right on the unchanged texts, and which answers it gives."""
    if not result.answer_shares:
        return ()
    agreements = {
        one.target: Cell.of(one.estimate)
        for one in result.measurements
        if one.metric == "iid_agreement" and one.subset is None
    }
    columns = (
        Column("model", "name"),
        Column("accuracy", "estimate"),
        Column("agreement with the reference", "estimate"),
        Column("answers"),
    )
    rows = (
        Row(
            cells=(
                marked(one.model, result.answer_shares),
                Cell.of(one.accuracy),
                agreements.get(one.model),
                one.in_words(),
            )
        )
        for one in result.answer_shares
    )
    caption = prose("Answers to the unchanged texts")
    return (Table(columns=columns, rows=tuple(rows), caption=caption),)


def _soft_scope(result: AuditResult) -> Iterator[Paragraph]:
    """The tolerance and the cutoff of each Soft-SCoPE in use.

    A parameter that a spelling leaves out is looked for among the run's settings.
    """
    stated = {name: setting(value) for name, value in result.manifest.settings.items()}
    names = map(metric_name, dict.fromkeys(one.metric for one in result.measurements))
    used = [{**stated, **name.parameters} for name in names if name.head == "soft_scope"]
    for values in used:
        yield paragraph(
            "Soft-SCoPE compares how far each model’s probabilities move (L1 distance of the two "
            "shifts): a kept pair counts in full up to the tolerance τ\u00a0=\u00a0{tolerance}, "
            "not at all from the cutoff κ\u00a0=\u00a0{cutoff}, and in proportion between.",
            tolerance=values.get("tolerance", "not stated"),
            cutoff=values.get("cutoff", "not stated"),
        )
    if not used:
        yield paragraph("Soft-SCoPE was not requested.")


def _estimates(result: AuditResult) -> Section:
    reference = result.manifest.reference.name
    main = [one for one in result.measurements if one.subset is None and one.target != reference]
    names = [metric_name(spelling) for spelling in dict.fromkeys(one.metric for one in main)]
    # Original texts first, then capability by capability.
    capabilities = sorted(
        dict.fromkeys(one.capability for one in main), key=lambda one: one is not None
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
                "trials as one unit."
            ),
            paragraph(
                "The reference is **{reference}**. Its invariances are the pairs of an original "
                "and a changed text to which it gives the same label; a target keeps one when it, "
                "too, gives both texts the same label. This share is Hard-SCoPE. Base rate: how "
                "often a model keeps its label on random changes. Excess: Hard-SCoPE minus base "
                "rate, on the texts that have both.",
                reference=reference,
            ),
            *_soft_scope(result),
            *_search_goal(result),
            *_answers(result),
            *([] if main else [paragraph("No metric was measured.")]),
            *(
                block
                for capability in capabilities
                for block in _group(
                    heading("On {part}", part=capability or CLEAN),
                    capability or CLEAN,
                    [one for one in main if one.capability == capability],
                    result,
                )
            ),
        ),
    )


def _group(
    title: Block, part: str, rows: Sequence[Measurement], result: AuditResult
) -> Iterator[Block]:
    """Estimates on one part of the data: a chart and a table."""
    parts = any(one.subset is not None for one in rows)
    chart = interval_chart(
        f"Estimates with intervals, {part}; the numbers are in the table",
        [(one.subset or short_name(one.metric), one) for one in rows if one.metric != "reach"],
        tuple(card.name for card in result.manifest.targets),
    )
    yield title
    if chart is not None:
        yield Figure(chart)
    yield Table(
        columns=(
            Column("Part" if parts else "Metric", "name"),
            Column("Target"),
            Column("Value", "estimate", method=not parts),
        ),
        rows=tuple(
            Row(
                cells=(
                    one.subset or spelled(metric_name(one.metric)),
                    marked(one.target, result.answer_shares),
                    Cell.of(one.estimate),
                )
            )
            for one in rows
        ),
    )


_HALF = note(
    "The {half} of a capability’s kept pairs: those whose similarity is at least the median.",
    half=MORE_SIMILAR,
)


def _parts(result: AuditResult) -> Section:
    rows = [one for one in result.measurements if one.subset is not None]
    keys = dict.fromkeys((one.capability, one.metric) for one in rows)
    groups = [
        block
        for capability, metric in keys
        for block in _group(
            heading("{metric} on {part}", metric=short_name(metric), part=capability or CLEAN),
            f"{short_name(metric)} on {capability or CLEAN}",
            [one for one in rows if (one.capability, one.metric) == (capability, metric)],
            result,
        )
    ]
    about = paragraph(
        "The same metrics on parts of the examples. A low value means that a target is less like "
        "the reference there; small n means wide intervals."
    )
    if any(one.subset == MORE_SIMILAR for one in rows):
        groups.insert(0, _HALF)
    none = paragraph("No part of the examples was measured separately.")
    return Section(
        anchor="losses",
        title="Invariance by part",
        heading="Invariance by part of the examples",
        blocks=(about, *groups) if groups else (none,),
    )
