"""The verdict on each later model: is it accurate enough to replace the first one?

It rests on accuracy alone, non-inferior on every task by the margin of an audit. The same tests
judge: Tango's score, paired by question, corrected over tasks and targets. Where an evaluation tool
gives scores between 0 and 1, their mean stands for accuracy, with Student's test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from reports.wording import short_points
from scope.data.logs.items import ItemName
from scope.estimation.tasks import TaskNumbers
from scope.estimation.tasks.shares import SILENT, cut_thoughts
from scope.jobs.audit.verdict_words import VerdictWords, listed, opening, rounded_up
from scope.jobs.compare.flips import exchanged
from scope.metrics import best_against_gold, exact_match_values, in_both
from scope.records import (
    MOST_WITH_CELLS,
    Answer,
    CompareResult,
    Endpoint,
    Estimate,
    FourCells,
    Item,
    PooledDifference,
    Replacement,
    TaskAnswers,
    Undefined,
    are_clustered,
)
from scope.statistics.two_runs import pooled_differences
from scope.verdicts import (
    Evidence,
    decide,
    judge_differences,
    judge_slope,
    lacking_clusters,
    planned_differences,
    texts_lacking,
    with_texts_needed,
)

NO_GOLD = "no question has a known right answer"

MEAN_SCORE = "mean score"
"""In place of accuracy, where scores lie between 0 and 1."""


class MeasuredTask(NamedTuple):
    """A task's answers and estimates, and how many of all questions each model left out for all."""

    answers: TaskAnswers
    numbers: TaskNumbers
    lost: Mapping[str, int] = MappingProxyType({})
    total: int = 0

    def too_few_left(self, margin: float) -> str:
        """Why what is left of the questions decides nothing; empty where most are left."""
        lost = self.total - len(self.answers.items)
        if lost <= margin * self.total:
            return ""
        names = listed([name for name, count in self.lost.items() if count])
        return (
            f"{lost:,} of {self.total:,} questions of {self.name} are left out for want of answers "
            f"of {names}, more than the margin of {margin:g}"
        )

    @property
    def name(self) -> str:
        """The name of the task."""
        return self.answers.task

    @property
    def known(self) -> list[Item]:
        """The items whose right answer is known, or to which an answer is scored."""
        rows = zip(self.answers.items, *self.answers.answers, strict=True)
        return [item for item, *answers in rows if _is_known(item, answers)]

    def of_scores(self, reference: str, target: str) -> Estimate | Undefined | None:
        """Reference minus target in mean score, where some scores lie between 0 and 1."""
        scores = {answer.score for row in self.answers.answers for answer in row}
        estimates = (
            row.estimate
            for row in self.numbers.differences
            if (row.metric, row.first, row.second) == ("accuracy", reference, target)
        )
        return next(estimates, None) if scores - {None, 0.0, 1.0} else None

    def of_pair(self, reference: str, target: str) -> FourCells | None:
        """The cells of two models; None without a question for both."""
        pairs = {(cells.first, cells.second): cells for cells in self.numbers.cells}
        return pairs.get((reference, target))


def comparison_verdicts(
    tasks: Sequence[MeasuredTask], models: Sequence[str], margin: float
) -> tuple[Replacement, ...]:
    """May each later model replace the first? None with more than ten models.

    A model that is degenerate on a task, that was asked less than three quarters of its questions,
    or whose reference is hardly better than chance, never *may replace*. One whose thoughts are cut
    is never *may not*, either: the limit decides what it answers. Nor is any model where unreadable
    rows or failing servers leave out a larger share of the questions than the margin.
    """
    if not 2 <= len(models) <= MOST_WITH_CELLS:
        return ()
    reference, *targets = models
    evidence: dict[str, list[Evidence]] = {target: [] for target in targets}
    unusable: dict[str, str] = {}
    for task in tasks:
        of_task = "" if len(tasks) == 1 else f" on {task.name}"
        for target in targets:
            cells, scores = task.of_pair(reference, target), task.of_scores(reference, target)
            part = _evidence(task, cells, of_task, margin)
            asked = part.endpoint.estimate.n
            if isinstance(scores, Estimate):
                name, asked = f"{MEAN_SCORE}{of_task}", scores.n
                part = Evidence(judge_slope(name, exchanged(scores), least=-margin))
            cut = cut_thoughts(task.answers.answers[models.index(target)])
            cut = cut and f"of {target} on {task.name}, {cut}"
            if few := lacking_clusters([item.question.id for item in task.answers.items]):
                unusable.setdefault(target, few)
                part = part.never_beyond
            if open_by := cut or task.too_few_left(margin):
                part = part.never_beyond
                unusable[target] = open_by
            evidence[target].append(part)
            if task.known and (why := _unusable(task, asked, reference, target, margin)):
                unusable.setdefault(target, why)
    names = [task.name for task in tasks]
    ends = {target: [part.endpoint for part in parts] for target, parts in evidence.items()}
    verdicts = [
        with_texts_needed(verdict, evidence[verdict.target], targets=len(targets))
        for verdict in decide(ends, degenerate=unusable)
    ]
    return tuple(
        replace(verdict, sentence=str(_words(verdict, models, names))) for verdict in verdicts
    )


def pooled_over_tasks(answers: TaskAnswers, models: Sequence[str]) -> Iterator[PooledDifference]:
    """The accuracy of each later model minus the first's over the tasks of a log."""
    names = [ItemName.parse(item.question.id) for item in answers.items]
    tasks = [name.conditions.task if name else "" for name in names]
    clustered = are_clustered(item.question.id for item in answers.items)
    if len(set(tasks)) < 2 or len(models) > MOST_WITH_CELLS or clustered:
        return
    reference, *targets = answers.answers
    for model, row in zip(models[1:], targets, strict=True):
        changes: dict[str, list[int]] = {}
        for task, item, before, after in zip(tasks, answers.items, reference, row, strict=True):
            if _is_known(item, (before, after)) and before.asked and after.asked:
                if {before.score, after.score} - {None, 0, 1}:
                    return
                change = _is_right(after, item) - _is_right(before, item)
                changes.setdefault(task, []).append(change)
        if len(changes) > 1:
            yield from pooled_differences(changes, models[0], model)


def _is_known(item: Item, answers: Sequence[Answer]) -> bool:
    gold = item.right is not None if item.question.options else bool(item.gold)
    return gold or any(answer.score is not None for answer in answers)


def _is_right(answer: Answer, item: Item) -> bool:
    if item.question.options:
        return answer.choice == item.right
    if answer.score is not None:
        return answer.score == 1
    texts = [] if answer.text is None else [answer.text]
    return any(best_against_gold(exact_match_values, texts, [item.gold] * len(texts)))


def _answered(task: MeasuredTask, cells: FourCells) -> dict[str, float]:
    """Right answers of the target minus the reference's, by question."""
    scores = task.numbers.scores
    after, before, ids = in_both(scores[cells.second], scores[cells.first])
    return {id_: new - old for id_, new, old in zip(ids, after, before, strict=True)}


def _evidence(task: MeasuredTask, cells: FourCells | None, of_task: str, margin: float) -> Evidence:
    name = f"accuracy{of_task}"
    if cells is not None:
        changes = _answered(task, cells)
        planned = planned_differences(
            name, changes, margin=margin, texts=len(changes), kind="unchanged"
        )
        return Evidence(judge_differences(name, changes, margin=margin), planned)
    if not task.known:
        return Evidence(Endpoint(name=name, estimate=Undefined(reason=NO_GOLD)))
    none = Undefined(reason="no question was put to both models")
    return Evidence(Endpoint(name=name, estimate=none, limit=-margin))


def _unusable(
    task: MeasuredTask, asked: int, reference: str, target: str, margin: float
) -> str | None:
    """Why the answers to a task cannot show that the target may replace the reference."""
    for share in task.numbers.shares:
        if share.model in (reference, target) and share.degenerate is not None:
            advice = "; put another model first" if share.model == reference else ""
            return f"{share.model} is degenerate on {task.name}{advice}"
    known = task.known
    if asked < (1 - SILENT) * len(known):
        return f"only {asked:,} of {len(known):,} questions of {task.name} were put to both models"
    options = [len(item.question.options) for item in known if item.question.options]
    chance = float(np.mean([1 / count for count in options])) if options else 0.0
    accuracy = next(share.accuracy for share in task.numbers.shares if share.model == reference)
    if not isinstance(accuracy, Estimate) or accuracy.low <= chance + margin:
        return (
            f"the accuracy of {reference} on {task.name}, {accuracy}, is not shown to exceed "
            f"chance, {chance:.3f}, by the margin of {margin:g}"
        )
    return None


def in_words(verdict: Replacement, result: CompareResult) -> VerdictWords:
    """The verdict for a reader who reads nothing else."""
    tasks = [task.task for task in result.tasks]
    return _words(verdict, [card.name for card in result.manifest.models], tasks)


def _words(verdict: Replacement, models: Sequence[str], tasks: Sequence[str]) -> VerdictWords:
    shown = [end for end in verdict.endpoints if end.limit is not None]
    if verdict.decision == "may not":
        shown = [end for end in verdict.endpoints if end.name in verdict.beyond]
    reason = verdict.reason if verdict.decision == "not shown" else None
    measures = list(dict.fromkeys(end.name.partition(" on ")[0] for end in verdict.endpoints))
    notes = (
        f"{end.name.capitalize()} is not judged: {end.estimate.reason}"
        for end in verdict.endpoints
        if end.limit is None and isinstance(end.estimate, Undefined)
    )
    return VerdictWords(
        f"{opening(verdict, models[0])} by {listed(measures)} on {listed(tasks)}",
        reason or "; ".join(map(_number, shown)),
        _more(verdict, models) if verdict.decision == "not shown" else "",
        tuple(notes),
    )


def _number(endpoint: Endpoint) -> str:
    if isinstance(endpoint.estimate, Undefined):
        return f"{endpoint.name} is {endpoint.estimate}"
    value, _, interval = short_points(endpoint.estimate).partition(" ")
    limit = f"{100 * (endpoint.limit or 0):g}".replace("-", "−")
    needed, asked = texts_lacking(endpoint), endpoint.estimate.n
    few = f", too few questions: at least {needed} are needed, {asked} were usable" * (needed > 0)
    return f"{endpoint.name} differs by {value} points {interval} (limit {limit}){few}"


def _more(verdict: Replacement, models: Sequence[str]) -> str:
    """The number of questions for the wanted power, and how many more these are."""
    asked = max(end.estimate.n for end in verdict.endpoints)
    parts = []
    cases = (
        (verdict.if_equal, f"{verdict.target} is as good as {models[0]}"),
        (verdict.if_as_seen, "it differs as much as here"),
    )
    for needed, case in cases:
        if needed is not None and needed.unchanged is not None and not verdict.reason:
            questions = rounded_up(needed.unchanged)
            more = f" ({questions - asked:,} more)" if questions > asked else ""
            parts.append(f"about {questions:,} questions{more} if {case}")
    return f"It takes {listed(parts)}, in 4 runs of 5" if parts else ""
