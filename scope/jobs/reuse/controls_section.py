"""The numbers behind a verdict: each kind of evidence, and each control."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from reports.blocks import Block, Column, Heading, Row, Section, Table, heading, note
from reports.builders.estimates import meanings
from reports.prose import Text, joined, prose, written
from reports.wording import Cell, number, p_value, percent, short
from scope.jobs.reuse.kinds import explained_kinds, kind_heading, small_strip
from scope.records import Evidence, Verdict


def headed(verdict: Verdict, verdicts: Sequence[Verdict]) -> tuple[Heading, ...]:
    """The heading of a verdict's part of a section; none with a single reference."""
    if len(verdicts) < 2:
        return ()
    return (heading("Compared with {reference}", reference=verdict.reference),)


def evidence_section(verdicts: Sequence[Verdict]) -> Section | None:
    """The evidence of every verdict that has any."""
    found = [one for one in verdicts if one.evidence]
    if not found:
        return None
    blocks: list[Block] = [
        meanings(explained_kinds(one for verdict in found for one in verdict.evidence)),
        note(
            "A higher value is more similar to the reference. Each strip has its own scale: dots "
            "are controls, the diamond is the suspect, the bar its interval over questions. “p "
            "alone” is the share of models at least as similar by this kind alone; no verdict "
            "depends on it. Kinds that decide do so together, in the joint statistic."
        ),
    ]
    for verdict in found:
        blocks += (*headed(verdict, verdicts), evidence_table(verdict))
    return Section(anchor="evidence", title="Evidence", blocks=tuple(blocks))


def evidence_table(verdict: Verdict) -> Table:
    """Each kind of evidence: the suspect's value beside those of the controls."""
    counts = sorted({one.suspect.n for one in verdict.evidence if one.suspect.n})
    questions = " to ".join(f"{one:,}" for one in dict.fromkeys((*counts[:1], *counts[-1:])))
    return Table(
        columns=(
            Column("Evidence", "name"),
            Column("Suspect", "number"),
            Column("Controls: median, range", "number"),
            Column("Suspect among the controls", "strip"),
            Column("p alone", "number"),
            Column("Decides"),
        ),
        rows=tuple(
            Row(
                cells=(
                    _kind(one),
                    prose("{suspect}", suspect=short(one.suspect)),
                    _range([control.value for control in one.controls]),
                    small_strip(one, verdict.suspect),
                    p_value(one.p_value),
                    prose("yes" if one.decides else "no"),
                )
            )
            for one in verdict.evidence
        ),
        caption=prose("The suspect beside the controls, n = {questions}", questions=questions),
        close=True,
    )


def _kind(evidence: Evidence) -> Text:
    """The title with its parameters, and the perturbations that it was measured on."""
    title = kind_heading(evidence.kind)
    if not evidence.capability:
        return written(title)
    return prose("{kind} on {part}", kind=title, part=evidence.capability)


def _range(values: Sequence[float]) -> Text:
    if not values:
        return prose("none")
    median, low, high = (
        f"{value:.2f}".replace("-", "−")
        for value in (statistics.median(values), min(values), max(values))
    )
    return prose(f"{median} ({low} to {high})")


def controls_section(verdicts: Sequence[Verdict]) -> Section | None:
    """Every control with its rank, its evidence, its skill and its flags."""
    if not verdicts:
        return None
    about = note(
        "A good control is independent of the reference and about as skilled as the suspect. Skill "
        "is the accuracy, or without right answers the agreement with what most models answer. A "
        "control that guesses (unless the suspect does), answers too few questions or nearly "
        "always gives the same answer has no rank and does not count."
    )
    blocks: list[Block] = [about]
    for verdict in verdicts:
        blocks += (*headed(verdict, verdicts), _controls(verdict))
    return Section(
        # The page's script uses the id "controls" for its form.
        anchor="checks",
        title="Controls",
        heading="The suspect and every control",
        blocks=tuple(blocks),
    )


def _controls(verdict: Verdict) -> Table:
    return Table(
        columns=(
            Column("Rank", "number"),
            Column("Model", "name"),
            Column("Joint statistic", "number"),
            *(Column(_kind(one), "number") for one in verdict.evidence),
            Column("Skill", "number"),
            Column("Answered", "number"),
            Column("Comparable"),
            Column("Flags"),
        ),
        rows=tuple(_rows(verdict)),
        tall=True,
    )


def _rows(verdict: Verdict) -> Iterator[Row]:
    """The models by rank, of equals the suspect last, as in its p-value; then those without."""
    values = {one.model: one.value for one in verdict.standings}
    checks = {one.model: one for one in verdict.controls}
    kinds = [{one.model: one.value for one in kind.controls} for kind in verdict.evidence]
    by_rank = sorted(values, key=lambda name: (-values[name], name == verdict.suspect))
    names = [*by_rank, *(name for name in (verdict.suspect, *checks) if name not in values)]
    for place, name in enumerate(names, start=1):
        check, suspect = checks.get(name), name == verdict.suspect
        skill = verdict.skill if check is None else check.skill
        own = [Cell.of(kind.suspect).value for kind in verdict.evidence]
        theirs = [number(kind[name]) if name in kind else None for kind in kinds]
        yield Row(
            cells=(
                place if name in values else None,
                prose("{name} (suspect)", name=name) if suspect else name,
                number(values[name]) if name in values else None,
                *(own if suspect else theirs),
                prose("{skill}", skill=short(skill)),
                prose(f"{percent(check.given)}\u00a0%") if check else None,
                prose("yes" if check.comparable else "no") if check else None,
                joined(prose("**⚑ {flag}**", flag=one) for one in check.flags) if check else None,
            ),
            chosen=suspect,
        )
