"""The verdict on each reference: a box and a picture, and the text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Literal

from reports.blocks import (
    Block,
    Bullets,
    Callout,
    Figure,
    Fold,
    Paragraph,
    Section,
    Table,
    Terms,
    heading,
    note,
    paragraph,
)
from reports.builders.outcomes import model_lines
from reports.builders.run import run_lines
from reports.charts import among_controls
from reports.prose import Text, joined, prose, together, written
from reports.wording import number, p_value, short
from scope.jobs.reuse.models_page import at_least, choice_sentence, dot, evidence_table
from scope.records import Decision, ModelScore, ReuseResult, Verdict
from scope.statistics.conformal import threshold_rank

MOST_WARNINGS = 2
"""Number of warnings shown at once; the others are folded."""

_DECISIONS: Mapping[Decision, tuple[Literal["related", "not-related", "undecided"], str, str]] = (
    MappingProxyType(
        {
            "related": ("related", "◆", "The suspect is found **related** to {names}."),
            "not related": ("not-related", "○", "It is found **not related** to {names}."),
            "undecided": (
                "undecided",
                "?",
                "It is **undecided** whether it is related to {names}.",
            ),
        }
    )
)
"""The frame of each decision, its sign, so that colour is never the only one, and a sentence."""


def verdict_section(verdicts: Sequence[Verdict]) -> Section:
    """A box for each reference, each with the suspect among its controls."""
    blocks: list[Block] = [Paragraph(text, lead=True) for text in sources(verdicts)]
    for verdict in verdicts:
        blocks += (_box(verdict, several=len(verdicts) > 1), *_picture(verdict, verdicts))
    none = paragraph("No verdict was reached.")
    return Section(anchor="answer", title="Verdict", blocks=tuple(blocks or [none]))


def brief_blocks(result: ReuseResult) -> Iterator[Block]:
    """The terminal's text: the verdict with its evidence, or a row for each reference."""
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
    if result.candidate_controls and verdicts:
        yield Paragraph(choice_sentence(result))
    if models := tuple(model_lines(result.manifest)):
        yield Terms(models, facts=True)
    yield from run_lines(result.clock)


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
    numbers = ("p", "p, adjusted", "Warnings")
    rows = (
        (
            *(verdict.reference, verdict.decision, p_value(verdict.p_value)),
            *(p_value(verdict.p_adjusted), len(verdict.warnings)),
        )
        for verdict in verdicts
    )
    return Table.of(
        {"Reference": "name", "Verdict": "text", **dict.fromkeys(numbers, "number")},
        rows,
        close=True,
    )


def _box(verdict: Verdict, *, several: bool) -> Callout:
    """The verdict, what would change it, its warnings, and its numbers behind a line."""
    frame, sign, _ = _DECISIONS[verdict.decision]
    head = f"**{sign} {verdict.decision}**"
    named = prose(f"{head} to **{{name}}**", name=verdict.reference) if several else prose(head)
    blocks: list[Block] = [Paragraph(named, lead=True), Paragraph(written(verdict.sentence))]
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
    return Callout(frame, tuple(blocks))


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
    if all(verdict.decision != "related" for verdict in verdicts):
        yield prose("The suspect is found **related to none** of the references.")
    for decision, (_, _, claim) in _DECISIONS.items():
        names = [
            prose("**{name}**", name=verdict.reference)
            for verdict in verdicts
            if verdict.decision == decision
        ]
        if names:
            yield prose(claim, names=joined(names, last=" and "))


def verdict_facts(verdict: Verdict, *, several: bool) -> Terms:
    """The numbers of a verdict; with several references, the corrected p-value as well."""
    agreement, needed = verdict.agreement, "at least {:,} are needed".format
    p, adjusted = (
        "none" if value is None else verdict.written(value)
        for value in (verdict.p_value, verdict.p_adjusted)
    )
    p_values = f"{p}; after Holm’s correction over the references {adjusted}" if several else p
    p_values += f" (α\u00a0=\u00a0{verdict.alpha:g})"
    if agreement is not None and verdict.p_rank is not None:
        # The verdict's p-value is the greater of the two.
        rank, by_agreement = map(verdict.written, (verdict.p_rank, agreement.p_value))
        p_values += f": {rank} by rank, {by_agreement} by agreement"
    ranked = {score.model for score in verdict.standings}
    controls = f"{len(verdict.controls):,}, {needed(verdict.controls_needed)}"
    if skipped := sum(check.model not in ranked for check in verdict.controls):
        controls += f"; {skipped} {'has' if skipped == 1 else 'have'} no usable answers, or guess"
    controls += f"; {verdict.comparable:,} comparable with the suspect, "
    controls += needed(verdict.comparable_needed)
    if agreement is not None:
        controls += f"; all together count as {agreement.independent:.1f} independent ones"
    facts = {"p-value of the verdict": p_values}
    if verdict.assume_no_label_training:
        facts["Assumed"] = "the suspect was not trained on answers of the reference"
    facts["Controls"] = controls
    facts["Questions"] = (
        f"{verdict.shared:,} answered by both; the suspect was asked {verdict.queries:,} times"
    )
    return Terms(tuple((prose(name), prose(fact)) for name, fact in facts.items()), facts=True)


def rate_of_one(verdicts: Sequence[Verdict]) -> float:
    """The p-value that suffices for any one of these verdicts, whatever the others are.

    Holm's method compares the smallest of several p-values with the error rate divided by their
    number.
    """
    return verdicts[0].alpha / len(verdicts)


def _picture(verdict: Verdict, verdicts: Sequence[Verdict]) -> Iterator[Block]:
    """The suspect among the controls, what it must exceed, and the closest control."""
    rate = rate_of_one(verdicts)
    controls = [score for score in verdict.standings if score.model != verdict.suspect]
    suspect = next((score for score in verdict.standings if score.model == verdict.suspect), None)
    values, threshold = [score.value for score in controls], threshold_of(rate, controls)
    place, rank = prose("The suspect has no joint statistic."), "the suspect has none"
    if suspect is not None:
        above = at_least(suspect.value, controls)
        place = prose(
            f"{above:,} of {len(controls):,} controls are at least as similar to the reference as "
            "the suspect."
        )
        rank = (
            f"the suspect at {number(suspect.value)}, where {above} controls are at least as "
            "similar to the reference"
        )
    if controls:
        chart = among_controls(
            label=f"Joint statistic: {len(controls)} controls from {number(min(values))} to "
            f"{number(max(values))}; {rank}; the numbers are in the table",
            x_title="joint statistic (to the right: more similar)",
            controls=tuple(map(dot, controls)),
            suspect=None if suspect is None else replace(dot(suspect), name=suspect.model),
            threshold=threshold,
            rate=f"{rate:.3g}",
        )
        yield Figure(chart)
    few = prose(
        "So few controls allow no p-value by rank below {smallest}: {needed} are needed.",
        smallest=p_value(1 / (len(controls) + 1)),
        needed=verdict.controls_needed,
    )
    yield Paragraph(together(place, few if threshold is None else (), _paired(verdict)))


def threshold_of(rate: float, controls: Sequence[ModelScore]) -> float | None:
    """The value that a suspect must exceed for a p-value of at most ``rate``; None if none is.

    >>> controls = [ModelScore(model=str(place), value=float(place)) for place in range(9)]
    >>> threshold_of(0.1, controls), threshold_of(0.2, controls), threshold_of(0.05, controls)
    (8.0, 7.0, None)
    """
    rank = threshold_rank(rate, len(controls)) if controls else None
    return None if rank is None else sorted(score.value for score in controls)[-1 - rank]


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
