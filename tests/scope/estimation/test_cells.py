import pytest

from scope.estimation.tasks import measure_task
from scope.records import Answer, Item, Question, TaskAnswers


def item(place, **more):
    return Item(question=Question(id=str(place), text=f"Which {place}?", **more), right=0)


def cells(items, *rows):
    names = [f"m{place}" for place in range(len(rows))]
    answers = TaskAnswers(task="t", items=tuple(items), answers=tuple(map(tuple, rows)))
    return measure_task(answers, names, normalize=False, seed=0).cells


def shares(one):
    return [each.value for each in (one.both, one.only_first, one.only_second, one.neither)]


def test_each_question_is_in_one_of_four_cells():
    items = [item(place, options=("a", "b")) for place in range(10)]
    first = [Answer(choice=0)] * 5 + [Answer(choice=1)] * 5
    second = [Answer(choice=0)] * 3 + [Answer()] * 2 + [Answer(choice=0)] + [Answer(choice=1)] * 4
    (one,) = cells(items, first, second)
    assert shares(one) == pytest.approx([0.3, 0.2, 0.1, 0.4])
    assert (one.task, one.first, one.second, one.both.n) == ("t", "m0", "m1", 10)
    assert one.difference.value == pytest.approx(0.2 - 0.1)


def test_questions_that_were_not_put_to_both_are_in_no_cell():
    items = [item(place, options=("a", "b")) for place in range(3)]
    right, absent = Answer(choice=0), Answer(asked=False)
    (one,) = cells(items, [right, right, absent], [right, absent, right])
    assert (one.both.value, one.both.n) == (1.0, 1)
    assert cells(items, [right, absent, absent], [absent, right, right]) == ()


def test_more_than_ten_models_have_no_cells():
    items = [item(0, options=("a", "b"))]
    assert len(cells(items, *[[Answer(choice=0)]] * 10)) == 45
    assert cells(items, *[[Answer(choice=0)]] * 11) == ()
