"""The sections with the numbers behind a verdict: the suspect's rank, and each evidence."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from reports.blocks import (
    Beside,
    Block,
    Column,
    Figure,
    Fold,
    Heading,
    Paragraph,
    Row,
    Section,
    Table,
    folded,
    heading,
    note,
    paragraph,
)
from reports.builders.estimates import meanings
from reports.prose import Span, Text, prose, together, written
from reports.wording import Cell, number, p_value
from scope.jobs.reuse.kinds import (
    at_least,
    explained_kinds,
    kind_heading,
    kind_name,
    parameters_of,
    small_strip,
    strip_chart,
    threshold,
)
from scope.records import Evidence, ModelScore, PairedTest, Verdict

OPEN_ROWS = 28
"""A longer table is folded."""

P_ALONE = (
    "“p alone” is the share of models at least as similar to the reference by this kind of "
    "evidence alone. It is not corrected for the number of kinds, and no verdict depends on it: "
    "the kinds in the joint statistic decide together, with the p-value of the verdict. The "
    "others are shown for information."
)
"""How the p-values of the evidence are to be read."""


def headed(verdict: Verdict, verdicts: Sequence[Verdict]) -> tuple[Heading, ...]:
    """The heading of a verdict's part of a section; none with a single reference."""
    if len(verdicts) < 2:
        return ()
    return (heading("Compared with {reference}", reference=verdict.reference),)


def rate_of_one(verdicts: Sequence[Verdict]) -> float:
    """The p-value that suffices for any one of these verdicts, whatever the others are.

    Holm's method compares the smallest of several p-values with the error rate divided by their
    number.
    """
    return verdicts[0].alpha / len(verdicts)


def suspect_named(model: str) -> Text:
    """The suspect's name in a table of models."""
    return prose("{model} (suspect)", model=model)


def standings_section(verdicts: Sequence[Verdict]) -> Section:
    """The null distribution of every verdict: the suspect's rank among the controls."""
    return Section(
        anchor="standings",
        title="Among the controls",
        heading="The suspect among the controls",
        blocks=(
            paragraph(
                "The joint statistic combines all evidence that decides into one number per "
                "model. The values of the controls are the null distribution. Controls that "
                "guess, answer too few questions or nearly always give the same answer are left "
                "out. “Related” requires three significant results: a rank above the controls, a "
                "paired test over the questions against the closest control, and more agreement "
                "with the reference than models of the suspect’s skill have."
            ),
            *(
                block
                for verdict in verdicts
                for block in (*headed(verdict, verdicts), _standing(verdict, verdicts))
            ),
        ),
    )


def _standing(verdict: Verdict, verdicts: Sequence[Verdict]) -> Block:
    rate = rate_of_one(verdicts)
    controls = [one for one in verdict.standings if one.model != verdict.suspect]
    suspect = next((one for one in verdict.standings if one.model == verdict.suspect), None)
    chart = strip_chart(suspect, controls, rate)
    explained = together(
        _place(suspect, controls), _reachable(verdict, controls, rate, several=len(verdicts) > 1)
    )
    blocks: list[Block] = [] if chart is None else [Figure(chart)]
    blocks.append(Paragraph(explained))
    if verdict.paired is not None:
        decisive = threshold(rate, controls)
        closest = verdict.paired.control
        marked = any(one.model == closest and one.value == decisive for one in controls)
        blocks.append(paired_sentence(verdict.paired, marked=marked))
    if not verdict.standings:
        return Beside((tuple(blocks),), wide=True)
    return Beside((tuple(blocks), _ranks(verdict, suspect)), wide=True)


def _ranks(verdict: Verdict, suspect: ModelScore | None) -> tuple[Block, ...]:
    # Of equals the suspect is last, as in its p-value.
    ranked = sorted(verdict.standings, key=lambda one: (-one.value, one is suspect))
    table = Table(
        columns=(
            Column("Rank", "number"),
            Column("Model", "name"),
            Column("Joint statistic", "number"),
        ),
        rows=tuple(
            Row(
                cells=(
                    rank,
                    suspect_named(one.model) if one is suspect else one.model,
                    number(one.value),
                ),
                chosen=one is suspect,
            )
            for rank, one in enumerate(ranked, start=1)
        ),
    )
    return folded(prose("The numbers"), (table,), when=len(ranked) > OPEN_ROWS)


def _place(suspect: ModelScore | None, controls: Sequence[ModelScore]) -> Text:
    if suspect is None:
        return prose("The suspect has no joint statistic.")
    above = at_least(suspect.value, controls)
    return prose(
        f"{{above}} of {{controls}} controls {'is' if above == 1 else 'are'} at least as similar "
        "to the reference as the suspect.",
        above=above,
        controls=len(controls),
    )


def _reachable(
    verdict: Verdict, controls: Sequence[ModelScore], rate: float, *, several: bool
) -> Text:
    """What a suspect must reach, or why none can reach it with so few controls."""
    decisive = threshold(rate, controls) if controls else None
    if decisive is not None:
        corrected = (
            ": α divided by the number of references, which is significant under Holm’s "
            "correction for any results of the others"
        )
        return prose(
            "A suspect with a joint statistic above {decisive}, the dashed line, has a p-value by "
            f"rank of at most {{rate}}{corrected if several else ''}.",
            decisive=number(decisive),
            rate=f"{rate:.3g}",
        )
    return prose(
        "With {controls} controls no p-value by rank can be smaller than {smallest}. For {rate} "
        "at least {needed} controls are needed.",
        controls=len(controls),
        smallest=p_value(1 / (len(controls) + 1)),
        rate=f"{rate:.3g}",
        needed=verdict.controls_needed,
    )


def paired_sentence(test: PairedTest, *, marked: bool = False) -> Paragraph:
    """The suspect against one control; ``marked`` where a dashed line is at that control."""
    return paragraph(
        f"Question by question, the suspect is {'more' if test.difference.value > 0 else 'no more'}"
        " similar to the reference than the control **{control}**"
        f"{', which is at the dashed line' if marked else ''}: the difference is {{difference}} on "
        "the joint scale. If the two were equally similar to the reference, a difference at least "
        "as large would have p {more}, one at most as large p {less}.",
        control=test.control,
        difference=Cell.of(test.difference, signed=True),
        more=_equation(test.p_more),
        less=_equation(test.p_less),
    )


def _equation(value: float) -> str:
    """A p-value with the sign before it.

    >>> _equation(0.25), _equation(0.0001)
    ('= 0.250', '< 0.001')
    """
    text = p_value(value)
    return text if text.startswith("<") else f"= {text}"


def evidence_table(verdict: Verdict) -> Table:
    """Each kind of evidence: the suspect's value beside those of the controls."""
    return Table(
        columns=(
            Column("Evidence", "name"),
            Column("Suspect", "estimate"),
            Column("Controls: median, range", "number"),
            Column("Suspect among the controls", "strip"),
            Column("p alone", "number"),
            Column("Decides"),
        ),
        rows=tuple(
            Row(
                cells=(
                    _kind(one),
                    Cell.of(one.suspect),
                    _range([control.value for control in one.controls]),
                    small_strip(one, verdict.suspect),
                    p_value(one.p_value),
                    prose("yes" if one.decides else "no"),
                )
            )
            for one in verdict.evidence
        ),
    )


def _kind(evidence: Evidence) -> Text:
    """The title with its parameters, and the perturbations that it was measured on."""
    name = kind_name(evidence.kind)
    title = list(written(name.label))
    if name.parameters:
        title += [Span(" "), Span(parameters_of(name), "code", foreign=True)]
    if evidence.capability:
        title += [Span("\n"), Span(f"on {evidence.capability}", "note", foreign=True)]
    return tuple(title)


def _range(values: Sequence[float]) -> Text:
    """The median, the number of controls with a value, and the range."""
    if not values:
        return prose("none")
    median, low, high = map(number, (statistics.median(values), min(values), max(values)))
    return (
        *prose("{median} (n\u00a0=\u00a0{count})", median=prose(median), count=len(values)),
        Span("\n"),
        Span(f"{low} to {high}", "note"),
    )


def evidence_section(verdicts: Sequence[Verdict], tables: Sequence[Table]) -> Section:
    """The evidence of every verdict that has any; ``tables`` are those of `evidence_table`."""
    return Section(
        anchor="evidence",
        title="Evidence",
        blocks=(
            meanings(explained_kinds(one for verdict in verdicts for one in verdict.evidence)),
            note(
                "A higher value is more similar to the reference. Each strip has its own scale: "
                "dots are controls, the diamond is the suspect, the bar its interval, which is "
                "over questions, not over retraining. " + P_ALONE
            ),
            *(
                block
                for verdict, table in zip(verdicts, tables, strict=True)
                for block in _of_verdict(verdict, verdicts, table)
            ),
        ),
    )


def _of_verdict(verdict: Verdict, verdicts: Sequence[Verdict], table: Table) -> Iterator[Block]:
    if verdict.evidence:
        yield from headed(verdict, verdicts)
        yield table
        yield Fold(prose("The value of every model"), (_every_value(verdict),))


def _every_value(verdict: Verdict) -> Table:
    """Every model's value of every kind, the suspect first."""
    values = [
        {control.model: number(control.value) for control in one.controls}
        | {verdict.suspect: Cell.of(one.suspect).value}
        for one in verdict.evidence
    ]
    names = dict.fromkeys([verdict.suspect, *(name for column in values for name in column)])
    return Table(
        columns=(
            Column("Model", "name"),
            *(Column(_column(one), "number") for one in verdict.evidence),
        ),
        rows=tuple(
            Row(
                cells=(
                    suspect_named(name) if name == verdict.suspect else name,
                    *(column.get(name) for column in values),
                ),
                chosen=name == verdict.suspect,
            )
            for name in names
        ),
    )


def _column(evidence: Evidence) -> Text:
    title = kind_heading(evidence.kind)
    if not evidence.capability:
        return written(title)
    return prose("{kind} on {part}", kind=title, part=evidence.capability)
