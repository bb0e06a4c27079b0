"""The section with the answers themselves: which items are shown, and how to find them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from reports.view import wording
from reports.view.answer_rows import AnswerRow, choice_rows, text_rows
from reports.view.disagreement import disagreements
from reports.view.task_numbers import TaskEstimates, task_numbers
from scope.records import Answer, CompareResult, Item, TaskAnswers


@dataclass(frozen=True, kw_only=True)
class AnsweredItem:
    """One question with gold and every model's answer; ``gold`` is empty where none is known.

    ``not_asked`` names the models that were not asked this question. ``states`` says in words to
    filter by whether models disagree, and whether one is wrong.
    """

    task: str
    category: str | None
    question_id: str
    question: str
    context: str | None
    gold: tuple[str, ...]
    choice: bool
    rows: tuple[AnswerRow, ...]
    not_asked: tuple[str, ...]
    disagreement: float
    disagreement_text: str
    states: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The items shown, in order; ``total`` counts all, ``disagreeing`` those answered unlike.

    ``places`` holds for each of them where it would stand in the order of the tasks.
    """

    items: tuple[AnsweredItem, ...]
    places: tuple[int, ...]
    total: int
    disagreeing: int
    tasks: tuple[str, ...]
    categories: tuple[str | None, ...]


class _Ranked(NamedTuple):
    """An item's place in its task, and its rank among the task's items by disagreement."""

    rank: int
    task: int
    place: int
    disagreement: float


def answers(comparison: CompareResult, *, limit: int) -> Answers | None:
    """At most ``limit`` items, the most disagreed first, as many of each task as there can be."""
    if not comparison.tasks:
        return None
    numbers = task_numbers(comparison)
    ranked = [
        one
        for place, (found, task) in enumerate(zip(numbers, comparison.tasks, strict=True))
        for one in _ranked(place, disagreements(found, task))
    ]
    # By rank before task: each task shows its most disagreed items, whatever its scale.
    chosen = sorted(ranked)[:limit]
    chosen.sort(key=lambda one: (-one.disagreement, one.task, one.place))
    readers = [_Reader(*both) for both in zip(numbers, comparison.tasks, strict=True)]
    by_task = sorted((one.task, one.place) for one in chosen)
    places = {both: place for place, both in enumerate(by_task)}
    items = tuple(readers[one.task].item(one.place, one.disagreement) for one in chosen)
    return Answers(
        items=items,
        places=tuple(places[one.task, one.place] for one in chosen),
        total=len(ranked),
        disagreeing=sum(one.disagreement > 0 for one in ranked),
        tasks=tuple(dict.fromkeys(task.task for task in comparison.tasks)),
        categories=_categories(items),
    )


def _ranked(task: int, found: list[float]) -> list[_Ranked]:
    order = sorted(range(len(found)), key=lambda place: (-found[place], place))
    return [_Ranked(rank, task, place, found[place]) for rank, place in enumerate(order)]


def _categories(items: tuple[AnsweredItem, ...]) -> tuple[str | None, ...]:
    present = {item.category for item in items}
    named = sorted(category for category in present if category is not None)
    return (*named, *([None] if None in present else []))


class _Reader:
    """Makes items of a task, with the numbers of each model on them."""

    def __init__(self, numbers: TaskEstimates, answers: TaskAnswers) -> None:
        self.numbers, self.answers = numbers, answers
        self.overlaps = _by_item(numbers, "word_f1")
        self.exact = _by_item(numbers, "exact_match")

    def item(self, place: int, disagreement: float) -> AnsweredItem:
        item = self.answers.items[place]
        everyone = [
            (name, row[place])
            for name, row in zip(self.numbers.names, self.answers.answers, strict=True)
        ]
        rows = self._rows(item, [(name, answer) for name, answer in everyone if answer.asked])
        wrong = any(row.right is False and row.givers for row in rows)
        return AnsweredItem(
            task=self.answers.task,
            category=item.category,
            question_id=item.question.id,
            question=item.question.text,
            context=item.question.context,
            gold=tuple(dict.fromkeys(item.gold)),
            choice=self.numbers.choice,
            rows=rows,
            not_asked=tuple(name for name, answer in everyone if not answer.asked),
            disagreement=disagreement,
            disagreement_text=wording.number(disagreement),
            states=(*(["disagree"] if disagreement > 0 else []), *(["wrong"] if wrong else [])),
        )

    def _rows(self, item: Item, asked: list[tuple[str, Answer]]) -> tuple[AnswerRow, ...]:
        if self.numbers.choice:
            return choice_rows(item, asked)
        key = item.question.id
        return text_rows(
            item, asked, overlaps=self.overlaps.get(key, {}), exact=self.exact.get(key, {})
        )


def _by_item(numbers: TaskEstimates, metric: str) -> Mapping[str, Mapping[str, float]]:
    """The values of each model against gold, by item and model."""
    found: dict[str, dict[str, float]] = {}
    for model, row in numbers.against_gold(metric).items():
        if row.values:
            for item_id, value in zip(row.example_ids, row.values, strict=True):
                found.setdefault(item_id, {})[model] = value
    return found
