"""Asking the questions of one reference: which model is asked what, in which order, and the end."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from made_up_cases import judged, strangers, taking, with_suspect

from scope.errors import DataError
from scope.jobs.reuse.answer_matrix import NOT_GIVEN, UNKNOWN, AnswerKey, Response
from scope.jobs.reuse.asking import (
    FEWEST_ITEMS,
    REPRESENTATIVE,
    InBatches,
    asking_order,
    informative_order,
    make_case,
)
from scope.jobs.reuse.models import ReuseModels
from scope.jobs.reuse.questions import ItemSet, ReuseItem
from scope.jobs.reuse.usability import FEWEST_SHARED
from scope.models.model import Model
from scope.records import Question
from scope.statistics.sequential import SequentialTest

COUNT = 60


class Fixed:
    """Responses with fixed answers for each model; records the questions."""

    def __init__(self, **answers):
        self.by_model = answers
        self.log = []

    def answers(self, model, questions):
        self.log.append((model.name, [one.id for one in questions]))
        return [self.by_model[model.name][int(one.id)] for one in questions]

    def words(self, response, item):
        if isinstance(response.choice, int):
            return item.question.options[response.choice]
        return response.choice or ""

    def pairs(self, items, models):
        return ()


def model(name, part):
    return Model(name=name, role=part, adapter=None, own=True)


MODELS = ReuseModels(
    suspect=model("suspect", "suspect"),
    references=(model("ours", "reference"),),
    controls=(model("first", "control"), model("second", "control")),
)


def items(count=COUNT, text="Which {}?", options=("yes", "no")):
    return ItemSet(
        items=tuple(
            ReuseItem(
                id=str(place),
                unit=str(place),
                question=Question(id=str(place), text=text.format(place), options=options),
                key=AnswerKey(str(place), gold=1, options=2),
                gold="no",
            )
            for place in range(count)
        )
    )


def choices(*numbers):
    return [Response(one) for one in numbers]


EVEN = choices(*(place % 2 for place in range(COUNT)))
RIGHT = choices(*[1] * COUNT)
DIFFERENT = choices(*(place % 3 % 2 for place in range(COUNT)))


def fixed(**changes):
    return Fixed(**{"ours": EVEN, "first": RIGHT, "second": DIFFERENT, "suspect": EVEN, **changes})


def case_of(responses, given=None, batch=None, **options):
    (reference,) = MODELS.references
    batches = batch and InBatches(size=batch, alpha=0.05, relates=lambda case, looks: True)
    return make_case(MODELS, reference, given or items(), responses, batches=batches, **options)


def test_the_suspect_comes_last_and_its_row_second():
    responses = fixed()
    case, looks = case_of(responses)
    assert [name for name, _ in responses.log] == ["ours", "first", "second", "suspect"]
    assert looks == ()
    assert case.answers.answers[0].tolist() == case.answers.answers[1].tolist()
    assert case.answers.answers[2].tolist() == [1] * COUNT
    assert (case.reference, case.suspect, case.controls) == ("ours", "suspect", ("first", "second"))
    assert (case.queries, case.hash) == (COUNT, items().hash)


def test_the_questions_are_given_in_words():
    first, second, *_ = case_of(fixed(suspect=choices(*[None] * COUNT)))[0].items
    assert (first.reference, second.reference) == ("yes", "no")
    assert (first.suspect, first.gold, first.text) == ("", "no", "Which 0?")


def test_questions_of_the_same_words_are_asked_and_counted_once():
    assert case_of(fixed(), items(text="Which?"))[0].queries == 1


def test_in_batches_questions_that_show_skill_come_first_and_the_case_ends_where_asking_ends():
    # Two controls can never bring p to 0.05: everything is asked, in batches of 25.
    responses = fixed()
    case, looks = case_of(responses, batch=25)
    batches = [ids for name, ids in responses.log if name == "suspect"]
    assert [len(ids) for ids in batches] == [25, 25, 10]
    # Fewer questions than show the skill: all in their own order.
    assert batches[0] == [str(place) for place in range(25)]
    assert case.representative == REPRESENTATIVE > 60
    assert [look.asked for look in looks] == [25, 50, 60]
    assert [one.id for one in case.items] == [one for ids in batches for one in ids]


def test_the_same_answers_in_batches_or_at_once_make_the_same_case():
    at_once, in_batches = (case_of(fixed(), batch=batch)[0] for batch in (None, 20))
    order = [int(one.id) for one in in_batches.items]
    assert (at_once.answers.answers[:, order] == in_batches.answers.answers).all()


@pytest.mark.parametrize("given", [0, FEWEST_ITEMS - 1])
def test_a_reference_that_answers_too_little_is_refused_before_others_are_asked(given):
    few = [*EVEN[:given], *choices(*[None] * (COUNT - given))]
    responses = fixed(ours=few)
    with pytest.raises(DataError) as caught:
        case_of(responses)
    assert f"60 questions, of which the reference `ours` answers {given}" in caught.value.found
    assert f"at least {FEWEST_ITEMS}" in caught.value.expected
    assert [name for name, _ in responses.log] == ["ours"]


def test_thirty_answers_are_enough():
    few = [*EVEN[:FEWEST_ITEMS], *choices(*[None] * (COUNT - FEWEST_ITEMS))]
    assert case_of(fixed(ours=few))[0].answers.given[0].sum() == FEWEST_ITEMS


def test_a_constant_reference_is_refused_with_what_it_always_says():
    responses = fixed(ours=RIGHT)
    with pytest.raises(DataError) as caught:
        case_of(responses)
    assert "`ours` answers 'no' to all of 60 questions" in caught.value.found
    assert [name for name, _ in responses.log] == ["ours"]


def questions(gold, *, options=5, words=None):
    """Questions with these right answers, in words or by the number of the option."""
    names = tuple(f"option {number}" for number in range(options))
    return [
        ReuseItem(
            id=str(place),
            unit=str(place),
            question=Question(
                id=str(place), text=f"Question {place}?", options=() if words else names
            ),
            key=AnswerKey(
                str(place),
                gold=choice(right, words, place),
                options=None if words else options,
            ),
            gold=None,
        )
        for place, right in enumerate(gold)
    ]


def choice(number, words=None, place=0):
    if number == NOT_GIVEN:
        return None
    return words(place, number) if words else int(number)


def given_answers(row, words=None):
    return [Response(choice(number, words, place)) for place, number in enumerate(row)]


def in_batches(rows, gold, *, batch=50, alpha=0.05, words=None, relates=None):
    """Ask in batches; returns the case, the looks at it, and the verdict."""
    controls = [f"control {place}" for place in range(1, len(rows) - 1)]
    names = ["ours", "suspect", *controls]
    responses = Fixed(
        **{name: given_answers(row.tolist(), words) for name, row in zip(names, rows, strict=True)}
    )
    models = ReuseModels(
        suspect=MODELS.suspect,
        references=MODELS.references,
        controls=tuple(model(name, "control") for name in controls),
    )

    def is_related(case, looks):
        return judged(case, looks=looks).decision == "related"

    case, looks = make_case(
        models,
        models.references[0],
        ItemSet(items=tuple(questions(gold.tolist(), words=words))),
        responses,
        batches=InBatches(size=batch, alpha=alpha, relates=relates or is_related),
    )
    asked = [name for model, ids in responses.log if model == "suspect" for name in ids]
    assert [item.id for item in case.items] == asked
    return case, looks, judged(case, looks=looks)


def in_words(place, number):
    return f"answer {number} to {place}"


@pytest.mark.parametrize("words", [None, in_words])
def test_a_copy_is_found_with_few_questions(words):
    rows, gold = strangers(0)
    case, looks, verdict = in_batches(taking(rows, 1.0), gold, words=words)
    assert len(case.items) <= 100
    assert (looks[-1].asked, looks[-1].p_value) == (len(case.items), 1 / 26)
    assert verdict.decision == "related"


@pytest.mark.parametrize("seed", range(2))
def test_what_ends_the_asking_early_is_related(seed):
    rows, gold = strangers(seed, items=400)
    case, looks, verdict = in_batches(taking(rows, 0.4, seed), gold, batch=(20, 5)[seed])
    assert len(case.items) < 400
    assert looks[-1].p_value <= 0.05
    # Not as soon as the p-value allows, but as soon as other questions would say the same.
    assert verdict.decision == "related"
    assert verdict.shared >= FEWEST_SHARED


def test_the_first_questions_are_drawn_whatever_the_reference_answers():
    items = questions([0] * 300)
    one, other = (asking_order(items, given_answers(np.full(300, choice))) for choice in (0, 1))
    assert one[:REPRESENTATIVE] == other[:REPRESENTATIVE]
    assert sorted(one) == list(range(300))
    assert one[REPRESENTATIVE:] == sorted(one[REPRESENTATIVE:])


def test_a_suspect_like_any_other_is_asked_everything():
    rows, gold = strangers(2, items=310)
    case, looks, verdict = in_batches(rows, gold)
    assert len(case.items) == 310
    assert [one.asked for one in looks] == [50, 100, 150, 200, 250, 300, 310]
    assert verdict.decision != "related"


def test_one_that_answers_nothing_is_asked_everything_and_never_related():
    rows, gold = strangers(1)
    case, looks, verdict = in_batches(with_suspect(rows, NOT_GIVEN), gold)
    assert len(case.items) == 300
    assert {one.p_value for one in looks} == {1.0}
    assert verdict.decision == "undecided"


def never(case, looks):
    return False


def looks_by_hand(case, rows, options, ends):
    """The looks of the sequential test at these answers, in the order in which they were asked."""
    order = [int(item.id) for item in case.items]
    test = SequentialTest(rows[0, order], rows[2:, order], np.full(len(order), options), looks=ends)
    return test.looks_at(rows[1, order])


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.1, 0.3]))
def test_p_never_rises_and_is_that_of_the_sequential_test(seed, share):
    rows, gold = strangers(seed, controls=20, items=90)
    rows = taking(rows, share, seed)
    rows[1, ::7] = NOT_GIVEN
    rows[0, ::11] = NOT_GIVEN
    case, looks, _ = in_batches(rows, gold, batch=20, alpha=0.01, relates=never)
    assert looks == looks_by_hand(case, rows, 5, [20, 40, 60, 80, 90])
    p_values = [look.p_value for look in looks]
    assert p_values == sorted(p_values, reverse=True)


def test_in_words_there_are_as_many_options_as_there_could_be(monkeypatch):
    # Were they counted from the controls' answers, a control's own words would count against it
    # and the suspect's would not.
    counts = []

    def recorded(reference, controls, options, looks):
        counts.extend(options.tolist())
        return SequentialTest(reference, controls, options, looks=looks)

    monkeypatch.setattr("scope.jobs.reuse.asking.SequentialTest", recorded)
    rows, gold = strangers(5, controls=20, items=100)
    case, looks, _ = in_batches(rows, gold, batch=25, alpha=0.01, words=in_words, relates=never)
    assert looks == looks_by_hand(case, rows, 23, [25, 50, 75, 100])
    assert counts == [23] * 100


def test_mistakes_are_asked_first_then_what_the_reference_was_least_sure_of():
    items = questions([1, 1, UNKNOWN, 1, 1, 1], options=2)
    reference = [
        Response(1, (0.1, 0.9)),
        Response(1, (0.4, 0.6)),
        Response(0, (0.7, 0.3)),
        Response(None),
        Response(0, (0.8, 0.2)),
        Response(0),
    ]
    # Wrong and unsure, wrong; unsure, less so, sure; without an answer.
    assert informative_order(items, reference) == [4, 5, 1, 2, 0, 3]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 4)), max_size=12))
def test_every_question_is_asked_once_and_of_equals_the_first_comes_first(pairs):
    gold, reference = [one for one, _ in pairs], [one for _, one in pairs]
    order = informative_order(questions(gold), given_answers(reference))
    assert sorted(order) == list(range(len(pairs)))
    wrong = [reference[place] not in (NOT_GIVEN, gold[place]) for place in order]
    assert wrong == sorted(wrong, reverse=True)
    for kind in (True, False):
        places = [place for place, one in zip(order, wrong, strict=True) if one == kind]
        assert places == sorted(places)
