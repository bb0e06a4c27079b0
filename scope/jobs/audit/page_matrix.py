"""Who may replace whom: the page of an audit with several references, and parts of a pair's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from reports.blocks import (
    Block,
    Column,
    Page,
    Paragraph,
    Preformatted,
    Section,
    Table,
    note,
    paragraph,
)
from reports.builders.answer import SIGNS, three_parts
from reports.builders.estimates import CLEAN, short_name, table_of
from reports.builders.run import folded, run_lines
from reports.prose import Span, Text, prose, together, written
from reports.wording import Cell, p_value, percent
from scope.jobs.audit.answer import (
    how_sure,
    text_blocks,
    to_do_blocks,
    where_blocks,
    written_verdicts,
)
from scope.jobs.audit.examples import MOST_EXAMPLES, example_section
from scope.jobs.audit.limits import WrittenVerdict, allowed, limits_table, written_number
from scope.jobs.audit.verdict_words import carrying, in_plain_words, measured, whole
from scope.printing import counted
from scope.records import (
    AnswerShares,
    AuditMatrix,
    AuditResult,
    Estimate,
    ReplacementDecision,
    Undefined,
    marked,
)

_WORDS: Mapping[ReplacementDecision, tuple[str, str]] = MappingProxyType(
    {
        "may replace": ("may", "{n} may be made"),
        "may not": ("may not", "{n} may not be made"),
        "not shown": ("too early", "for {n} it is too early to say"),
    }
)
"""In a cell, and in the heading."""


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
    counts = [(decisions.count(decision), words) for decision, (*_, words) in _WORDS.items()]
    parts = ", ".join(words.format(n=count) for count, words in counts if count)
    replaced = counted(len(decisions), "replacement")
    confirmed = "; none is confirmed on new texts" * any(answer.looks for answer in answers)
    return prose(f"Of {replaced} of one model by another, {parts}{confirmed}")


def about_directions(every: Sequence[Direction]) -> Text:
    """What a cell means, the texts, and how sure it is."""
    answers = [each.answer for each in every if each.answer]
    if not answers:
        return ()
    changed = (len({row.perturbation.example_id for row in a.audit.candidates}) for a in every)
    judged = (end for end in whole(answers[0].verdict.endpoints) if end.limit is not None)
    limits = dict.fromkeys(f"{in_plain_words(end.measure)} {allowed(end)}" for end in judged)
    cell = prose(
        "Each row: may its model take the place of the one at the head of the column? ✓ within all "
        "limits ({limits}), ✗ beyond one. Each is judged by itself, on up to {unchanged} texts, "
        "{changed} also changed.",
        limits=", ".join(limits),
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
    heads = (
        Column(prose("in place of {name}", name=name), short=f"for {name}") for name in references
    )
    about = prose("✓ may, ✗ may not, ? too early; same answers, %")
    columns = (Column("Model", "name"), *heads)
    return Table.with_columns(columns, rows, caption=about if brief else (), close=True, cards=True)


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
    sign, style = SIGNS[answer.verdict.decision] if answer else ("", "plain")
    words = f"{sign} {_WORDS[answer.verdict.decision][0]}" if answer else ""
    if brief:
        return (Span(f"{words} {share}"),)
    lines = [f"{share}\u00a0% same answers"]
    if answer and answer.verdict.decision != "may replace":
        end = carrying(answer.verdict)[0]
        number = f"{in_plain_words(end.measure)} {written_number(end)}"
        lines.append(answer.verdict.reason or number)
    return (Span(words, style), *(Span(f"\n{line}", "note") for line in lines))


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
    answers = [shown.answer] if shown.answer else []
    yield paragraph("**{a}** in place of **{b}**:", a=shown.target, b=shown.reference)
    where, slices = where_blocks(shown.audit, answers)
    texts = text_blocks(shown.audit, answers)
    yield three_parts([*where, *slices], [*texts], [*_to_do(every)])


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
    # The options stand in the sentence.
    yield from (block for block in _to_do(every) if not isinstance(block, Preformatted))


def _to_do(every: Sequence[Direction]) -> Iterator[Block]:
    """Which replacements to make, and the command that decides the open one that is shown."""
    answers = [each.answer for each in every if each.answer]
    confirmed = ", once new texts confirm it" * any(answer.looks for answer in answers)
    some = any(answer.verdict.decision == "may replace" for answer in answers)
    only = f"Replace a model only where there is a ✓{confirmed}."
    yield paragraph(only if some else "Replace none yet.")
    shown = most_telling(every)
    if shown.answer and shown.answer.verdict.decision == "not shown":
        yield from to_do_blocks(shown.audit, [shown.answer])


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
        "0.05, Holm-corrected; --both-directions compares all models both ways). Concordance is "
        "tested, or else Hard-SCoPE; the other describes. A correlation is over all ordered pairs "
        "of models, with a jackknife over models: pairs that share a model are not independent. A "
        "mean leaves out a reference that is one of the group.",
        clear=sum(round(p, 3) < 0.05 for p in tested),
        tested=len(tested),
    )
    heads = ("number", "capability", "metric", "value", "p", "p, adjusted")
    rows = (
        (name, row.capability or CLEAN, short_name(row.metric), Cell.of(row.estimate), *tests)
        for name, row, *tests in _numbers(matrix)
    )
    table = table_of("Over all models", heads, rows)
    blocks: tuple[Block, ...] = (about, *([table] if table else []))
    return Section(anchor="numbers", title="Over all models", blocks=blocks)


def _numbers(matrix: AuditMatrix) -> Iterator[tuple[Any, ...]]:
    """Each number over all models: its name, its record, and its p-values."""
    for row in matrix.asymmetries:
        tests = map(p_value, (row.p_value, row.p_adjusted))
        yield f"{row.second} given {row.first}, minus the reverse", row, *tests
    for each in matrix.correlations:
        yield f"correlation with {short_name(each.other)}", each, None, None
    for group in matrix.groups:
        models = counted(len(group.members), "model")
        yield f"mean of {group.group} ({models}) against {group.against}", group, None, None
