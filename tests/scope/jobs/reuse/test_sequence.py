"""Asking in batches: who is asked what, when it ends, and what the order depends on."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from made_up_cases import judged, make_case, strangers, taking, with_suspect

from scope.jobs.reuse.answer_matrix import NOT_GIVEN, UNKNOWN, AnswerKey, Response
from scope.jobs.reuse.questions import ReuseItem
from scope.jobs.reuse.sequence import (
    REPRESENTATIVE,
    ask_in_batches,
    asking_order,
    informative_order,
)
from scope.jobs.reuse.usability import FEWEST_SHARED
from scope.records import Question
from scope.statistics.sequential import SequentialTest


def questions(gold, *, options=5):
    return [
        ReuseItem(
            id=f"q{place}",
            unit=f"q{place}",
            question=Question(id=f"q{place}", text=f"Question {place}?"),
            key=AnswerKey(f"q{place}", gold=None if one == UNKNOWN else one, options=options),
            gold=None,
        )
        for place, one in enumerate(gold)
    ]


def given_answers(row):
    return [Response(None if one == NOT_GIVEN else int(one)) for one in row]


class Suspect:
    """Answers in turn, and remembers what it was asked."""

    def __init__(self, answers):
        self.answers, self.asked = answers, []

    def __call__(self, some):
        start = len(self.asked)
        self.asked += [one.id for one in some]
        return self.answers[start : len(self.asked)]


def interviewed(rows, gold, *, batch=50, alpha=0.05, words=None):
    """Ask in the order of a test; returns what was asked, what came of it, and the verdict."""
    items = questions(gold.tolist())
    reference, suspect, *controls = map(given_answers, rows)
    order = asking_order(items, reference)

    def ordered(row):
        return [row[place] for place in order]

    if words:
        items = [replace(one, key=replace_key(one.key, words, n)) for n, one in enumerate(items)]
        reference, suspect, *controls = (
            [
                Response(None if one.choice is None else words(place, one.choice))
                for place, one in enumerate(row)
            ]
            for row in (reference, suspect, *controls)
        )
    asks = Suspect(ordered(suspect))

    def relates(answers, looks):
        so_far = order[: len(answers)]
        case = make_case(rows[:, so_far], gold[so_far], words=words, representative=REPRESENTATIVE)
        return judged(case, looks=looks).decision == "related"

    stopped = ask_in_batches(
        ordered(items),
        ordered(reference),
        [ordered(row) for row in controls],
        asks,
        relates,
        batch=batch,
        alpha=alpha,
    )
    assert stopped.answers == ordered(suspect)[: len(asks.asked)]
    assert asks.asked == [items[place].id for place in order][: len(asks.asked)]
    seen = order[: len(asks.asked)]
    case = make_case(rows[:, seen], gold[seen], words=words, representative=REPRESENTATIVE)
    verdict = judged(case, looks=stopped.looks)
    return len(asks.asked), stopped.looks, verdict


def replace_key(key, words, place):
    return AnswerKey(key.unit, gold=None if key.gold is None else words(place, key.gold))


def in_words(place, number):
    return f"answer {number} to {place}"


def ever(answers, looks):
    """Answers never suffice."""
    return False


@pytest.mark.parametrize("words", [None, in_words])
def test_a_copy_is_found_with_few_questions(words):
    rows, gold = strangers(0)
    asked, looks, verdict = interviewed(taking(rows, 1.0), gold, words=words)
    assert asked <= 100
    assert (looks[-1].asked, looks[-1].p_value) == (asked, 1 / 26)
    assert verdict.decision == "related"


@pytest.mark.parametrize("seed", range(4))
def test_what_ends_the_asking_early_is_related(seed):
    rows, gold = strangers(seed, items=400)
    asked, looks, verdict = interviewed(taking(rows, 0.4, seed), gold, batch=20)
    assert asked < 400
    assert looks[-1].p_value <= 0.05
    # Not as soon as the p-value allows, but as soon as other questions would say the same.
    assert verdict.decision == "related"
    assert verdict.shared >= FEWEST_SHARED


def test_small_batches_do_not_end_before_a_verdict_could_rest_on_them():
    rows, gold = strangers(0)
    asked, looks, verdict = interviewed(taking(rows, 1.0), gold, batch=5)
    assert looks[2].p_value <= 0.05
    assert FEWEST_SHARED <= asked <= 100
    assert verdict.decision == "related"


def test_the_first_questions_are_drawn_whatever_the_reference_answers():
    items = questions([0] * 300)
    one, other = (asking_order(items, given_answers(np.full(300, choice))) for choice in (0, 1))
    assert one[:REPRESENTATIVE] == other[:REPRESENTATIVE]
    assert sorted(one) == list(range(300))
    assert one[REPRESENTATIVE:] == sorted(one[REPRESENTATIVE:])


def test_a_suspect_like_any_other_is_asked_everything():
    rows, gold = strangers(2, items=310)
    asked, looks, verdict = interviewed(rows, gold)
    assert asked == 310
    assert [one.asked for one in looks] == [50, 100, 150, 200, 250, 300, 310]
    assert verdict.decision != "related"


def test_one_that_answers_nothing_is_asked_everything_and_never_related():
    rows, gold = strangers(1)
    asked, looks, verdict = interviewed(with_suspect(rows, NOT_GIVEN), gold)
    assert asked == 300
    assert {one.p_value for one in looks} == {1.0}
    assert verdict.decision == "undecided"


def test_too_few_controls_never_end_it():
    rows, gold = strangers(1, controls=18, items=120)
    asked, _, verdict = interviewed(taking(rows, 1.0), gold)
    assert asked == 120
    assert verdict.reasons[0].startswith("18 controls are too few")


def test_a_batch_of_everything_is_one_look():
    rows, gold = strangers(1, items=60)
    asked, looks, _ = interviewed(rows, gold, batch=1000)
    assert (asked, [one.asked for one in looks]) == (60, [60])


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.1, 0.3]))
def test_p_never_rises_and_is_that_of_the_sequential_test(seed, share):
    rows, gold = strangers(seed, controls=20, items=90)
    rows = taking(rows, share, seed)
    rows[1, ::7] = NOT_GIVEN
    rows[0, ::11] = NOT_GIVEN
    asks = Suspect(given_answers(rows[1]))
    items = questions(gold.tolist())
    stopped = ask_in_batches(
        items,
        given_answers(rows[0]),
        [*map(given_answers, rows[2:])],
        asks,
        ever,
        batch=20,
        alpha=0.01,
    )
    test = SequentialTest(rows[0], rows[2:], np.full(90, 5), looks=[20, 40, 60, 80, 90])
    assert stopped.looks == test.looks_at(rows[1])
    p_values = [one.p_value for one in stopped.looks]
    assert p_values == sorted(p_values, reverse=True)


def test_in_words_there_are_as_many_options_as_there_could_be_whatever_was_said():
    # Were they counted from the controls' answers, a control's own words would count against it
    # and the suspect's would not.
    rows, gold = strangers(5, controls=20, items=100)
    items = [
        replace(one, key=replace_key(one.key, in_words, place))
        for place, one in enumerate(questions(gold.tolist()))
    ]
    reference, suspect, *controls = (
        [Response(in_words(place, one)) for place, one in enumerate(row)] for row in rows
    )
    asks = Suspect(suspect)
    stopped = ask_in_batches(items, reference, controls, asks, ever, batch=25, alpha=0.01)
    test = SequentialTest(rows[0], rows[2:], np.full(100, 23), looks=[25, 50, 75, 100])
    assert stopped.looks == test.looks_at(rows[1])


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
