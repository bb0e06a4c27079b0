"""Who may replace whom: the page of an audit with several references, and parts of a pair's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from reports.blocks import Block, Column, Page, Paragraph, Section, Table, note, paragraph
from reports.estimates import CLEAN, SIGNS, short_name, table_of, three_parts
from reports.prose import Span, Text, prose, together, written
from reports.sections import folded, run_lines
from reports.wording import Cell, as_sentence, comma_list, p_value, percent
from scope.jobs.audit.answer import how_sure, text_blocks, to_do, where_blocks, written_verdicts
from scope.jobs.audit.examples import MOST_EXAMPLES, example_section
from scope.jobs.audit.limits import (
    WORDS,
    WrittenVerdict,
    allowed,
    in_short,
    limits_table,
    written_number,
)
from scope.jobs.audit.verdict_words import (
    carrying,
    in_plain_words,
    in_some,
    measured,
    nearest,
    whole,
)
from scope.printing import counted
from scope.records import AnswerShares, AuditMatrix, AuditResult, Estimate, Undefined, marked


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
    rows = [
        (_name(shares[name], brief=brief), *(_cell(each, brief=brief) for each in cells))
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


def _name(share: AnswerShares, *, brief: bool) -> Text:
    """A model with its accuracy."""
    name, accuracy = written(marked(share.model, [share])), share.accuracy
    if brief or not isinstance(accuracy, Estimate):
        return name
    return (*name, Span(f"\n{percent(accuracy.value)}\u00a0% right", "note"))


def _cell(direction: Direction | None, *, brief: bool) -> Text:
    """A verdict, the share of same answers, and what keeps it from ✓."""
    if direction is None:
        return ()
    same, answer = direction.same, direction.answer
    share = percent(same.value) if isinstance(same, Estimate) else "–"
    if answer is None:
        return (Span(f"{share}\u00a0% same", "note"),)
    sign, style = SIGNS[answer.verdict.decision]
    words = f"{sign} {WORDS[answer.verdict.decision]}"
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
        f"{as_sentence(WORDS[shown.answer.verdict.decision])}, with the fewest same answers: "
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


def matrix_page(
    result: AuditResult, notable: Sequence[Block], numbers: Section, about: Iterable[Section]
) -> Page:
    """The whole report of an audit with several references."""
    manifest, every = result.manifest, directions(result.audits)
    names = ", ".join(card.name for card in manifest.references)
    judged = any(each.answer for each in every)
    return Page(
        title=f"SCoPE {manifest.job}: {names}",
        heading=counted_verdicts(every),
        about=about_directions(every),
        sections=(
            Section(anchor="answer", title="Answer", blocks=(*notable, *replacements(every))),
            *([limits_section(every)] if judged else []),
            example_section(most_telling(every).audit, most=MOST_EXAMPLES),
            *folded(*([_over_models(result.matrix)] if result.matrix else []), numbers, *about),
        ),
        brief=(*notable, *replacements_in_short(every), *run_lines(result.clock)),
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
