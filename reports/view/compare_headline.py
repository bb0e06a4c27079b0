"""The first section of a comparison of tasks: how alike the models are, and how often right."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from reports.view import wording
from reports.view.task_numbers import TaskEstimates, task_numbers
from scope.metrics import MetricName, metric_name
from scope.records import CompareResult, Estimate, Measurement

FEW_MODELS = 6
"""Up to this many models are named one by one; of more, the first and the last."""


@dataclass(frozen=True, kw_only=True)
class Pairing:
    """Two models and how alike they are; ``rivals`` counts pairs that may be so, too."""

    first: str
    second: str
    cell: wording.Cell
    rivals: int


@dataclass(frozen=True, kw_only=True)
class TaskAccuracy:
    """How often a model is right on a task, and which answers it gives.

    ``degenerate`` says why they carry no evidence, ``warning`` which answer is frequent.
    """

    task: str
    model: str
    accuracy: wording.Cell
    answers: str
    degenerate: str | None
    warning: str | None


@dataclass(frozen=True, kw_only=True)
class TaskFinding:
    """The answer for one task; ``reason`` says why there is none.

    ``alike`` holds the most and the least alike of the pairs, or the only one; pairs with a
    degenerate model are left out of it. ``gold`` holds the
    models' numbers against the right answers, of many models only the lowest and the highest.
    """

    task: str
    metric: str
    alike: tuple[Pairing, ...]
    gold_metric: str
    gold: tuple[tuple[str, wording.Cell], ...]
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class CompareHeadline:
    """The section's contents."""

    title: str
    models: int
    answers: tuple[TaskAccuracy, ...]
    findings: tuple[TaskFinding, ...]
    metrics: tuple[MetricName, ...]


def compare_headline(comparison: CompareResult) -> CompareHeadline:
    """The first section of the report on a comparison of tasks."""
    names = [card.name for card in comparison.manifest.models]
    found = {numbers.task: numbers for numbers in task_numbers(comparison)}
    missing = {
        outcome.capability: f"{outcome.status}: {outcome.reason or 'no reason given'}"
        for outcome in comparison.outcomes
        if outcome.status != "measured"
    }
    keys = (key for one in found.values() for key in (one.main_metric, _gold_metric(one)))
    return CompareHeadline(
        title=f"SCoPE compare: {_listed(names)}",
        models=len(names),
        answers=_answers(comparison),
        findings=tuple(
            _finding(
                card.name,
                found.get(card.name),
                missing.get(card.name, "not measured"),
                _degenerate(comparison, card.name),
            )
            for card in comparison.manifest.capabilities
        ),
        metrics=wording.explained(keys, comparison.manifest),
    )


def _listed(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= FEW_MODELS else f"{len(names)} models"


def _gold_metric(numbers: TaskEstimates) -> str:
    return "accuracy" if numbers.choice else "word_f1"


def _answers(comparison: CompareResult) -> tuple[TaskAccuracy, ...]:
    """Every model on every task, degenerate ones first."""
    rows = (
        TaskAccuracy(
            task=one.task,
            model=one.model,
            accuracy=wording.cell(one.accuracy),
            answers=one.in_words(),
            degenerate=one.degenerate,
            warning=one.warning,
        )
        for one in comparison.task_shares
    )
    return tuple(sorted(rows, key=lambda one: (one.degenerate is None, one.warning is None)))


def _degenerate(comparison: CompareResult, task: str) -> frozenset[str]:
    """The models whose answers to the task carry no evidence."""
    return frozenset(
        one.model
        for one in comparison.task_shares
        if one.task == task and one.degenerate is not None
    )


def _finding(
    task: str, numbers: TaskEstimates | None, missing: str, degenerate: Collection[str]
) -> TaskFinding:
    if numbers is None:
        return TaskFinding(task=task, metric="", alike=(), gold_metric="", gold=(), reason=missing)
    alike = _extremes(numbers, degenerate)
    return TaskFinding(
        task=task,
        metric=metric_name(numbers.main_metric).label,
        alike=alike,
        gold_metric=metric_name(_gold_metric(numbers)).label,
        gold=_gold(numbers),
        reason=None if alike else _why_none(numbers, degenerate),
    )


def _value(measurement: Measurement) -> float:
    """The value of a measurement that is known to have one."""
    estimate = measurement.estimate
    return estimate.value if isinstance(estimate, Estimate) else float("nan")


def _extremes(numbers: TaskEstimates, degenerate: Collection[str]) -> tuple[Pairing, ...]:
    """The most and the least alike of the pairs; equals count in the order of the models."""
    pairs = [
        (names, row)
        for names, row in numbers.between(numbers.main_metric).items()
        if isinstance(row.estimate, Estimate) and not set(names).intersection(degenerate)
    ]
    ordered = sorted(pairs, key=lambda pair: -_value(pair[1]))
    return tuple(
        Pairing(
            first=names[0],
            second=names[1],
            cell=wording.cell(row.estimate),
            rivals=wording.count_rivals(
                row.estimate, (other.estimate for _, other in ordered if other is not row)
            )
            if isinstance(row.estimate, Estimate)
            else 0,
        )
        for names, row in (ordered if len(ordered) <= 1 else (ordered[0], ordered[-1]))
    )


def _gold(numbers: TaskEstimates) -> tuple[tuple[str, wording.Cell], ...]:
    rows = numbers.against_gold(_gold_metric(numbers))
    chosen = list(rows.values())
    if len(chosen) > FEW_MODELS:
        defined = [row for row in chosen if isinstance(row.estimate, Estimate)]
        ordered = sorted(defined, key=_value)
        chosen = [ordered[0], ordered[-1]] if len(ordered) > 1 else ordered
    return tuple((row.target, wording.cell(row.estimate)) for row in chosen)


def _why_none(numbers: TaskEstimates, degenerate: Collection[str]) -> str:
    """The reason that the pairs' main number is undefined, the first if there are several."""
    if degenerate:
        return "in every pair a model is degenerate or the number is undefined"
    cells = (wording.cell(row.estimate) for row in numbers.between(numbers.main_metric).values())
    return next((cell.reason for cell in cells if cell.reason), "no pair was measured")
