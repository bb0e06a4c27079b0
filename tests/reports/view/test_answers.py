from dataclasses import replace

import pytest

from reports.view.answer_rows import marked_answer, text_rows
from reports.view.answers import answers
from reports.view.disagreement import disagreements, share_of_different_pairs
from reports.view.task_numbers import task_numbers
from scope.records import Answer, Item, Question


def item(*gold):
    return Item(question=Question(id="q", text="Who?"), gold=gold)


def rows(gold, texts, **known):
    given = [(f"m{place}", Answer(text=text)) for place, text in enumerate(texts)]
    return text_rows(
        item(*gold), given, overlaps=known.get("overlaps", {}), exact=known.get("exact", {})
    )


def test_disagreement_in_words_is_one_minus_the_mean_word_f1_of_the_pairs(tasks_comparison):
    numbers, task = task_numbers(tasks_comparison)[0], tasks_comparison.tasks[0]
    # q1: 1 - (1 + 0.4 + 0.4) / 3; of q4 one pair alone gave two answers, without a common word.
    assert disagreements(numbers, task) == pytest.approx([0.4, 2 / 3, 1.0, 1.0])


def test_without_values_disagreement_counts_pairs_with_different_texts(tasks_comparison):
    numbers, task = task_numbers(tasks_comparison)[0], tasks_comparison.tasks[0]
    bare = tuple(replace(row, values=(), example_ids=()) for row in numbers.rows)
    assert disagreements(replace(numbers, rows=bare), task) == pytest.approx([2 / 3, 2 / 3, 1, 1])


def test_disagreement_of_choices_is_the_share_of_pairs_that_choose_differently(tasks_comparison):
    numbers, task = task_numbers(tasks_comparison)[1], tasks_comparison.tasks[1]
    assert disagreements(numbers, task) == pytest.approx([0, 2 / 3, 1, 0])


@pytest.mark.parametrize("given", [[], ["a"], ["a", None], [None, None], ["a", "a"]])
def test_without_two_answers_that_differ_nobody_disagrees(given):
    assert share_of_different_pairs(given) == 0


def test_models_with_the_same_text_share_a_row_in_the_order_of_the_first():
    made = rows(["x"], ["b", "a", "b", None, ""])
    assert [[giver.name for giver in row.givers] for row in made] == [
        ["m0", "m2"],
        ["m1"],
        ["m3"],
        ["m4"],
    ]
    assert [row.given for row in made] == [True, True, False, True]
    assert [row.right for row in made] == [False, False, False, False]


def test_right_is_what_was_measured_and_otherwise_the_same_words():
    assert [row.right for row in rows(["a  house"], ["a house", "house"])] == [True, False]
    measured = rows(["a house"], ["The house."], exact={"m0": 1.0}, overlaps={"m0": 0.75})
    assert [(row.right, row.overlap) for row in measured] == [(True, "0.750")]
    assert [row.right for row in rows([""], [""])] == [True]
    assert [row.right for row in rows([], ["a"])] == [None]


def test_marks_stand_where_the_nearest_gold_has_other_words():
    segments = marked_answer("a big red house", ["barn", "red house"])
    assert [part.text for part in segments if part.changed] == ["a", "big"]
    assert "".join(part.text for part in segments) == "a big red house"
    assert [part.changed for part in marked_answer("house", [])] == [False]


def test_items_are_ordered_by_disagreement_and_then_by_task(tasks_comparison):
    found = answers(tasks_comparison, limit=10)
    assert [one.question_id for one in found.items] == [
        "q3",
        'q4"',
        "c2",
        "q2",
        "c1",
        "q1",
        "c0",
        "c3",
    ]
    assert found.places == (2, 3, 6, 1, 5, 0, 4, 7)
    assert (found.total, found.disagreeing) == (8, 6)


def test_states_say_whether_models_disagree_and_whether_one_is_wrong(tasks_comparison):
    found = {one.question_id: one.states for one in answers(tasks_comparison, limit=10).items}
    assert found["q1"] == ("disagree", "wrong")
    assert found["c0"] == ()
    # Two choose alike and right; the third gave no answer, which counts as wrong.
    assert found["c3"] == ("wrong",)


def test_a_model_that_was_not_asked_is_named_and_neither_silent_nor_wrong(tasks_comparison):
    task = tasks_comparison.tasks[1]
    nobody = tuple((Answer(asked=False), *row[1:]) for row in task.answers)
    changed = replace(tasks_comparison, tasks=(replace(task, answers=nobody),))
    (shown,) = (
        one
        for one in answers(changed, limit=9).items
        if one.question_id == task.items[0].question.id
    )
    assert shown.not_asked == tuple(card.name for card in tasks_comparison.manifest.models)
    assert all(row.given and not row.givers for row in shown.rows)
    assert shown.states == ()


def test_categories_are_those_shown_and_none(tasks_comparison):
    assert answers(tasks_comparison, limit=1).categories == ("colours",)
    assert answers(tasks_comparison, limit=10).categories[-1] is None


def test_a_comparison_without_tasks_has_no_answers(comparison):
    assert answers(comparison, limit=10) is None
