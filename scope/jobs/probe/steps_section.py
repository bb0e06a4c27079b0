"""The steps of each model's probe, and the differences between models."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from reports.blocks import Block, Column, Row, Section, Table, Terms
from reports.builders.run import code
from reports.prose import Span, Text, prose, together
from reports.wording import Cell, number, short
from scope.records import Estimate, ProbeFindings, StepScore, Undefined

RAW = "raw"
"""The step that only selects a layer."""

STEP_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        RAW: "nothing is trained: the cosine of the best layer on the development pairs",
        "mlp": "a trained linear layer on the cosines of all layers",
        "siamese": "an encoder a layer before the cosine, trained from a random initialization",
        "autoencoder": "the same, initialized from autoencoders of sentences without scores",
        "final": "the same, initialized from whitened principal components; loss log Var(ŷ − y)",
    }
)

MOST_IN_TERMINAL = 12
"""The most steps in a terminal."""


def of_model(findings: ProbeFindings, model: str) -> tuple[StepScore, ...]:
    """A model's scores in the order of the steps."""
    return tuple(score for score in findings.scores if score.model == model)


def last_scores(findings: ProbeFindings) -> tuple[StepScore, ...]:
    """The score of each model's last step, in the order of the models."""
    found = (of_model(findings, model.name) for model in findings.models)
    return tuple(scores[-1] for scores in found if scores)


def some_seen(findings: ProbeFindings) -> bool:
    """Whether some test pairs share a sentence with the training pairs; False for a saved probe."""
    return findings.train > 0 and findings.unseen < findings.test


def spread(values: Sequence[float | None]) -> str:
    """Mean and standard deviation over several seeds; empty for fewer than two seeds.

    >>> spread([0.75, 0.78, 0.81]), spread([0.75])
    ('3 seeds: 0.780\xa0±\xa00.030', '')
    >>> spread([0.75, None, 0.81]), spread([None, None])
    ('2 of 3 seeds: 0.780\xa0±\xa00.042', '0 of 2 seeds: undefined')
    """
    if len(values) < 2:
        return ""
    known = [value for value in values if value is not None]
    mean = number(statistics.mean(known)) if known else "undefined"
    deviation = f"\xa0±\xa0{number(statistics.stdev(known))}" if len(known) > 1 else ""
    defined = "" if len(known) == len(values) else f"{len(known)} of "
    return f"{defined}{len(values)} seeds: {mean}{deviation}"


def short_table(scores: Sequence[StepScore]) -> Table:
    """A row a step for the terminal, with the model's name in its first row."""
    names = ["", *(one.model for one in scores)]
    return Table(
        columns=(
            Column("Model", "name"),
            Column("Step"),
            *(Column(name, "number") for name in ("Pearson", "Spearman", "Gain")),
        ),
        rows=tuple(
            Row(
                cells=(
                    one.model if one.model != before else None,
                    one.step,
                    *(_short(value) for value in (one.pearson, one.spearman, one.gain)),
                )
            )
            for before, one in zip(names, scores, strict=False)
        ),
        most=MOST_IN_TERMINAL,
        close=True,
    )


def _short(estimate: Estimate | Undefined | None) -> Text:
    if not isinstance(estimate, Estimate):
        return prose("–")
    return (Span(short(estimate, narrow=True)),)


def steps_section(findings: ProbeFindings) -> Section | None:
    """The steps of all models in one table, and the differences of models; None without steps."""
    if not findings.scores:
        return None
    unseen = ["Unseen"] if some_seen(findings) else []
    numbers = ("Pearson", *unseen, "Spearman", "Mean error", "Gain over previous step")
    table = Table(
        columns=(
            Column("Step", "name"),
            Column("Trained parameters", "number"),
            *(Column(name, "estimate") for name in numbers),
        ),
        rows=tuple(_row(score, unseen=bool(unseen)) for score in findings.scores),
        caption=_about(findings),
    )
    steps = dict.fromkeys(score.step for score in findings.scores)
    known = [one for one in steps if one in STEP_MEANINGS]
    meanings = tuple((code(one), prose(STEP_MEANINGS[one])) for one in known)
    blocks: list[Block] = [table, Terms(meanings, facts=True)]
    if findings.differences:
        blocks.append(_differences(findings))
    return Section(anchor="steps", title="Steps", blocks=tuple(blocks))


def _row(score: StepScore, *, unseen: bool) -> Row:
    cells = (
        (*code(score.step), Span("\n"), Span(score.model, "note", foreign=True)),
        score.parameters,
        replace(Cell.of(score.pearson), remark=spread(score.pearsons)),
        *([Cell.of(score.unseen)] if unseen else []),
        replace(Cell.of(score.spearman), remark=spread(score.spearmans)),
        Cell.of(score.error),
        None if score.gain is None else Cell.of(score.gain, signed=True),
    )
    return Row(cells=cells)


def _about(findings: ProbeFindings) -> Text:
    """How the table is read."""
    seeds = max(len(score.pearsons) for score in findings.scores)
    first = "Estimates are those of the first of {seeds} seeds."
    several = prose(first, seeds=seeds) if seeds > 1 else ()
    new = "Unseen: pairs that share no sentence with training or development pairs."
    unseen = prose(new) if some_seen(findings) else ()
    error = prose(
        "Error: the mean absolute difference from human scores of {low} to {high}.",
        low=f"{findings.low:g}",
        high=f"{findings.high:g}",
    )
    return together(several, unseen, error)


def _differences(findings: ProbeFindings) -> Table:
    """Differences between models, those of the last step first."""
    columns = (Column("Step", "name"), Column("First"), Column("Second"))
    return Table(
        columns=(*columns, Column("Difference", "estimate")),
        rows=tuple(
            Row(cells=(code(one.step), one.first, one.second, Cell.of(one.pearson, signed=True)))
            for one in reversed(findings.differences)
        ),
        caption=prose("Pearson of the first model minus the second"),
    )
