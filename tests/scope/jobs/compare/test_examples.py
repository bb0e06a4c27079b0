from dataclasses import replace

import pytest

from reports.blocks import Cards
from reports.prose import plain
from scope.jobs.compare.examples import (
    Filters,
    answered_questions,
    answers_side_by_side,
    task_estimates,
)
from scope.records import Answer, Item, Question, TaskAnswers


def texts(gold, given, comparison):
    """A question with these answers of as many models, of which nothing is measured."""
    item = Item(question=Question(id="q", text="Who?"), gold=gold)
    names = tuple(f"m{place}" for place in range(len(given)))
    numbers = replace(task_estimates(comparison)[0], names=names, rows=())
    answers = tuple((Answer(text=text),) for text in given)
    return next(answered_questions(numbers, TaskAnswers(task="t", items=(item,), answers=answers)))


def questions(comparison):
    both = zip(task_estimates(comparison), comparison.tasks, strict=True)
    return [list(answered_questions(*one)) for one in both]


def cards(comparison, most=10):
    asked = questions(comparison)
    section = answers_side_by_side(asked, Filters.of(asked, most))
    (found,) = (one for one in section.blocks if isinstance(one, Cards))
    return found


def question(card):
    return plain(card.note).split(" · ")[1].removeprefix("question ")


def test_disagreement_is_the_share_of_pairs_that_answer_differently(tasks_comparison):
    found = [[one.disagreement for one in of_task] for of_task in questions(tasks_comparison)]
    assert found[0] == pytest.approx([2 / 3, 2 / 3, 1, 1])
    assert found[1] == pytest.approx([0, 2 / 3, 1, 2 / 3])


@pytest.mark.parametrize(
    ("given", "differ"), [([], 0), (["a"], 0), (["a", None], 1), ([None, None], 1), (["a", "a"], 0)]
)
def test_a_missing_answer_differs_from_every_other(given, differ, tasks_comparison):
    assert texts(("a",), given, tasks_comparison).disagreement == differ


def test_right_is_what_was_measured_and_otherwise_the_same_words(tasks_comparison):
    made = texts(("a  house",), ["a house", "house"], tasks_comparison)
    assert [one.right for one in made.given] == [True, False]
    assert texts(("",), [""], tasks_comparison).given[0].right is True
    assert texts((), ["a"], tasks_comparison).given[0].right is None
    numbers, task = task_estimates(tasks_comparison)[0], tasks_comparison.tasks[0]
    turned = [replace(row, values=tuple(1 - value for value in row.values)) for row in numbers.rows]
    measured = answered_questions(replace(numbers, rows=tuple(turned)), task)
    assert [one.right for one in next(measured).given] == [False, True]


def test_as_many_of_each_task_are_shown(tasks_comparison):
    found = cards(tasks_comparison, most=3).cards
    assert [question(one) for one in found] == ["q3", 'q4"', "c2", "c1"]


def test_of_two_models_a_state_says_which_one_alone_is_right(tasks_comparison):
    names = [card.name for card in tasks_comparison.manifest.models[:2]]
    of_two = replace(
        tasks_comparison,
        manifest=replace(tasks_comparison.manifest, models=tasks_comparison.manifest.models[:2]),
        tasks=tuple(replace(task, answers=task.answers[:2]) for task in tasks_comparison.tasks),
    )
    found = cards(of_two)
    states = {question(one): one.keys["state"] for one in found.cards}
    assert states["c2"] == "disagree kind0"
    assert ("kind0", f"Only {names[0]} is right") in found.finder.selects[-1].options


def test_a_model_that_was_not_asked_is_neither_silent_nor_wrong(tasks_comparison):
    task = tasks_comparison.tasks[1]
    none = tuple((Answer(asked=False), *row[1:]) for row in task.answers)
    changed = replace(tasks_comparison, tasks=(replace(task, answers=none),))
    (shown,) = (one for one in cards(changed).cards if question(one) == task.items[0].question.id)
    assert [plain(row.cells[1]) for row in shown.blocks[-1].rows] == ["", "", ""]
    assert shown.keys["state"] == ""
