"""The tables of a test of reuse: each kind of evidence, and each model by rank."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from reports.blocks import Block, Column, Paragraph, Section, Table, heading, note
from reports.builders.estimates import meanings, spelled
from reports.prose import Text, joined, prose
from reports.wording import Cell, number, percent, range_of_counts, short
from scope.metrics.catalog import MetricName, metric_name
from scope.records import Evidence, ModelScore, ReuseResult, Verdict

_NO_METRICS: Mapping[str, tuple[str, str]] = {
    "shared_mistakes": (
        "Shared mistakes",
        "wrong answers (unusual ones if the right answer is unknown) that the model shares with "
        "the reference more often than expected of independent models of its skill; an answer "
        "that many models give has little weight",
    ),
    "log_probabilities": (
        "Correlated probabilities",
        "correlation of the log-probabilities of the model and the reference, controlling for all "
        "other models",
    ),
}
"""Title and meaning of the kinds of evidence that are no metrics."""


def by_reference(
    verdicts: Sequence[Verdict], blocks_of: Callable[[Verdict], Iterable[Block]]
) -> Iterator[Block]:
    """The blocks of each verdict that has some, below its reference's name if there are several."""
    for verdict in verdicts:
        if blocks := tuple(blocks_of(verdict)):
            if len(verdicts) > 1:
                yield heading("Compared with {reference}", reference=verdict.reference)
            yield from blocks


def kind_name(spelling: str) -> MetricName:
    """Take the spelling of a kind of evidence apart; an unknown one keeps its spelling.

    Examples
    --------
    >>> kind_name("shared_mistakes").label, kind_name("capa").label, kind_name("my_evidence").label
    ('Shared mistakes', 'CAPA', 'my_evidence')
    """
    name = metric_name(spelling)
    label, meaning = _NO_METRICS.get(name.head, (name.label, name.meaning))
    return replace(name, label=label, meaning=meaning)


def evidence_section(verdicts: Sequence[Verdict]) -> Section | None:
    """The evidence of every verdict that has any."""
    names = [kind_name(kind.kind) for verdict in verdicts for kind in verdict.evidence]
    if not names:
        return None
    about = note(
        "A higher value is more similar to the reference. Kinds that decide do so together, in the "
        "joint statistic of all pairs of models."
    )
    explained = meanings({name.label: name for name in names}.values())
    tables = by_reference(verdicts, evidence_table)
    return Section(anchor="evidence", title="Evidence", blocks=(explained, about, *tables))


def evidence_table(verdict: Verdict) -> Iterator[Table]:
    """Each kind of evidence: the suspect's value beside those of the controls."""
    if verdict.evidence:
        questions = range_of_counts(kind.suspect for kind in verdict.evidence)
        yield Table.of(
            {
                **{"Evidence": "name", "Suspect": "number", "Controls: median, range": "number"},
                "Decides": "text",
            },
            (
                (
                    *(_title(kind), short(kind.suspect), _range(kind.controls)),
                    "yes" if kind.decides else "no",
                )
                for kind in verdict.evidence
            ),
            caption=prose("The suspect beside the controls, n = {n}", n=questions),
            close=True,
        )


def _title(evidence: Evidence) -> Text:
    """The name of the evidence, and the perturbations that it was measured on."""
    parts = (spelled(kind_name(evidence.kind)), evidence.capability)
    return joined(filter(None, parts), between=" on ")


def _range(controls: Sequence[ModelScore]) -> str:
    if not controls:
        return "none"
    values = [control.value for control in controls]
    numbers = (statistics.median(values), min(values), max(values))
    return "{:.2f} ({:.2f} to {:.2f})".format(*numbers).replace("-", "−")


def controls_section(result: ReuseResult) -> Section:
    """Every control with its rank, its evidence, its skill and its flags."""
    about = note(
        "A good control is independent of the reference and about as skilled as the suspect. Skill "
        "is the accuracy, or without right answers the agreement with what most models answer. A "
        "control that guesses (unless the suspect does), answers too few questions or nearly "
        "always gives the same answer has no rank and does not count."
    )
    return Section(
        # The page's script uses the id "controls" for its form.
        anchor="checks",
        title="Controls",
        heading="The suspect and every control",
        blocks=(
            about,
            *_choice(result),
            *by_reference(result.verdicts, _controls),
            *by_reference(result.verdicts, _derivatives),
        ),
    )


def choice_sentence(result: ReuseResult) -> Text:
    """The number of stored models chosen, the criterion, and the error rate that they allow."""
    ranked = min(len(verdict.standings) - 1 for verdict in result.verdicts)
    pairs = (ranked + 2) * (ranked + 1) // 2
    chosen = sum(not each.left_out for each in result.candidate_controls)
    return prose(
        f"{chosen} of {len(result.candidate_controls)} stored models are controls, chosen without "
        f"regard to the reference’s answers. {ranked} ranked controls make {pairs} pairs: the "
        f"least p-value by rank is {1 / pairs:.2g}."
    )


def _choice(result: ReuseResult) -> Iterator[Block]:
    """Every stored model that could be a control, with its accuracy and why it was left out."""
    if result.candidate_controls:
        yield Paragraph(choice_sentence(result))
        rows = (
            (each.model, short(each.skill), each.left_out or prose("**chosen**"))
            for each in result.candidate_controls
        )
        yield Table.of({"Model": "name", "Skill": "number", "Control": "text"}, rows, tall=True)


def _controls(verdict: Verdict) -> Iterator[Table]:
    """The models by rank, of equals the suspect last, as in its p-value; then those without."""
    values = {score.model: score.value for score in verdict.standings}
    checks = {check.model: check for check in verdict.controls}
    flags = {check.model: check.flags for check in verdict.controls}
    evidence = [
        {verdict.suspect: Cell.of(kind.suspect).value}
        | {score.model: number(score.value) for score in kind.controls}
        for kind in verdict.evidence
    ]
    ranked = sorted(values, key=lambda name: (-values[name], name == verdict.suspect))
    yield Table.with_columns(
        (
            *(
                Column("Rank", "number"),
                Column("Model", "name"),
                Column("Joint statistic", "number"),
            ),
            *(Column(_title(kind), "number") for kind in verdict.evidence),
            *(Column("Skill", "number"), Column("Answered", "number"), Column("Flags")),
        ),
        (
            (
                rank if name in values else None,
                name if name in checks else prose("**{name}** (suspect)", name=name),
                number(values[name]) if name in values else None,
                *(kind.get(name) for kind in evidence),
                short(checks[name].skill if name in checks else verdict.skill),
                f"{percent(checks[name].given)}\u00a0%" if name in checks else None,
                joined(prose("**⚑ {flag}**", flag=flag) for flag in flags.get(name, ())),
            )
            for rank, name in enumerate(dict.fromkeys((*ranked, verdict.suspect, *checks)), start=1)
        ),
        tall=True,
    )


def _derivatives(verdict: Verdict) -> Iterator[Table]:
    """The known derivatives of the reference; copies do not count."""
    if verdict.derivatives:
        yield Table.of(
            {"Derivative": "name", "Same answers": "number", "At most as similar": "text"},
            (
                (
                    *(each.model, f"{percent(each.same)}\u00a0%"),
                    ("yes" if each.unlike else "no") if each.counted else "a copy: does not count",
                )
                for each in verdict.derivatives
            ),
            caption=prose("Known derivatives: is one at most as similar as the suspect?"),
            tall=True,
        )
