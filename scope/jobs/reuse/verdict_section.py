"""What a test of reuse answers first: a box and a picture for each reference, and a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from reports.blocks import (
    Block,
    Bullets,
    Callout,
    Column,
    Figure,
    Fold,
    Paragraph,
    Row,
    Section,
    Table,
    Terms,
    heading,
    note,
    paragraph,
)
from reports.builders.outcomes import model_lines
from reports.builders.run import run_lines
from reports.prose import Text, joined, prose, together, written
from reports.wording import p_value, short
from scope.jobs.reuse.controls_section import evidence_table
from scope.jobs.reuse.kinds import at_least, strip_chart, threshold
from scope.records import Decision, ReuseResult, Verdict

MOST_WARNINGS = 2
"""Warnings shown at once; the others are folded."""

_FRAMES: Mapping[Decision, tuple[Literal["related", "not-related", "undecided"], str]] = (
    MappingProxyType(
        {
            "related": ("related", "◆"),
            "not related": ("not-related", "○"),
            "undecided": ("undecided", "?"),
        }
    )
)
"""The frame of each decision and its sign, so that colour is never the only one."""


def verdict_section(verdicts: Sequence[Verdict]) -> Section:
    """A box a reference, each with the suspect among its controls."""
    blocks: list[Block] = [Paragraph(text, lead=True) for text in sources(verdicts)]
    for one in verdicts:
        blocks += (_box(one, several=len(verdicts) > 1), *_picture(one, verdicts))
    none = paragraph("No verdict was reached.")
    return Section(anchor="answer", title="Verdict", blocks=tuple(blocks or [none]))


def brief_blocks(result: ReuseResult) -> Iterator[Block]:
    """What a terminal shows: the verdict with its evidence, or a row a reference."""
    verdicts = result.verdicts
    if len(verdicts) > 1:
        yield from map(Paragraph, sources(verdicts))
        yield _verdicts_table(verdicts)
        changes = [(one.reference, text) for one in verdicts for text in one.changes[:1]]
        yield Terms(tuple((written(name), written(text)) for name, text in changes), facts=True)
    for verdict in verdicts if len(verdicts) == 1 else ():
        sentence = verdict.sentence
        yield paragraph(f"**{verdict.decision.upper()}**: {{sentence}}", sentence=sentence)
        yield Terms(tuple(_remarks(verdict)), facts=True)
        yield evidence_table(verdict)
    if models := tuple(model_lines(result.manifest)):
        yield Terms(models, facts=True)
    yield from run_lines(result.clock)


def _head(verdict: Verdict, *, several: bool) -> Text:
    """The decision with its sign, and the reference where there are others."""
    head = f"**{_FRAMES[verdict.decision][1]} {verdict.decision}**"
    return prose(f"{head} to **{{name}}**", name=verdict.reference) if several else prose(head)


def _remarks(verdict: Verdict) -> Iterator[tuple[Text, Text]]:
    """What would change a verdict, the first warnings, and the p-values."""
    for change in verdict.changes:
        yield prose("would change it"), written(change)
    for warning in verdict.warnings[:MOST_WARNINGS]:
        yield prose("warning"), written(warning)
    if (more := len(verdict.warnings) - MOST_WARNINGS) > 0:
        yield prose("warning"), prose("{more} more: --verbose", more=more)
    yield from verdict_facts(verdict, several=False).pairs[:-1]


def _verdicts_table(verdicts: Sequence[Verdict]) -> Table:
    numbers = (Column(name, "number") for name in ("p", "p, adjusted", "Warnings"))
    rows = (
        (one.reference, one.decision, p_value(one.p_value), p_value(one.p_adjusted))
        for one in verdicts
    )
    return Table(
        columns=(Column("Reference", "name"), Column("Verdict"), *numbers),
        rows=tuple(
            Row(cells=(*row, len(one.warnings))) for row, one in zip(rows, verdicts, strict=True)
        ),
        close=True,
    )


def _box(verdict: Verdict, *, several: bool) -> Callout:
    """The verdict, what would change it, its warnings, and its numbers behind a line."""
    blocks: list[Block] = [
        Paragraph(_head(verdict, several=several), lead=True),
        Paragraph(written(verdict.sentence)),
    ]
    for title, lines in (
        ("Why it is not clearer", verdict.reasons),
        ("What would change it", verdict.changes),
        ("⚠ Warnings", verdict.warnings[:MOST_WARNINGS]),
    ):
        if lines:
            blocks += (heading(title, level=4), Bullets(tuple(map(written, lines))))
    if more := tuple(map(written, verdict.warnings[MOST_WARNINGS:])):
        blocks.append(Fold(prose("{n} more warnings", n=len(more)), (Bullets(more),)))
    facts = (verdict_facts(verdict, several=several), _NULL)
    blocks.append(Fold(prose("p-value, controls and questions"), facts))
    return Callout(_FRAMES[verdict.decision][0], tuple(blocks))


_NULL = note(
    "Null hypothesis: the suspect is no more similar to the reference than independent models of "
    "its skill are. The p-value by rank is the share of models, including the suspect, that are at "
    "least as similar to the reference; that by agreement is the probability of at least this "
    "agreement for a model of the suspect’s skill, where controls that answer alike count as fewer."
)


def sources(verdicts: Sequence[Verdict]) -> Iterator[Text]:
    """The references by decision, the related ones first; nothing with a single reference."""
    if len(verdicts) < 2:
        return
    found = {
        decision: joined(
            (
                prose("**{name}**", name=one.reference)
                for one in verdicts
                if one.decision == decision
            ),
            last=" and ",
        )
        for decision in _FRAMES
    }
    if not found["related"]:
        yield prose("The suspect is found **related to none** of the references.")
    claims = (
        "The suspect is found **related** to {names}.",
        "It is found **not related** to {names}.",
        "It is **undecided** whether it is related to {names}.",
    )
    yield from (
        prose(claim, names=names)
        for claim, names in zip(claims, found.values(), strict=True)
        if names
    )


def verdict_facts(verdict: Verdict, *, several: bool) -> Terms:
    """The numbers of a verdict; with several references, the corrected p-value as well."""
    pairs = [(prose("p-value of the verdict"), _p_values(verdict, several=several))]
    if verdict.assume_no_label_training:
        assumed = prose("the suspect was not trained on answers of the reference")
        pairs.append((prose("Assumed"), assumed))
    questions = prose(
        "{shared} answered by both; the suspect was asked {queries} times",
        shared=verdict.shared,
        queries=verdict.queries,
    )
    pairs += [(prose("Controls"), _controls(verdict)), (prose("Questions"), questions)]
    return Terms(tuple(pairs), facts=True)


def _p_values(verdict: Verdict, *, several: bool) -> Text:
    """The p-value that decides, beside alpha, and the two that it is the greater of."""
    p, adjusted = (
        "none" if one is None else verdict.written(one)
        for one in (verdict.p_value, verdict.p_adjusted)
    )
    corrected = f"; after Holm’s correction over the references {adjusted}" if several else ""
    parts = ""
    if verdict.agreement is not None and verdict.p_rank is not None:
        rank, agreement = map(verdict.written, (verdict.p_rank, verdict.agreement.p_value))
        parts = f": {rank} by rank, {agreement} by agreement"
    return prose(f"{p}{corrected} (α\u00a0=\u00a0{verdict.alpha:g}){parts}")


def _controls(verdict: Verdict) -> Text:
    """How many controls there are, and how many of them count."""
    ranked = {standing.model for standing in verdict.standings}
    skipped = sum(check.model not in ranked for check in verdict.controls)
    no_rank = f"; {skipped} {'has' if skipped == 1 else 'have'} no usable answers, or guess"
    agreement = verdict.agreement
    worth = f"; they count as {agreement.independent:.1f} independent ones" if agreement else ""
    return prose(
        f"{{controls}}, at least {{needed}} are needed{no_rank if skipped else ''}; {{comparable}} "
        f"comparable with the suspect, at least {{comparable_needed}} are needed{worth}",
        controls=len(verdict.controls),
        needed=verdict.controls_needed,
        comparable=verdict.comparable,
        comparable_needed=verdict.comparable_needed,
    )


def rate_of_one(verdicts: Sequence[Verdict]) -> float:
    """The p-value that suffices for any one of these verdicts, whatever the others are.

    Holm's method compares the smallest of several p-values with the error rate divided by their
    number.
    """
    return verdicts[0].alpha / len(verdicts)


def _picture(verdict: Verdict, verdicts: Sequence[Verdict]) -> Iterator[Block]:
    """The suspect among the controls, what it must exceed, and the closest control."""
    rate = rate_of_one(verdicts)
    controls = [one for one in verdict.standings if one.model != verdict.suspect]
    suspect = next((one for one in verdict.standings if one.model == verdict.suspect), None)
    chart = strip_chart(suspect, controls, rate)
    if chart is not None:
        yield Figure(chart)
    place = prose("The suspect has no joint statistic.")
    if suspect:
        place = prose(
            "{above} of {controls} controls are at least as similar to the reference as the "
            "suspect.",
            above=at_least(suspect.value, controls),
            controls=len(controls),
        )
    few = prose(
        "So few controls allow no p-value by rank below {smallest}: {needed} are needed.",
        smallest=p_value(1 / (len(controls) + 1)),
        needed=verdict.controls_needed,
    )
    enough = bool(controls) and threshold(rate, controls) is not None
    yield Paragraph(together(place, () if enough else few, _paired(verdict)))


def _paired(verdict: Verdict) -> Text:
    """The suspect against the control that decides its rank, question by question."""
    test = verdict.paired
    if test is None:
        return ()
    more = test.difference.value > 0
    p = p_value(test.p_more if more else test.p_less)
    return prose(
        f"Question by question it is {'more' if more else 'no more'} similar to the reference "
        "than the control **{control}**: difference {difference} "
        f"(p {p if p.startswith('<') else f'= {p}'}).",
        control=test.control,
        difference=short(test.difference),
    )
