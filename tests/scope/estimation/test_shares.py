"""A model that answers without reading is found on every kind of task; a good one is not."""

import random

import pytest

from scope.estimation.tasks import measure_task
from scope.records import Answer, Item, Question, TaskAnswers

OPTIONS = ("red", "green", "blue", "white")


def question(place, options=()):
    return Question(id=str(place), text=f"Which one {place}?", options=options)


def choice_items(rights, options=None):
    return tuple(
        Item(question=question(place, options[place] if options else OPTIONS), right=right)
        for place, right in enumerate(rights)
    )


def shares(items, *rows):
    names = [f"m{place}" for place in range(len(rows))]
    answers = TaskAnswers(task="t", items=items, answers=tuple(map(tuple, rows)))
    return measure_task(answers, names, normalize=False, seed=0).shares


def chosen(places):
    return [Answer() if place is None else Answer(choice=place) for place in places]


def said(texts):
    return [Answer(text=text) for text in texts]


def text_items(golds):
    return tuple(
        Item(question=question(place), gold=(gold,) if isinstance(gold, str) else gold)
        for place, gold in enumerate(golds)
    )


RIGHTS, CUT = [place % 4 for place in range(20)], Answer(missing="thought not finished")


def test_one_letter_to_nearly_all_questions_is_degenerate():
    items = choice_items(RIGHTS)
    dead, good = shares(items, chosen([0] * 19 + [3]), chosen(RIGHTS))
    assert dead.degenerate == (
        "it gives the option `A` to 19 of 20 questions, while no right option exceeds 5 of 20"
    )
    assert good.degenerate is None
    assert (dead.in_words(), good.counts["red"]) == ("red 95 %, white 5 %", 5)


def test_one_text_that_changes_its_place_is_degenerate():
    options = [("yes", "no") if place % 2 else ("no", "yes") for place in range(20)]
    items = choice_items([place // 2 % 2 for place in range(20)], options)
    dead, _ = shares(items, chosen([one.index("yes") for one in options]), chosen([0] * 20))
    assert dead.degenerate.startswith("it gives the option `yes` to 20 of 20 questions")


def test_gold_that_has_this_answer_nearly_everywhere_makes_it_no_fault():
    rights = [2] * 38 + [0, 1]
    pair = shares(choice_items(rights), chosen(rights), chosen([2] * 38 + [1, 1]))
    assert [one.degenerate for one in pair] == [None, None]
    (constant,) = shares(choice_items([2] * 16 + [0] * 2 + [1] * 2), chosen([2] * 20))
    assert "no right option exceeds 16 of 20" in constant.degenerate


def test_gold_that_has_another_answer_nearly_everywhere_is_no_excuse():
    found, good = shares(choice_items([1] * 20), chosen([0] * 19 + [1]), chosen([1] * 20))
    assert found.degenerate == (
        "it gives the option `A` to 19 of 20 questions, and is right for 0 of 20 with it"
    )
    assert good.degenerate is None


@pytest.mark.parametrize(
    ("items", "rows", "told"),
    [
        (choice_items([None] * 10), chosen([2] * 10), "it gives the option `C` to all 10"),
        (text_items([()] * 10), said(["red"] * 10), "it gives the answer `red` to all 10"),
    ],
)
def test_without_gold_models_with_a_single_answer_are_degenerate_together(items, rows, told):
    found = shares(items, rows, rows)
    assert [one.degenerate for one in found] == [
        f"{told} questions, and none of them has a known right answer"
    ] * 2


def test_a_good_model_on_skewed_questions_is_not_degenerate_and_a_constant_one_is():
    rights = [0] * 54 + [1] * 6
    good, constant = shares(choice_items(rights), chosen(rights), chosen([0] * 60))
    assert good.degenerate is None
    assert constant.degenerate == (
        "it gives the option `A` to all 6 questions to which another is right"
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_model_that_chooses_at_random_is_degenerate_from_fifty_questions_on(seed):
    draw = random.Random(seed)
    rights = [draw.randrange(4) for _ in range(200)]
    guesses = [draw.randrange(4) for _ in range(200)]
    found, good = shares(choice_items(rights), chosen(guesses), chosen(rights))
    assert "Cohen's kappa is at most" in found.degenerate
    assert good.degenerate is None
    few, _ = shares(choice_items(rights[:49]), chosen(guesses[:49]), chosen(rights[:49]))
    assert few.degenerate is None


@pytest.mark.parametrize(("missing", "is_degenerate"), [(5, False), (6, True)])
def test_more_than_a_quarter_without_an_answer_is_degenerate(missing, is_degenerate):
    silent, _ = shares(
        choice_items(RIGHTS), [CUT] * missing + chosen(RIGHTS[missing:]), chosen(RIGHTS)
    )
    assert (silent.degenerate is not None) == is_degenerate
    assert silent.in_words().endswith(f"{missing} of 20 without an answer")
    assert ("serve the model without thinking" in str(silent.degenerate)) == is_degenerate


def test_texts_have_no_kappa_and_may_all_be_wrong():
    items = text_items([f"right {place}" for place in range(60)])
    found, _ = shares(items, said(f"w{place}" for place in range(60)), said(["x"] * 60))
    assert found.degenerate is None


@pytest.mark.parametrize(
    ("times", "warning"),
    [(2, None), (3, "`door` makes up 3 of 20 answers (15 %), and is right for 0")],
)
def test_a_warning_names_an_answer_that_makes_up_more_than_a_tenth(times, warning):
    golds = [f"g{place}" for place in range(20)]
    found, _ = shares(text_items(golds), said(["door"] * times + golds[times:]), said(golds))
    assert found.warning == warning


def test_no_warning_is_given_of_right_answers():
    golds = ["yes"] * 8 + [""] * 8 + [f"g{place}" for place in range(4)]
    good, denies = shares(text_items(golds), said(golds), said([""] * 8 + golds[8:]))
    assert good.warning is None
    assert denies.warning == (
        "`(unanswerable)` makes up 8 of 12 answers (67 %), and is right for 0; "
        "8 more are correctly unanswerable"
    )
