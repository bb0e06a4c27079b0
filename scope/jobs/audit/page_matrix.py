"""Who may replace whom: the page of an audit with several references, and parts of a pair's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from types import MappingProxyType
from typing import NamedTuple

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
from reports.builders.answer import three_parts
from reports.builders.estimates import CLEAN, short_name, table_of
from reports.builders.run import folded, run_lines
from reports.charts import Grid, grid
from reports.prose import Span, Style, Text, prose, together, written
from reports.wording import (
    Cell,
    p_value,
    percent,
    short,
    short_points,
)
from scope.estimation import PRIMARY_ON_CAPABILITIES
from scope.jobs.audit.answer import (
    answered,
    estimates_of_models,
    exploratory,
    further_command,
    how_sure,
    text_blocks,
    where_blocks,
)
from scope.jobs.audit.examples import MOST_EXAMPLES, example_section
from scope.jobs.audit.limits import Answered, limits_table
from scope.jobs.audit.verdict_words import carrying, in_plain_words, listed
from scope.printing import counted
from scope.records import (
    AnswerShares,
    AuditMatrix,
    AuditResult,
    Endpoint,
    Estimate,
    Manifest,
    Measurement,
    ReplacementDecision,
    Undefined,
    marked,
)

_WORDS: Mapping[ReplacementDecision, tuple[str, Style, str]] = MappingProxyType(
    {
        "may replace": ("✓ may", "good", "{n} may be made"),
        "may not": ("✗ may not", "alarm", "{n} may not be made"),
        "not shown": ("? too early", "open", "for {n} it is too early to say"),
    }
)
"""In a cell, its style, and in the heading."""


class Direction(NamedTuple):
    """One model in place of another: the verdict in words, if any, and the audit that has it."""

    target: str
    audit: AuditResult
    answer: Answered | None

    @property
    def reference(self) -> str:
        """The model to replace."""
        return self.audit.manifest.reference.name

    @property
    def same(self) -> Estimate | Undefined | None:
        """The share of unchanged texts to which both give the same answer."""
        return estimates_of_models(self.audit, "iid_agreement", None).get(self.target)


def directions(audits: Iterable[AuditResult]) -> list[Direction]:
    """Every target in place of every reference, in the order of the audits."""
    every = []
    for audit in audits:
        answers = {each.verdict.target: each for each in answered(audit)}
        names = (card.name for card in audit.manifest.targets if card.role == "target")
        every += [Direction(name, audit, answers.get(name)) for name in names]
    return every


def counted_verdicts(every: Sequence[Direction]) -> Text:
    """How many replacements may be made, as the heading of a page."""
    decisions = [each.answer.verdict.decision for each in every if each.answer]
    if not decisions:
        return prose("No verdict on who may replace whom: no text was changed at random")
    counts = [(decisions.count(decision), words) for decision, (*_, words) in _WORDS.items()]
    known = [(str(count), words) for count, words in counts if count]
    nouns = [counted(int(known[0][0]), "replacement"), *(count for count, _ in known[1:])]
    parts = [words.format(n=n) for n, (_, words) in zip(nouns, known, strict=True)]
    return prose(f"Who may replace whom? {listed([parts[0].capitalize(), *parts[1:]])}")


_LIMITS = {
    "accuracy": "at most {points:.3g} points less accurate",
    "agreement": "with the same answer to at least {share:.3g}\u00a0% of texts",
    "keeps": "at most {points:.3g} points less often with the same answer after random changes",
}


def about_directions(every: Sequence[Direction]) -> Text:
    """What a cell means, its main limits, the texts, and how sure it is."""
    answers = [each.answer for each in every if each.answer]
    if not answers:
        return prose("A cell compares the model of its row with that of its column.")
    limits = {end.measure: end.limit for end in answers[0].verdict.endpoints[::-1] if end.limit}
    main = [
        words.format(points=-100 * limits[measure], share=100 * limits[measure])
        for measure, words in _LIMITS.items()
        if measure in limits
    ]
    cell = prose(
        "✓: the model of the row, in place of that of the column, is within all [[limits|limits]]: "
        f"{{main}}. Each cell is judged by itself, on {_texts(every)} texts.",
        main=listed(main or ["see below"]),
    )
    # The least sure of all.
    return together(cell, how_sure(sorted(answers, key=lambda a: (not a.looks, not a.combined))))


def _texts(every: Sequence[Direction]) -> str:
    """How many texts were asked unchanged, and changed."""
    audits = [each.audit for each in every]
    unchanged = {audit.manifest.data[0].used for audit in audits}
    changed = {len({each.perturbation.example_id for each in a.candidates}) for a in audits}
    ends = (sorted({min(counts), max(counts)}) for counts in (unchanged, changed))
    counts = (" to ".join(f"{count:,}" for count in both) for both in ends)
    return " unchanged and ".join(counts) + " changed"


def who_replaces_whom(every: Sequence[Direction], *, brief: bool = False) -> Table:
    """The verdict on each model of a row in place of each of a column, and the same answers.

    ``brief`` fits a terminal: signs in place of words.
    """
    of_pairs = {(each.target, each.reference): each for each in every}
    references = list(dict.fromkeys(each.reference for each in every))
    shares = {share.model: share for each in every for share in each.audit.answer_shares}
    rows = [
        (written(name), *map(_in_short, cells))
        if brief
        else (_name(name, shares), *map(_cell, cells))
        for name in dict.fromkeys((*references, *(each.target for each in every)))
        if any(cells := [of_pairs.get((name, reference)) for reference in references])
    ]
    head = "for {name}" if brief else "in place of {name}"
    heads = (Column(prose(head, name=name)) for name in references)
    about = prose("✓ may, ✗ may not, ? too early to say; same answers in per cent")
    columns = (Column("" if brief else "Model", "name"), *heads)
    return Table.with_columns(columns, rows, caption=about if brief else (), close=True)


def _name(model: str, shares: Mapping[str, AnswerShares]) -> Text:
    """A model with its accuracy."""
    name, accuracy = written(marked(model, [*shares.values()])), shares[model].accuracy
    if not isinstance(accuracy, Estimate):
        return name
    return (*name, Span(f"\n{percent(accuracy.value)}\u00a0% right", "note"))


def _in_short(direction: Direction | None) -> Text:
    if direction is None:
        return prose("–")
    sign = _WORDS[direction.answer.verdict.decision][0][0] if direction.answer else ""
    same = percent(direction.same.value) if isinstance(direction.same, Estimate) else "–"
    return (Span(f"{sign} {same}".lstrip()),)


def _cell(direction: Direction | None) -> Text:
    """A verdict, the share of same answers, and what keeps it from ✓."""
    if direction is None:
        return prose("–")
    head, lines = [], []
    if isinstance(direction.same, Estimate):
        lines.append(f"{percent(direction.same.value)}\u00a0% same answers")
    if direction.answer is None:
        lines += _reactions(direction)
    else:
        verdict = direction.answer.verdict
        words, style, _ = _WORDS[verdict.decision]
        head = [Span(words, style)]
        if verdict.decision != "may replace":
            lines.append(verdict.reason or _number(carrying(verdict)[0]))
    return (*head, *(Span(f"\n{line}", "note") for line in lines))


def _number(end: Endpoint) -> str:
    number = short_points(end.estimate) if (end.limit or 0) < 0 else short(end.estimate)
    return f"{in_plain_words(end.measure)} {number}"


def _reactions(direction: Direction) -> Iterator[str]:
    """Same reaction on each capability, or else Hard-SCoPE."""
    for card in direction.audit.manifest.capabilities:
        for row in _main(direction.audit, card.name):
            if row.target == direction.target:
                yield f"{short_name(row.metric)} on {card.name} {short(row.estimate)}"


def most_telling(every: Sequence[Direction]) -> Direction:
    """The direction with the worst verdict, and of several the one with the fewest same answers."""
    order = ("may not", "not shown", "may replace")

    def worst(each: Direction) -> tuple[int, float]:
        decision = each.answer.verdict.decision if each.answer else "not shown"
        same = each.same.value if isinstance(each.same, Estimate) else 1.0
        return order.index(decision), same

    return min(every, key=worst)


def replacements(every: Sequence[Direction]) -> Iterator[Block]:
    """Who may replace whom; where the two of the worst verdict differ; and all limits."""
    yield who_replaces_whom(every)
    worst = most_telling(every)
    answers = [worst.answer] if worst.answer else []
    pair = note("{a} in place of {b}:", a=worst.target, b=worst.reference)
    yield three_parts(
        [pair, *where_blocks(worst.audit, answers)],
        [pair, *text_blocks(worst.audit, answers)],
        [*_to_do(every)],
    )


def limits_section(every: Sequence[Direction]) -> Iterator[Section]:
    """The limits of each replacement; none without verdicts."""
    if answers := [each.answer for each in every if each.answer]:
        blocks = (limits_table(answers),)
        head = "The limits of each replacement"
        yield Section(anchor="limits", title="Limits", heading=head, blocks=blocks)


def _to_do(every: Sequence[Direction]) -> Iterator[Block]:
    """Which replacements to make, which not, and the command that decides an open one."""
    yield paragraph("Use a model in place of another where it has a ✓.")
    undecided = [(each, each.answer.words) for each in every if each.answer]
    undecided = [(each, words) for each, words in undecided if words.options]
    for each, words in undecided[:1]:
        named = prose("{a} in place of {b}", a=each.target, b=each.reference)
        yield paragraph("Open for {named}. {more}:", named=named, more=words.more)
        yield Preformatted(further_command(_alone(each), [words.options]))
    if undecided[1:]:
        yield paragraph("Likewise for the other {n} with a ?.", n=len(undecided) - 1)


def _alone(direction: Direction) -> Manifest:
    """The manifest of the audit of one direction, with its own command."""
    manifest = direction.audit.manifest
    (target,) = (card for card in manifest.targets if card.name == direction.target)
    models = r" --(?:reference|target|group)[ =](?:'[^']*'|\S+)| --both-directions"
    options = re.sub(models, "", manifest.command).removeprefix("scope audit")
    command = (
        f"scope audit --reference {quote(manifest.reference.spec)} --target {quote(target.spec)}"
    )
    return replace(manifest, command=f"{command}{options}")


def matrix_page(result: AuditResult, numbers: Section, about: Iterable[Section]) -> Page:
    """The whole report of an audit with several references."""
    manifest, every = result.manifest, directions(result.audits)
    names = ", ".join(card.name for card in manifest.references)
    worst = most_telling(every)
    return Page(
        title=f"SCoPE {manifest.job}: a matrix of {names}",
        heading=counted_verdicts(every),
        about=about_directions(every),
        sections=(
            Section(anchor="answer", title="Answer", blocks=tuple(replacements(every))),
            *limits_section(every),
            example_section(worst.audit, most=MOST_EXAMPLES),
            *folded(_over_models(result), numbers, *about),
        ),
        brief=(*_notes(every), who_replaces_whom(every, brief=True), *run_lines(result.clock)),
    )


def _notes(every: Sequence[Direction]) -> Iterator[Paragraph]:
    """Runs that make verdicts exploratory."""
    looks = (look for each in every if each.answer for look in each.answer.looks)
    yield from exploratory(list(dict.fromkeys(looks)))


def _over_models(result: AuditResult) -> Section:
    """Likeness on each capability, and what all models show together."""
    matrix = result.matrix
    blocks = (
        *_likeness(result),
        *(_both_directions(matrix) if matrix else ()),
        *(_tables(matrix) if matrix else ()),
    )
    kept = tuple(block for block in blocks if block is not None)
    return Section(anchor="numbers", title="Over all models", blocks=kept)


def _main(result: AuditResult, capability: str) -> list[Measurement]:
    """Concordance on a capability, or else Hard-SCoPE."""
    rows = [row for row in result.measurements if row.capability == capability and not row.subset]
    for metric in PRIMARY_ON_CAPABILITIES:
        of_metric = [row for row in rows if row.metric == metric]
        if any(isinstance(row.estimate, Estimate) for row in of_metric):
            return of_metric
    return []


def _likeness(result: AuditResult) -> Iterator[Grid | None]:
    """Same reaction on each capability, or else Hard-SCoPE: rows are references."""
    targets = [card.name for card in result.manifest.models if card.role != "reference"]
    for card in result.manifest.capabilities:
        if rows := _main(result, card.name):
            yield grid(
                f"{in_plain_words(rows[0].metric)} on {card.name}; a row is a reference",
                {(str(row.against), row.target): row.estimate for row in rows},
                rows=[reference.name for reference in result.manifest.references],
                columns=targets,
                heading="",
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


def _tables(matrix: AuditMatrix) -> Iterator[Table | None]:
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
