"""The verdict on each later model: is it accurate enough to replace the first one?

It rests on accuracy alone, non-inferior on every task by the margin of an audit. The same tests
judge: Tango's score, paired by question, corrected over tasks and targets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from reports.wording import points
from scope.data.logs.items import ItemName
from scope.estimation.tasks import MOST_MODELS
from scope.estimation.tasks.shares import SILENT
from scope.jobs.audit.verdicts import NO_GOLD, listed, no_texts_help, opening, rounded_up
from scope.metrics import best_against_gold, exact_match_values
from scope.records import (
    Answer,
    Endpoint,
    Estimate,
    FourCells,
    Item,
    PooledDifference,
    Replacement,
    TaskAnswers,
    TaskShares,
    Undefined,
)
from scope.statistics import (
    PlannedEndpoint,
    judge_paired,
    planned_from,
    texts_for_power,
    verdicts,
)
from scope.statistics.two_runs import pooled_differences


class MeasuredTask(NamedTuple):
    """A task's answers, and what was estimated from them."""

    answers: TaskAnswers
    cells: Sequence[FourCells]
    shares: Sequence[TaskShares]

    @property
    def name(self) -> str:
        """That of the task."""
        return self.answers.task

    @property
    def known(self) -> list[Item]:
        """The items whose right answer is known."""
        return [
            item
            for item in self.answers.items
            if (item.gold if not item.question.options else item.right is not None)
        ]

    def of_pair(self, reference: str, target: str) -> FourCells | None:
        """The cells of two models; None where no question serves both."""
        pair = (reference, target)
        return next((cell for cell in self.cells if (cell.first, cell.second) == pair), None)


def comparison_verdicts(
    tasks: Sequence[MeasuredTask], models: Sequence[str], margin: float
) -> tuple[Replacement, ...]:
    """May each later model replace the first? None with more than ten models.

    A model that is degenerate on a task, that was asked less than three quarters of its questions,
    or whose reference is hardly better than chance, never *may replace*.
    """
    if not 2 <= len(models) <= MOST_MODELS:
        return ()
    reference, *targets = models
    endpoints: dict[str, list[Endpoint]] = {target: [] for target in targets}
    plans: dict[str, list[PlannedEndpoint]] = {target: [] for target in targets}
    unusable: dict[str, str] = {}
    for task in tasks:
        name = "accuracy" if len(tasks) == 1 else f"accuracy on {task.name}"
        for target in targets:
            cells = task.of_pair(reference, target)
            endpoints[target].append(_endpoint(task, cells, name, margin))
            plans[target] += [] if cells is None else [_planned(cells, name, margin)]
            if task.known and (why := _unusable(task, cells, reference, target, margin)):
                unusable.setdefault(target, why)
    decided = verdicts(endpoints, degenerate=unusable)
    on = f" by accuracy on {listed([task.name for task in tasks])}"
    most = max((one.both.n for task in tasks for one in task.cells), default=0)
    planned = (
        one
        if one.decision != "not shown"
        or one.target in unusable
        or not plans[one.target]
        or any(map(no_texts_help, one.endpoints))
        else replace(one, rows_needed=texts_for_power(plans[one.target], targets=len(targets)))
        for one in decided
    )
    return tuple(
        replace(one, sentence=_sentence(one, reference, on, most, margin)) for one in planned
    )


def pooled_over_tasks(answers: TaskAnswers, models: Sequence[str]) -> Iterator[PooledDifference]:
    """How the accuracy of each later model differs from the first's over the tasks of a log."""
    names = [ItemName.parse(item.question.id) for item in answers.items]
    tasks = [name.conditions.task if name else "" for name in names]
    if len(set(tasks)) < 2 or len(models) > MOST_MODELS:
        return
    reference, *targets = answers.answers
    for model, row in zip(models[1:], targets, strict=True):
        changes: dict[str, list[int]] = {}
        for task, item, before, after in zip(tasks, answers.items, reference, row, strict=True):
            known = item.right is not None if item.question.options else item.gold
            if known and before.asked and after.asked:
                change = _is_right(after, item) - _is_right(before, item)
                changes.setdefault(task, []).append(change)
        if len(changes) > 1:
            yield from pooled_differences(changes, models[0], model)


def _is_right(answer: Answer, item: Item) -> bool:
    if item.question.options:
        return answer.choice == item.right
    texts = [] if answer.text is None else [answer.text]
    return any(best_against_gold(exact_match_values, texts, [item.gold] * len(texts)))


def _answered(cells: FourCells) -> tuple[list[int], list[int], list[str]]:
    """The target's and the reference's answers as right or wrong, and a name for each question."""
    shares = (cells.both, cells.only_first, cells.only_second)
    both, lost, gained = map(cells.count, shares)
    neither = cells.both.n - both - lost - gained
    target = [1] * both + [0] * lost + [1] * gained + [0] * neither
    reference = [1] * (both + lost) + [0] * (gained + neither)
    return target, reference, [str(place) for place in range(cells.both.n)]


def _endpoint(task: MeasuredTask, cells: FourCells | None, name: str, margin: float) -> Endpoint:
    if cells is not None:
        return judge_paired(name, *_answered(cells), margin=margin)
    if not task.known:
        return Endpoint(name=name, estimate=Undefined(reason=NO_GOLD))
    none = Undefined(reason="no question was put to both models")
    return Endpoint(name=name, estimate=none, limit=-margin)


def _planned(cells: FourCells, name: str, margin: float) -> PlannedEndpoint:
    return planned_from(name, *_answered(cells), margin=margin, rows=cells.both.n)


def _unusable(
    task: MeasuredTask, cells: FourCells | None, reference: str, target: str, margin: float
) -> str | None:
    """Why the answers to a task cannot show that the target may replace the reference."""
    for share in task.shares:
        if share.model in (reference, target) and share.degenerate is not None:
            return f"{share.model} is degenerate on {task.name}"
    asked, known = (0 if cells is None else cells.both.n), task.known
    if asked < (1 - SILENT) * len(known):
        return f"only {asked:,} of {len(known):,} questions of {task.name} were put to both models"
    options = [len(item.question.options) for item in known if item.question.options]
    chance = float(np.mean([1 / count for count in options])) if options else 0.0
    accuracy = next(one.accuracy for one in task.shares if one.model == reference)
    if not isinstance(accuracy, Estimate) or accuracy.low <= chance + margin:
        return (
            f"the accuracy of {reference} on {task.name}, {accuracy}, is not shown to exceed "
            f"chance, {chance:.3f}, by the margin of {margin:g}"
        )
    return None


def _sentence(verdict: Replacement, reference: str, on: str, most: int, margin: float) -> str:
    """The verdict for a reader who reads nothing else."""
    if verdict.decision == "may not":
        shown = [one for one in verdict.endpoints if one.name in verdict.beyond]
    else:
        shown = [one for one in verdict.endpoints if one.limit is not None]
    numbers = "; ".join(_number(endpoint, margin) for endpoint in shown)
    reason = verdict.reason if verdict.decision == "not shown" else None
    parts = [f"{opening(verdict, reference)}{on}: {reason or numbers}"]
    if verdict.rows_needed:
        parts.append(_more(verdict.rows_needed, most, reference))
    parts += [
        f"{one.name.capitalize()} is not judged: {one.estimate.reason}"
        for one in verdict.endpoints
        if one.limit is None and isinstance(one.estimate, Undefined)
    ]
    return ". ".join(parts) + "."


def _number(endpoint: Endpoint, margin: float) -> str:
    estimate = endpoint.estimate
    if isinstance(estimate, Undefined):
        return f"{endpoint.name} is {estimate}"
    value, low, high = map(points, (estimate.value, estimate.low, estimate.high))
    return f"{endpoint.name} differs by {value} points [{low}, {high}] (limit −{100 * margin:g})"


def _more(rows: int, asked: int, reference: str) -> str:
    """How many questions give the verdict the wanted power, and how many more these are."""
    rounded = rounded_up(rows)
    more = f" ({rounded - asked:,} more)" if rounded > asked else ""
    return (
        f"A new run on about {rounded:,} questions{more} shows it with power 0.8 if it is "
        f"as good as {reference}"
    )
