from dataclasses import replace

import pytest

from reports.blocks import Cards
from reports.prose import plain, written
from scope.jobs.compare.answers import (
    answers_side_by_side,
    choice_rows,
    disagreements,
    marked_answer,
    share_of_different_pairs,
    text_rows,
)
from scope.jobs.compare.task_estimates import task_estimates
from scope.records import Answer, Item, Question


def item(*gold):
    return Item(question=Question(id="q", text="Who?"), gold=gold)


def rows(gold, texts, *, overlaps=(), exact=()):
    given = [(f"m{place}", Answer(text=text)) for place, text in enumerate(texts)]
    return text_rows(item(*gold), given, dict(overlaps), dict(exact))


def words(found):
    """The cells of each row as texts."""
    return [
        tuple(plain(written(cell)).replace("\N{NO-BREAK SPACE}", " ") for cell in one.row.cells)
        for one in found
    ]


def cards(comparison, most=10):
    (found,) = (
        b for b in answers_side_by_side(comparison, most=most).blocks if isinstance(b, Cards)
    )
    return found


def question(card):
    return plain(card.note).split(" · ")[1].removeprefix("question ")


def test_disagreement_in_words_is_one_minus_the_mean_word_f1_of_the_pairs(tasks_comparison):
    numbers, task = task_estimates(tasks_comparison)[0], tasks_comparison.tasks[0]
    # q1: 1 - (1 + 0.4 + 0.4) / 3; of q4 one pair alone gave two answers, without a common word.
    assert disagreements(numbers, task) == pytest.approx([0.4, 2 / 3, 1.0, 1.0])


def test_without_values_disagreement_counts_pairs_with_different_texts(tasks_comparison):
    numbers, task = task_estimates(tasks_comparison)[0], tasks_comparison.tasks[0]
    bare = tuple(replace(row, values=(), example_ids=()) for row in numbers.rows)
    assert disagreements(replace(numbers, rows=bare), task) == pytest.approx([2 / 3, 2 / 3, 1, 1])


def test_disagreement_of_choices_is_the_share_of_pairs_that_choose_differently(tasks_comparison):
    numbers, task = task_estimates(tasks_comparison)[1], tasks_comparison.tasks[1]
    assert disagreements(numbers, task) == pytest.approx([0, 2 / 3, 1, 0])


@pytest.mark.parametrize("given", [[], ["a"], ["a", None], [None, None], ["a", "a"]])
def test_without_two_answers_that_differ_nobody_disagrees(given):
    assert share_of_different_pairs(given) == 0


def test_models_with_the_same_text_share_a_row_in_the_order_of_the_first():
    made = rows(["x"], ["b", "a", "b", None, ""])
    assert words(made) == [
        ("b", "", "m0, m2"),
        ("a", "", "m1"),
        ("no answer", "", "m3"),
        ("(unanswerable)", "", "m4"),
    ]
    assert all(one.wrong and not one.row.chosen for one in made)


def test_right_is_what_was_measured_and_otherwise_the_same_words():
    made = rows(["a  house"], ["a house", "house"])
    assert [(one.row.chosen, one.wrong) for one in made] == [(True, False), (False, True)]
    (measured,) = rows(
        ["a house"], ["The house."], exact={"m0": 1.0}.items(), overlaps={"m0": 0.75}.items()
    )
    assert words([measured]) == [("The house. ✓ right", "0.750", "m0")]
    assert [one.row.chosen for one in rows([""], [""])] == [True]
    assert [(one.row.chosen, one.wrong) for one in rows([], ["a"])] == [(False, False)]


def test_an_option_that_nobody_chose_is_not_a_wrong_answer():
    asked = Item(question=Question(id="q", text="Who?", options=("a", "b")), right=1)
    made = choice_rows(asked, [("m", Answer(choice=1, probabilities=(0.25, 0.75)))])
    assert words(made) == [("A", "a", ""), ("B", "b ✓ right", "m .75")]
    assert not any(one.wrong for one in made)


def test_marks_are_where_the_nearest_gold_has_other_words():
    segments = marked_answer("a big red house", ["barn", "red house"])
    assert [part.text for part in segments if part.changed] == ["a", "big"]
    assert "".join(part.text for part in segments) == "a big red house"
    assert [part.changed for part in marked_answer("house", [])] == [False]


def test_items_are_ordered_by_disagreement_and_then_by_task(tasks_comparison):
    found = cards(tasks_comparison).cards
    assert [question(one) for one in found] == ["q3", 'q4"', "c2", "q2", "c1", "q1", "c0", "c3"]
    assert [one.keys["order"] for one in found] == list("23615047")


def test_states_say_whether_models_disagree_and_whether_one_is_wrong(tasks_comparison):
    found = {question(one): one.keys["state"] for one in cards(tasks_comparison).cards}
    assert found["q1"] == "disagree wrong"
    assert found["c0"] == ""
    # Two choose alike and right; the third gave no answer, which counts as wrong.
    assert found["c3"] == "wrong"


def test_a_model_that_was_not_asked_is_named_and_neither_silent_nor_wrong(tasks_comparison):
    task = tasks_comparison.tasks[1]
    none = tuple((Answer(asked=False), *row[1:]) for row in task.answers)
    changed = replace(tasks_comparison, tasks=(replace(task, answers=none),))
    (shown,) = (one for one in cards(changed).cards if question(one) == task.items[0].question.id)
    table, silent = shown.blocks[-2:]
    names = [card.name for card in tasks_comparison.manifest.models]
    assert plain(silent.text) == f"Not asked: {', '.join(names)}"
    assert [plain(row.cells[2]) for row in table.rows] == ["", "", ""]
    assert shown.keys["state"] == ""


def test_categories_are_those_shown_and_none(tasks_comparison):
    def labels(found):
        return [one.label for one in found.finder.selects]

    assert labels(cards(tasks_comparison, most=1)) == ["Task", "Answers"]
    found = cards(tasks_comparison)
    assert labels(found) == ["Task", "Category", "Answers"]
    assert found.finder.selects[1].options[-1][1] == "no category"


def test_without_tasks_there_are_no_answers(tasks_comparison):
    assert answers_side_by_side(replace(tasks_comparison, tasks=()), most=10) is None
