from dataclasses import replace

import pytest

from scope.data.items import Draft, Wanted, gather, item_fingerprint
from scope.errors import DataError
from scope.records import Item, Question

WANTED = Wanted(task="quiz", rows="questions", unfit="without words", once=True)


def item(text="Who?", context=None, options=(), **fields):
    return Item(question=Question(id="", text=text, context=context, options=options), **fields)


def made(*drafts, n=None, seed=0):
    return gather(drafts, WANTED, spec="quiz.jsonl", n=n, seed=seed)


def test_items_are_named_by_their_own_ids():
    data = made(Draft("a", item("Who?")), Draft("b", item("What?")))
    assert [one.question.id for one in data.items] == ["a", "b"]


def test_every_question_tells_its_row_whatever_its_id_is():
    drafts = [Draft("7", item("Who?")), Draft("8", None), Draft("0", item("What?"))]
    rows = [[one.question.row for one in made(*some).items] for some in (drafts, drafts[1:])]
    assert rows == [[0, 2], [1]]


@pytest.mark.parametrize("third", ["a", None])
def test_without_an_id_of_its_own_for_each_row_they_are_named_by_row(third):
    data = made(Draft("a", item("Who?")), Draft("b", None), Draft(third, item("What?")))
    assert [one.question.id for one in data.items] == ["0", "2"]


def test_what_is_left_out_is_counted():
    data = made(
        Draft(None, item("Who?", gold=("Ann",))),
        Draft(None, None),
        Draft(None, item("Who?", gold=("Bob",))),
        Draft(None, item("Who?", context="Ann came.")),
        Draft(None, item("Who?", options=("Ann", "Bob"))),
    )
    card = data.card
    assert (card.rows, card.used, card.empty, card.duplicates, card.labelled) == (5, 3, 1, 1, 1)
    assert (card.spec, card.capability) == ("quiz.jsonl", "quiz")
    assert card.fingerprint == item_fingerprint(data.items)
    assert data.items[0].gold in (("Ann",), ("Bob",))


def test_a_benchmarks_rows_count_as_often_as_they_stand():
    drafts = [Draft(None, item("Who?", gold=(name,))) for name in ("Ann", "Bob")]
    data = gather(drafts, replace(WANTED, once=False), spec="quiz.jsonl", n=None, seed=0)
    assert [one.gold for one in data.items] == [("Ann",), ("Bob",)]
    assert (data.card.used, data.card.duplicates) == (2, 0)


def test_a_sample_is_part_of_a_larger_one_and_keeps_the_order():
    drafts = [Draft(None, item(f"Question {number}?")) for number in range(50)]
    small, large = made(*drafts, n=5, seed=1), made(*drafts, n=20, seed=1)
    rows = [one.question.row for one in small.items]
    assert rows == sorted(rows)
    assert set(small.items) < set(large.items)
    assert small.card.rows == 50
    assert made(*drafts, n=5, seed=2).items != small.items


@pytest.mark.parametrize("once", [True, False])
def test_the_sample_is_the_same_in_any_order_of_the_rows(once):
    drafts = [
        Draft(None, item(f"Question {number % 30}?", gold=(str(number % 7),)))
        for number in range(50)
    ]
    wanted = replace(WANTED, once=once)
    samples = [
        gather(rows, wanted, spec="quiz.jsonl", n=9, seed=1).items
        for rows in (drafts, drafts[::-1])
    ]
    said = [sorted((one.question.text, one.gold) for one in items) for items in samples]
    assert said[0] == said[1]


def test_nothing_left_says_what_was_there():
    with pytest.raises(DataError) as raised:
        made(Draft(None, None), Draft(None, None))
    assert raised.value.found == ("no item in quiz.jsonl: 2 questions, 2 of them without words")
    assert raised.value.expected == "at least one item for the task quiz"


def test_the_fingerprint_changes_with_everything():
    one = item(options=("yes", "no"))
    question = one.question
    others = [
        replace(one, question=replace(question, id="1")),
        replace(one, question=replace(question, text="Why?")),
        replace(one, question=replace(question, context="")),
        replace(one, question=replace(question, options=("no", "yes"))),
        replace(one, gold=("yes",)),
        replace(one, right=0),
        replace(one, category="news"),
    ]
    assert len({item_fingerprint([other]) for other in [one, *others]}) == len(others) + 1
    assert item_fingerprint([one, others[0]]) != item_fingerprint([others[0], one])
