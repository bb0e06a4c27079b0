"""The page of an audit: what each target keeps of the invariances of one or several references.

Random changes are dots: how far each moves the reference, and each target.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence

import numpy as np

from reports.blocks import (
    Block,
    Card,
    Column,
    Fold,
    Moves,
    Page,
    Passage,
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
from reports.builders.outcomes import all_outcomes, model_lines, outcome_lines, outcomes_section
from reports.builders.run import asked, asked_differently, folded, reproduce, run_lines
from reports.charts import Colour, Panel
from reports.prose import joined, prose
from reports.wording import Cell, number, p_value, short
from scope.estimation.audits import MORE_SIMILAR
from scope.estimation.pairs import random_changes
from scope.jobs.audit.answer import (
    about,
    answer_blocks,
    heading_of,
    to_do,
    verdict_sentences,
    written_verdicts,
)
from scope.jobs.audit.examples import (
    MOST_EXAMPLES,
    Shown,
    answer_in_short,
    changed_texts,
    example_section,
)
from scope.jobs.audit.limits import WrittenVerdict, in_order, measured_table, numbers_table
from scope.jobs.audit.page_matrix import matrix_page
from scope.metrics.catalog import metric_name
from scope.records import AuditResult, Estimate, ModelCard, marked


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


MOST_CHANGES, _MOST_DOTS = 400, 2_000
"""Most changes in a panel, and most dots in all panels, unless a panel has a hundred."""

_INSIDE = 0.98
"""The share of moves within the sides of a panel; the others are at its edge."""

_HARDLY = 0.2
"""A strength of reaction that is surely below this is nearly none."""


def moves_blocks(result: AuditResult) -> tuple[Block, ...]:
    """How models react to random changes; nothing where none was drawn, or all give labels alone.

    Capabilities that no verdict assesses are left out, and all but the first are folded.
    """
    assessed = {end.name for verdict in result.verdicts for end in verdict.endpoints}
    parts = [
        (card.name, blocks)
        for card in result.manifest.capabilities
        if not assessed or f"concordance on {card.name}" in assessed
        if (blocks := tuple(_on_capability(result, card.name)))
    ]
    others = (Fold(prose("Changes of {name}", name=name), blocks) for name, blocks in parts[1:])
    return (*(parts[0][1] if parts else ()), *others)


def _on_capability(result: AuditResult, capability: str) -> Iterator[Block]:
    """What a dot is, and a panel for every target that has probabilities."""
    numbers = {
        (row.metric, row.target): row.estimate
        for row in result.measurements
        if (row.capability, row.subset) == (capability, None)
        if isinstance(row.estimate, Estimate)
    }
    reference, *targets = result.manifest.models
    models = [n for n, card in enumerate(targets) if ("reach", card.name) in numbers]
    if not models or not result.candidates:
        return
    drawn = random_changes(capability, result.examples, result.candidates)
    rows = _sample(drawn.example_ids, min(MOST_CHANGES, max(100, _MOST_DOTS // len(models))))
    moved = np.array([drawn.moved(place)[rows] for place in (None, *models)])
    most = max(1, math.ceil(float(np.nanquantile(np.abs(moved), _INSIDE))))
    yield paragraph(
        "A dot is a random change of a text ({capability}; {shown} of {drawn}): across, how far it "
        "moves {reference}’s answer; up, the model’s (log odds, at most ±{most}). On the dashed "
        "line both move alike; in the red they move in opposite directions.",
        capability=capability,
        shown=len(rows),
        drawn=len(drawn.example_ids),
        reference=reference.name,
        most=most,
    )
    panels = []
    for place, up in zip(models, moved[1:].tolist(), strict=True):
        name = targets[place].name
        remark, verdict = _remark(result, targets[place], capability, numbers["reach", name])
        pairs = zip(moved[0].tolist(), up, strict=True)
        share = numbers.get(("concordance", name))
        same = [f"same reaction: {100 * share.value:.0f} of 100"] if share else []
        panels.append(
            Panel(
                name=name,
                remark=remark,
                verdict=verdict,
                words=(f"as strongly: {short(numbers['reach', name]).partition(' [')[0]}", *same),
                moves=tuple(None if math.isnan(pair[1]) else pair for pair in pairs),
                slope=numbers["reach", name].value,
                most=most,
            )
        )
    chosen = [each for each in result.candidates if each.capability == capability]
    texts, columns = [*changed_texts(result, "flipped", chosen)], [0, *(n + 1 for n in models)]
    of_changes = zip(rows, moved.T.tolist(), strict=True)
    cards = (_card(result, texts[row], columns, of_models) for row, of_models in of_changes)
    yield Moves(tuple(panels), tuple(cards))


def _sample(ids: Sequence[str], most: int) -> list[int]:
    """The rows that are shown, text by text in the order of the digests of their ids."""
    digests = {id_: hashlib.sha256(id_.encode(errors="replace")).digest() for id_ in ids}
    return sorted(range(len(ids)), key=lambda row: digests[ids[row]])[:most]


def _remark(
    result: AuditResult, card: ModelCard, capability: str, strength: Estimate
) -> tuple[str, Colour]:
    """What the verdict's limits on reactions say, or what the model is compared for."""
    states = {
        end.state
        for verdict in result.verdicts
        for end in verdict.endpoints
        if verdict.target == card.name and end.state != "not judged"
        if end.name in (f"concordance on {capability}", f"reach on {capability}")
    }
    if card.role != "target" or not states:
        roles = {"baseline": "yardstick", "floor": "trained independently"}
        return roles.get(card.role, ""), "pale"
    if "beyond" in states:
        return "✗ hardly reacts" if strength.high < _HARDLY else "✗ reacts otherwise", "bad"
    return ("✓ reacts alike", "good") if states == {"within"} else ("? too early to say", "open")


def _card(result: AuditResult, text: Shown, columns: Sequence[int], moved: Sequence[float]) -> Card:
    """A change: its words, and the answers and moves of the models in these columns."""
    example, labels = text.before.example, result.manifest.reference.labels
    names = (result.manifest.reference.name, *(card.name for card in result.manifest.targets))
    rows = (
        (
            names[column],
            joined((answer_in_short(side, labels) for side in text.models[column]), between=" → "),
            "–" if math.isnan(move) else number(move, signed=True),
        )
        for column, move in zip(columns, moved, strict=True)
    )
    gold = () if example.label is None else prose(" · gold label {label}", label=example.label)
    return Card(
        note=prose("example {id}{gold}", id=example.id, gold=gold),
        blocks=(
            *map(Passage, text.passages),
            Table.of({"Model": "name", "Answer": "text", "Move": "number"}, rows),
        ),
    )
