"""The section with the steps: their correlations and gains, and differences between models."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view import wording
from reports.view.probe_words import (
    RAW,
    STEPS,
    of_model,
    read_apart,
    side_of_chance,
    some_seen,
    spread,
)
from scope.records import ProbeDifference, ProbeFindings, StepScore
from scope.sections.charts import IntervalChart, estimate_chart


@dataclass(frozen=True, kw_only=True)
class StepRow:
    """One step of one model's probe; the spreads are None if there is one seed."""

    step: str
    parameters: int
    pearson: wording.Cell
    spearman: wording.Cell
    unseen: wording.Cell
    error: wording.Cell
    gain: wording.Cell | None
    beyond: str | None
    pearson_spread: str | None
    spearman_spread: str | None


@dataclass(frozen=True, kw_only=True)
class ModelSteps:
    """The steps of one model's probe, on the same test pairs."""

    model: str
    rows: tuple[StepRow, ...]


@dataclass(frozen=True, kw_only=True)
class StepDifference:
    """One model's correlation minus another's, at the same step, on the same pairs."""

    step: str
    first: str
    second: str
    cell: wording.Cell
    may_be_chance: bool


@dataclass(frozen=True, kw_only=True)
class Steps:
    """The steps of all models; ``seeds`` is the largest number of seeds of a step.

    ``unseen`` is whether some test pairs share a sentence with the training pairs; then the unseen
    pairs have a column. ``raw`` is whether there is a step ``raw``, ``apart`` whether compared
    models are read at different positions. ``meanings`` explains the steps.
    """

    models: tuple[ModelSteps, ...]
    chart: IntervalChart | None
    differences: tuple[StepDifference, ...]
    meanings: tuple[tuple[str, str], ...]
    seeds: int
    gains: bool
    unseen: bool
    raw: bool
    apart: bool
    findings: ProbeFindings
    low: str
    high: str


def steps_section(findings: ProbeFindings) -> Steps | None:
    """The steps of all models; None if no probe is scored."""
    if not findings.scores:
        return None
    names = tuple(dict.fromkeys(score.model for score in findings.scores))
    return Steps(
        models=tuple(
            ModelSteps(model=name, rows=tuple(map(_row, of_model(findings, name))))
            for name in names
        ),
        chart=_chart(findings, names),
        differences=tuple(map(_difference, findings.differences)),
        meanings=tuple(
            (step, STEPS[step])
            for step in dict.fromkeys(score.step for score in findings.scores)
            if step in STEPS
        ),
        seeds=max(len(score.pearsons) for score in findings.scores),
        gains=any(score.gain is not None for score in findings.scores),
        unseen=some_seen(findings),
        raw=any(score.step == RAW for score in findings.scores),
        apart=any(read_apart(findings, one.first, one.second) for one in findings.differences),
        findings=findings,
        low=f"{findings.low:g}",
        high=f"{findings.high:g}",
    )


def _row(score: StepScore) -> StepRow:
    return StepRow(
        step=score.step,
        parameters=score.parameters,
        pearson=wording.cell(score.pearson),
        spearman=wording.cell(score.spearman),
        unseen=wording.cell(score.unseen),
        error=wording.cell(score.error),
        gain=None if score.gain is None else wording.cell(score.gain, signed=True),
        beyond=side_of_chance(score.gain),
        pearson_spread=spread(score.pearsons),
        spearman_spread=spread(score.spearmans),
    )


def _chart(findings: ProbeFindings, names: tuple[str, ...]) -> IntervalChart | None:
    """The chart of the steps; None for a single value."""
    if len(findings.scores) < 2:
        return None
    return estimate_chart(
        "Pearson’s correlation with human scores by step; the numbers are in the tables",
        ((score.step, score.model, score.pearson) for score in findings.scores),
        names,
        close=True,
    )


def _difference(difference: ProbeDifference) -> StepDifference:
    return StepDifference(
        step=difference.step,
        first=difference.first,
        second=difference.second,
        cell=wording.cell(difference.pearson, signed=True),
        may_be_chance=side_of_chance(difference.pearson) == "unclear",
    )
