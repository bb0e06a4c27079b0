"""The page of an audit: what each target keeps of the invariances of one or several references.

Random changes are dots: how far each moves the reference, and each target.

Who may replace whom: the page of an audit with several references, and parts of a pair's.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from reports.blocks import (
    Block,
    Card,
    Colour,
    Column,
    Fold,
    Moves,
    Page,
    Panel,
    Paragraph,
    Passage,
    Section,
    Table,
    heading,
    note,
    paragraph,
)
from reports.estimates import (
    CLEAN,
    SIGNS,
    differences_section,
    drift_section,
    numbers_section,
    short_name,
    spelled,
    table_of,
    three_parts,
)
from reports.prose import Span, Text, joined, prose, together, written
from reports.sections import (
    all_outcomes,
    asked,
    asked_differently,
    model_lines,
    outcome_lines,
    outcomes_section,
    page_of_run,
)
from reports.wording import (
    Cell,
    as_sentence,
    comma_list,
    number,
    p_value,
    percent,
    short,
    short_share,
)
from scope.errors import counted
from scope.estimation.audits import MORE_SIMILAR
from scope.estimation.pairs import AuditedPairs, random_changes
from scope.jobs.audit.answer import (
    DECISIONS,
    WrittenVerdict,
    about,
    allowed,
    answer_blocks,
    confirmed_regions,
    drift_lines,
    heading_of,
    how_sure,
    in_short,
    limits_table,
    measured_table,
    numbers_table,
    text_blocks,
    to_do,
    verdict_sentences,
    where_blocks,
    written_number,
    written_verdicts,
)
from scope.jobs.audit.examples import (
    MOST_EXAMPLES,
    Shown,
    answer_in_short,
    changed_texts,
    example_section,
)
from scope.metrics.catalog import metric_name
from scope.records import (
    AnswerShares,
    AuditMatrix,
    AuditResult,
    Estimate,
    ModelCard,
    Undefined,
    marked,
    own_id_of,
)
from scope.records.result import SAMPLED
from scope.verdicts.plan import is_own_yardstick
from scope.verdicts.words import carrying, in_plain_words, in_some, measured, nearest, whole


def page(result: AuditResult, *, max_pairs: int = MOST_EXAMPLES) -> Page:
    """The whole report of an audit; ``max_pairs`` limits the listed texts, not the counts."""
    manifest = result.manifest
    details = (_estimates(result), asked(manifest), outcomes_section(result))
    if result.matrix is not None:
        return _matrix_page(result, result.matrix, details)
    answers, moves = list(written_verdicts(result)), moves_blocks(result)
    react = Section(
        anchor="moves",
        title="Reactions",
        heading=f"Do they react as {manifest.reference.name} does?",
        blocks=moves,
    )
    differences = differences_section(result.differences, result.answer_shares)
    return page_of_run(
        manifest,
        result.clock,
        title=f"{manifest.job}: {manifest.reference.name}",
        heading=heading_of(answers) if answers else (),
        about=about(result, answers) if answers else (),
        answer=(*_notable(result), *(answer_blocks(result, answers) if answers else ())),
        findings=(react if moves else None, example_section(result, most=max_pairs)),
        details=(details[0], drift_section(result.drift), differences, *details[1:]),
        brief=_brief(result, answers),
        facts=model_lines(manifest),
    )


def _brief(result: AuditResult, answers: Sequence[WrittenVerdict]) -> Iterator[Block]:
    """The reasons, a line of numbers a target, and what to do."""
    yield from asked_differently(result.manifest.models)
    yield from verdict_sentences(answers)
    yield from _notable(result)
    for answer in answers:
        yield from islice(confirmed_regions(answer.verdict.target, result), 1)
    if answers:
        lines = dict.fromkeys(line for answer in answers for line in answer.words.notes)
        yield from (paragraph("{line}.", line=line) for line in lines)
        yield numbers_table(answers)
        yield from drift_lines(result, answers)
        yield from to_do(result, answers, brief=True)


def _notable(result: AuditResult) -> Iterator[Block]:
    """Why there is no verdict, models that are no evidence, and capabilities that failed."""
    if not result.verdict_lines():
        yield paragraph(
            "No verdict: random changes, which tell a target from a model that never moves, were "
            "not drawn."
        )
        if not result.audits and (table := measured_table(result)).columns[1:]:
            yield table
    first = result.manifest.models[0]
    if twice := measured(result, first.name, "self_agreement"):
        refused = first.reproducible == SAMPLED
        how = "without a temperature, which its server refuses" if refused else "at temperature 1"
        yield paragraph(
            f"Asked twice {how}, **{{name}}** gives the same answer on {{share}} of texts"
            f"{', the yardstick of same answers' * is_own_yardstick(result.manifest)}.",
            name=first.name,
            share=short_share(twice),
        )
    if silent := _cannot_score(result):
        yield paragraph(
            "Reactions of all models are how much their own answers change (word F1), as {names} "
            "cannot score a given answer.",
            names=joined(silent, last=" and "),
        )
    yield from _degenerate(result)
    yield from _failed(result)


def _cannot_score(result: AuditResult) -> list[str]:
    """The models that cannot score, so that all move by similarity."""
    if not (result.score and result.candidates):
        return []
    rows = zip(*((each.reference, *each.targets) for each in result.examples), strict=True)
    names = [result.manifest.reference.name, *(card.name for card in result.manifest.targets)]
    return [
        name
        for name, answers in zip(names, rows, strict=True)
        if all(answer.support is None for answer in answers)
    ]


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


_SOFT_OF_ANSWERS = (
    "How similar the target's own answers before and after are (word F1), where the change of the "
    "text left the reference's answer as it was."
)


def _estimates(result: AuditResult) -> Section:
    """The meaning of the metrics, each model's answers, and every number against each reference."""
    meanings = {"soft_scope": _SOFT_OF_ANSWERS} if result.score else {}
    names = (
        replace(name, meaning=meanings.get(name.head, name.meaning))
        for name in map(metric_name, dict.fromkeys(row.metric for row in result.measurements))
    )
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
    tables = map(_against, result.audits) if result.audits else _tables(result)
    blocks = (*filter(None, (answers,)), *tables)
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
    reference, *targets = result.manifest.models
    strengths = {
        place: strength
        for place, card in enumerate(targets)
        if isinstance(strength := measured(result, card.name, "reach", capability), Estimate)
    }
    if not strengths or not result.candidates:
        return
    drawn = random_changes(capability, result.examples, result.candidates)
    rows = _sample(drawn.example_ids, min(MOST_CHANGES, max(100, _MOST_DOTS // len(strengths))))
    moved = np.array([drawn.moved(place)[rows] for place in (None, *strengths)])
    most = max(1, math.ceil(float(np.nanquantile(np.abs(moved), _INSIDE))))
    yield paragraph(
        "A dot is a random change of a text ({capability}; {shown} of {drawn}): across, how far it "
        "moves {reference}’s answer; up, the model’s ({unit}, at most ±{most}). On the dashed "
        "line both move alike; in the red they move in opposite directions.",
        unit=_unit(drawn),
        capability=capability,
        shown=len(rows),
        drawn=len(drawn.example_ids),
        reference=reference.name,
        most=most,
    )
    chosen = [each for each in result.candidates if each.capability == capability]
    texts, columns = [*changed_texts(result, "flipped", chosen)], [0, *(n + 1 for n in strengths)]
    cards = [
        _card(result, texts[row], columns, of_models)
        for row, of_models in zip(rows, moved.T.tolist(), strict=True)
    ]
    panels = []
    for (place, strength), up in zip(strengths.items(), moved[1:].tolist(), strict=True):
        both = zip(moved[0].tolist(), up, strict=True)
        dots = tuple(None if math.isnan(dot[1]) else dot for dot in both)
        panels.append(_panel(result, targets[place], capability, strength, dots, most))
    yield Moves(tuple(panels), tuple(cards))


def _panel(
    result: AuditResult,
    card: ModelCard,
    capability: str,
    strength: Estimate,
    dots: tuple[tuple[float, float] | None, ...],
    most: float,
) -> Panel:
    """A model's moves beside the reference's, in the verdict's colour."""
    remark, colour = _remark(result, card, capability, strength)
    same = measured(result, card.name, "concordance", capability)
    words = [f"as strongly: {short(strength).partition(' [')[0]}"]
    if isinstance(same, Estimate):
        words.append(f"same reaction: {100 * same.value:.0f} of 100")
    return Panel(
        name=card.name,
        remark=remark,
        verdict=colour,
        words=tuple(words),
        moves=dots,
        slope=strength.value,
        most=most,
    )


def _unit(drawn: AuditedPairs) -> str:
    """The unit of moves."""
    if drawn.written is None:
        return "log odds"
    if drawn.written.scored:
        return "how likely the reference’s answer is: nats a token"
    return "word F1 of a model’s answers before and after, less 1"


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
    gold = () if example.label is None else prose(" · right: {gold}", gold=example.label)
    return Card(
        note=prose("example {id}{gold}", id=own_id_of(example.id), gold=gold),
        blocks=(
            *map(Passage, text.passages),
            Table.of({"Model": "name", "Answer": "text", "Move": "number"}, rows),
        ),
    )


class Direction(NamedTuple):
    """One model in place of another: the audit, the share of same answers, and the verdict."""

    target: str
    reference: str
    audit: AuditResult
    same: Estimate | Undefined | None
    answer: WrittenVerdict | None


def directions(audits: Iterable[AuditResult]) -> list[Direction]:
    """Every target in place of every reference, in the order of the audits."""
    every = []
    for audit in audits:
        reference = audit.manifest.reference.name
        answers = {each.verdict.target: each for each in written_verdicts(audit)}
        names = (card.name for card in audit.manifest.targets if card.role == "target")
        every += [
            Direction(a, reference, audit, measured(audit, a, "iid_agreement"), answers.get(a))
            for a in names
        ]
    return every


def counted_verdicts(every: Sequence[Direction]) -> Text:
    """How many replacements may be made, as the heading of a page."""
    answers = [each.answer for each in every if each.answer]
    decisions = [answer.verdict.decision for answer in answers]
    if not decisions:
        return prose("No verdict on who may replace whom: no text was changed at random")
    some = next(filter(None, (in_some(answer.verdict) for answer in answers)), "")
    yes, no, early = (decisions.count(each) for each in ("may replace", "may not", "not shown"))
    parts = [f"{yes} of {counted(len(decisions), 'replacement')} may be made{some}"]
    parts += [f"{no} may not be made"] * bool(no) + [f"{early} undecided"] * bool(early)
    parts += ["none is confirmed on new texts"] * any(answer.looks for answer in answers)
    return prose("; ".join(parts))


def about_directions(every: Sequence[Direction]) -> Text:
    """What a cell means, the texts, and how sure it is."""
    answers = [each.answer for each in every if each.answer]
    if not answers:
        return ()
    changed = (len({row.perturbation.example_id for row in a.audit.candidates}) for a in every)
    ends = (end for answer in answers for end in whole(answer.verdict.endpoints))
    limits = dict.fromkeys(
        f"{in_plain_words(end.measure)} ({allowed(end)})" for end in ends if end.limit is not None
    )
    cell = prose(
        "May the model of a row replace that of a column? ✓: {limits}. Pale: same answers, not "
        "judged. {unchanged} texts, {changed} also changed; each pair is judged by itself.",
        limits=comma_list([*limits]),
        unchanged=max(each.audit.manifest.data[0].used for each in every),
        changed=max(changed),
    )
    # The least sure of all.
    answers.sort(key=lambda answer: (not answer.looks, not answer.combined))
    return together(cell, how_sure(answers))


def who_replaces_whom(every: Sequence[Direction], *, brief: bool = False) -> Table:
    """The verdict on each model of a row in place of each of a column, and the same answers.

    ``brief`` fits a terminal.
    """
    of_pairs = {(each.target, each.reference): each for each in every}
    references = list(dict.fromkeys(each.reference for each in every))
    shares = {share.model: share for each in every for share in each.audit.answer_shares}
    is_f1 = every[0].audit.score == "f1"
    right = "" if brief else "word F1 {}" if is_f1 else "{} right"
    rows = [
        (_name(shares[name], right), *(_cell(each, brief=brief) for each in cells))
        for name in dict.fromkeys((*references, *(each.target for each in every)))
        if any(cells := [of_pairs.get((name, reference)) for reference in references])
    ]
    about = prose("✓ may, ✗ may not, ? too early; same answers, %")
    columns = (
        Column("May ↓ replace →", "name"),
        *(Column(prose("{name}", name=name)) for name in references),
    )
    return Table.with_columns(
        columns, rows, caption=about if brief else (), close=True, matrix=True
    )


def _name(share: AnswerShares, right: str) -> Text:
    """A model with its accuracy, unless the words for it are empty."""
    name, accuracy = written(marked(share.model, [share])), share.accuracy
    if not right or not isinstance(accuracy, Estimate):
        return name
    return (*name, Span("\n" + right.format(f"{percent(accuracy.value)}\u00a0%"), "note"))


def _cell(direction: Direction | None, *, brief: bool) -> Text:
    """A verdict, the share of same answers, and what keeps it from ✓."""
    if direction is None:
        return ()
    same, answer = direction.same, direction.answer
    share = percent(same.value) if isinstance(same, Estimate) else "–"
    if answer is None:
        return (Span(f"{share}\u00a0% same", "note"),)
    sign, style = SIGNS[answer.verdict.decision]
    words = f"{sign} {DECISIONS[answer.verdict.decision]}"
    if brief:
        return (Span(f"{words} {share}"),)
    end, why = nearest(carrying(answer.verdict)), written(answer.verdict.reason)
    if end is not None and not why:
        number = f"{in_short(end)} {written_number(end)}"
        passes = answer.verdict.decision == "may replace"
        why = (Span(number.partition(" [")[0] if passes else number, style),)
    return (Span(words, style), Span("\n"), *why, Span(f"\n{share}\u00a0% same", "note"))


def most_telling(every: Sequence[Direction]) -> Direction:
    """An open direction, or else one that may not, and of several that with fewest same answers."""
    order = ("not shown", "may not", "may replace")

    def first(each: Direction) -> tuple[int, float]:
        same = each.same.value if isinstance(each.same, Estimate) else 1.0
        return order.index(each.answer.verdict.decision) if each.answer else 0, same

    return min(every, key=first)


def replacements(every: Sequence[Direction]) -> Iterator[Block]:
    """Who may replace whom; where two of them differ, a text, and what to do."""
    yield who_replaces_whom(every)
    shown = most_telling(every)
    if shown.answer is None:
        return
    yield paragraph(
        f"{as_sentence(DECISIONS[shown.answer.verdict.decision])}, with the fewest same answers: "
        "**{a}** in place of **{b}**.",
        **{"a": shown.target, "b": shown.reference},
    )
    where = where_blocks(shown.audit, [shown.answer])
    texts = text_blocks(shown.audit, [shown.answer])
    yield three_parts([*where], [*texts], [*_to_do(every)])


def limits_section(every: Sequence[Direction]) -> Section:
    """The limits of each replacement."""
    table = limits_table([each.answer for each in every if each.answer])
    heading = "The limits of each replacement"
    return Section(anchor="limits", title="Limits", heading=heading, blocks=(table,))


def replacements_in_short(every: Sequence[Direction]) -> Iterator[Block]:
    """Who may replace whom, for a terminal, and what would decide an open replacement."""
    if looks := [each.answer for each in every if each.answer and each.answer.looks]:
        yield Paragraph(how_sure(looks))
    yield who_replaces_whom(every, brief=True)
    yield from _to_do(every, brief=True)


def _to_do(every: Sequence[Direction], *, brief: bool = False) -> Iterator[Block]:
    """Which replacements to make, and the command that decides the open one that is shown."""
    answers = [each.answer for each in every if each.answer]
    confirmed = ", once new texts confirm it" * any(answer.looks for answer in answers)
    some = any(answer.verdict.decision == "may replace" for answer in answers)
    only = f"Replace a model only where there is a ✓{confirmed}."
    yield paragraph(only if some else "Replace none yet.")
    shown = most_telling(every)
    if shown.answer and shown.answer.verdict.decision == "not shown":
        for each in every:
            if each.answer and each.answer.words.more and each is not shown:
                words = each.answer.words.more.partition("; if")[0].partition(". ")[0]
                yield paragraph(
                    "**{a} for {b}**: {words}.", a=each.target, b=each.reference, words=words
                )
        yield from to_do(shown.audit, [shown.answer], brief=brief)


def _matrix_page(result: AuditResult, matrix: AuditMatrix, details: Sequence[Section]) -> Page:
    """The whole report of an audit with several references."""
    every, notable = directions(result.audits), list(_notable(result))
    names = ", ".join(card.name for card in result.manifest.references)
    return page_of_run(
        result.manifest,
        result.clock,
        title=f"{result.manifest.job}: {names}",
        heading=counted_verdicts(every),
        about=about_directions(every),
        answer=(*notable, *replacements(every)),
        findings=(
            limits_section(every) if any(each.answer for each in every) else None,
            example_section(most_telling(every).audit, most=MOST_EXAMPLES),
        ),
        details=(_over_models(matrix), *details),
        brief=(*notable, *replacements_in_short(every)),
    )


def _over_models(matrix: AuditMatrix) -> Section:
    """Asymmetries, correlations and means of groups."""
    tested = [row.p_adjusted for row in matrix.asymmetries if row.p_adjusted is not None]
    about = note(
        "In {clear} of {tested} tests a pair of models differs by its direction (p\u00a0<\u00a0"
        "0.05, Holm-corrected). Same reaction is tested, or Hard-SCoPE without it. A correlation "
        "is over all ordered pairs of models, with a jackknife over models: pairs that share a "
        "model are not independent. A mean leaves out a reference that is one of the group.",
        clear=sum(round(p, 3) < 0.05 for p in tested),
        tested=len(tested),
    )
    numbers: list[tuple[Any, ...]] = [
        (
            f"{row.second} given {row.first}, minus the reverse",
            *(row, p_value(row.p_value), p_value(row.p_adjusted)),
        )
        for row in matrix.asymmetries
    ]
    for row in matrix.correlations:
        numbers.append((f"correlation with {short_name(row.other)}", row, None, None))
    for group in matrix.groups:
        name = f"mean of {group.group} ({counted(len(group.members), 'model')})"
        numbers.append((f"{name} against {group.against}", group, None, None))
    heads = ("number", "capability", "metric", "value", "p", "p, adjusted")
    rows = (
        (*(name, row.capability or CLEAN, short_name(row.metric), Cell.of(row.estimate)), *ps)
        for name, row, *ps in numbers
    )
    table = table_of("Over all models", heads, rows)
    blocks: tuple[Block, ...] = (about, *([table] if table else []))
    return Section(anchor="numbers", title="Over all models", blocks=blocks)
