"""The tables of a test of reuse: each kind of evidence, and each model by rank."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from reports.blocks import Block, Column, Paragraph, Row, Section, Table, heading, note
from reports.builders.estimates import meanings
from reports.charts import Dot, SmallStrip
from reports.prose import Text, joined, prose, written
from reports.wording import Cell, number, p_value, percent, short
from scope.metrics import MetricName, metric_name
from scope.records import Estimate, Evidence, ModelScore, ReuseResult, Verdict

_NO_METRICS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "shared_mistakes": (
            "Shared mistakes",
            "wrong answers (unusual ones if the right answer is unknown) that the model shares "
            "with the reference more often than expected of independent models of its skill; an "
            "answer that many models give has little weight",
        ),
        "log_probabilities": (
            "Correlated probabilities",
            "correlation of the log-probabilities of the model and the reference, controlling for "
            "all other models",
        ),
    }
)
"""Title and meaning of the kinds of evidence that are no metrics."""


def by_reference(
    verdicts: Sequence[Verdict], block_of: Callable[[Verdict], Block | None]
) -> tuple[Block, ...]:
    """A block for each verdict that has one, below the reference's name if there are several."""
    blocks: list[Block] = []
    for verdict in verdicts:
        if (block := block_of(verdict)) is not None:
            if len(verdicts) > 1:
                blocks.append(heading("Compared with {reference}", reference=verdict.reference))
            blocks.append(block)
    return tuple(blocks)


def kind_name(spelling: str) -> MetricName:
    """Take the spelling of a kind of evidence apart; an unknown one keeps its spelling.

    Examples
    --------
    >>> kind_name("shared_mistakes").label, kind_name("capa").label
    ('Shared mistakes', 'CAPA')
    >>> kind_name("my_evidence(k=2)").label, dict(kind_name("my_evidence(k=2)").parameters)
    ('my_evidence(k=2)', {})
    """
    name = metric_name(spelling)
    if name.head in _NO_METRICS:
        label, meaning = _NO_METRICS[name.head]
        return replace(name, label=label, meaning=meaning)
    return name if name.meaning else replace(name, parameters={})


def kind_heading(spelling: str) -> str:
    """The title of a kind of evidence with its parameters, in one line.

    Examples
    --------
    >>> kind_heading("soft_scope(tolerance=0.1, cutoff=1.0)")
    'Soft-SCoPE (tolerance=0.1, cutoff=1.0)'
    """
    name = kind_name(spelling)
    parameters = ", ".join(f"{key}={value}" for key, value in name.parameters.items())
    return f"{name.label} ({parameters})" if parameters else name.label


def evidence_section(verdicts: Sequence[Verdict]) -> Section | None:
    """The evidence of every verdict that has any."""
    names = [kind_name(kind.kind) for verdict in verdicts for kind in verdict.evidence]
    if not names:
        return None
    about = (
        meanings({name.label: name for name in names if name.meaning}.values()),
        note(
            "A higher value is more similar to the reference. Each strip has its own scale: dots "
            "are controls, the diamond is the suspect, the bar its interval over questions. “p "
            "alone” is the share of models at least as similar by this kind alone; no verdict "
            "depends on it. Kinds that decide do so together, in the joint statistic."
        ),
    )
    tables = by_reference(
        verdicts, lambda verdict: evidence_table(verdict) if verdict.evidence else None
    )
    return Section(anchor="evidence", title="Evidence", blocks=(*about, *tables))


def evidence_table(verdict: Verdict) -> Table:
    """Each kind of evidence: the suspect's value beside those of the controls."""
    counts = sorted({kind.suspect.n for kind in verdict.evidence if kind.suspect.n})
    questions = " to ".join(f"{n:,}" for n in dict.fromkeys((*counts[:1], *counts[-1:])))
    return Table.of(
        {
            **{"Evidence": "name", "Suspect": "number", "Controls: median, range": "number"},
            **{"Suspect among the controls": "strip", "p alone": "number", "Decides": "text"},
        },
        (
            (
                *(_kind(kind), prose("{suspect}", suspect=short(kind.suspect))),
                *(_range(kind.controls), _strip(kind), p_value(kind.p_value)),
                prose("yes" if kind.decides else "no"),
            )
            for kind in verdict.evidence
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


def _range(controls: Sequence[ModelScore]) -> Text:
    if not controls:
        return prose("none")
    values = [control.value for control in controls]
    numbers = (statistics.median(values), min(values), max(values))
    return prose("{:.2f} ({:.2f} to {:.2f})".format(*numbers).replace("-", "−"))


def _strip(evidence: Evidence) -> SmallStrip | None:
    """The suspect among the controls; None without a value or without controls."""
    estimate, controls = evidence.suspect, evidence.controls
    if not isinstance(estimate, Estimate) or not controls:
        return None
    return SmallStrip(
        label=f"{kind_heading(evidence.kind)}: the suspect at {number(estimate.value)}; "
        f"{at_least(estimate.value, controls)} of {len(controls)} controls reach that; "
        "the numbers are in the tables",
        estimate=estimate,
        controls=tuple(map(dot, controls)),
    )


def dot(score: ModelScore) -> Dot:
    """A model's value as text and as a number.

    >>> dot(ModelScore(model="other", value=-0.25)).title
    'other: −0.250'
    """
    return Dot(title=f"{score.model}: {number(score.value)}", x=score.value)


def at_least(value: float, controls: Sequence[ModelScore]) -> int:
    """How many controls are at least as similar to the reference as a model with this value.

    >>> at_least(0.5, [ModelScore(model="a", value=0.5), ModelScore(model="b", value=0.25)])
    1
    """
    return sum(control.value >= value for control in controls)


def controls_section(result: ReuseResult) -> Section | None:
    """Every control with its rank, its evidence, its skill and its flags."""
    about = note(
        "A good control is independent of the reference and about as skilled as the suspect. Skill "
        "is the accuracy, or without right answers the agreement with what most models answer. A "
        "control that guesses (unless the suspect does), answers too few questions or nearly "
        "always gives the same answer has no rank and does not count."
    )
    if not result.verdicts:
        return None
    return Section(
        # The page's script uses the id "controls" for its form.
        anchor="checks",
        title="Controls",
        heading="The suspect and every control",
        blocks=(about, *_choice(result), *by_reference(result.verdicts, _controls)),
    )


def choice_sentence(result: ReuseResult) -> Text:
    """How many stored models became controls, by what, and the error rate that they allow."""
    ranked = min(len(verdict.standings) - 1 for verdict in result.verdicts)
    chosen = sum(not each.left_out for each in result.candidate_controls)
    return prose(
        f"{chosen} of {len(result.candidate_controls)} stored models are controls, chosen without "
        f"regard to the reference’s answers. {ranked} ranked controls allow an error rate of "
        f"1/{ranked + 1} = {1 / (ranked + 1):.3f}."
    )


def _choice(result: ReuseResult) -> Iterator[Block]:
    """Every stored model that could be a control, with its accuracy and why it was left out."""
    if not result.candidate_controls:
        return
    rows = [
        (each.model, short(each.skill), each.left_out or prose("**chosen**"))
        for each in result.candidate_controls
    ]
    yield Paragraph(choice_sentence(result))
    yield Table.of({"Model": "name", "Skill": "number", "Control": "text"}, rows, tall=True)


def _controls(verdict: Verdict) -> Table:
    return Table(
        columns=(
            Column("Rank", "number"),
            Column("Model", "name"),
            Column("Joint statistic", "number"),
            *(Column(_kind(kind), "number") for kind in verdict.evidence),
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
    values = {score.model: score.value for score in verdict.standings}
    checks = {check.model: check for check in verdict.controls}
    kinds = [
        {score.model: number(score.value) for score in kind.controls} for kind in verdict.evidence
    ]
    of_suspect = [Cell.of(kind.suspect).value for kind in verdict.evidence]
    ranked = sorted(values, key=lambda name: (-values[name], name == verdict.suspect))
    names = [*ranked, *(name for name in (verdict.suspect, *checks) if name not in values)]
    for rank, name in enumerate(names, start=1):
        check, is_suspect = checks.get(name), name == verdict.suspect
        yield Row(
            cells=(
                rank if name in values else None,
                prose("{name} (suspect)", name=name) if is_suspect else name,
                number(values[name]) if name in values else None,
                *(of_suspect if is_suspect else (kind.get(name) for kind in kinds)),
                prose("{skill}", skill=short(check.skill if check else verdict.skill)),
                prose(f"{percent(check.given)}\u00a0%") if check else None,
                prose("yes" if check.comparable else "no") if check else None,
                joined(prose("**⚑ {flag}**", flag=flag) for flag in check.flags) if check else None,
            ),
            chosen=is_suspect,
        )
