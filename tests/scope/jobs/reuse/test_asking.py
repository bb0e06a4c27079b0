"""Asking the questions of one reference: which model is asked what, in which order, and the end."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, strategies as st
from made_up_cases import judged, strangers, taking

from scope.errors import DataError
from scope.jobs.reuse.answer_matrix import NOT_GIVEN, Response
from scope.jobs.reuse.asking import (
    REPRESENTATIVE,
    InBatches,
    informative_order,
    make_case,
)
from scope.jobs.reuse.models import ReuseModels
from scope.jobs.reuse.questions import ItemSet, task_items
from scope.jobs.reuse.responses import Responses
from scope.jobs.reuse.usability import FEWEST_SHARED
from scope.models.model import Model
from scope.records import Item, Question
from scope.statistics.sequential import SequentialTest


@dataclass(frozen=True, kw_only=True)
class Fixed(Responses):
    """Responses with fixed answers for each model; records the questions."""

    rows: dict[str, list[Response]]
    log: list[tuple[str, list[str]]] = field(default_factory=list)

    def answers(self, model, items):
        self.log.append((model.name, [one.id for one in items]))
        return [self.rows[model.name][int(one.id)] for one in items]

    def truncated(self):
        return {}


def choice(number, words, place):
    if number == NOT_GIVEN:
        return None
    return words(place, number) if words else int(number)


def given_answers(row, words=None):
    return [Response(choice(number, words, place)) for place, number in enumerate(row)]


def questions(gold, words=None):
    """Questions with these right answers, in words or by the number of the option."""
    names = () if words else tuple(f"option {number}" for number in range(5))
    return task_items(
        Item(
            question=Question(id=str(place), text=f"Question {place}?", options=names),
            gold=(words(place, right),) if words else (),
            right=None if words else int(right),
        )
        for place, right in enumerate(gold)
    ).items


def responses_to(rows, words=None):
    names = ["ours", "suspect", *(f"control {place}" for place in range(1, len(rows) - 1))]
    answers = {name: given_answers(list(row), words) for name, row in zip(names, rows, strict=True)}
    return Fixed(run=None, progress=None, rows=answers)


def case_of(responses, gold, *, words=None, batches=None):
    ours, suspect, *controls = (
        Model(name=name, role="control", adapter=None) for name in responses.rows
    )
    models = ReuseModels(suspect=suspect, references=(ours,), controls=tuple(controls))
    items = ItemSet(items=questions(gold, words))
    return make_case(models, ours, items, responses, batches=batches)


ALTERNATING = [place % 2 for place in range(60)]


def test_in_batches_questions_that_show_skill_come_first_and_the_case_ends_where_asking_ends():
    # Two controls can never bring p to 0.05: everything is asked, in batches of 25.
    rows = [ALTERNATING, ALTERNATING, [1] * 60, [place % 3 % 2 for place in range(60)]]
    responses = responses_to(rows)
    batches = InBatches(size=25, alpha=0.05, relates=lambda case, looks: True)
    case, looks = case_of(responses, [1] * 60, batches=batches)
    asked = [ids for name, ids in responses.log if name == "suspect"]
    assert [len(ids) for ids in asked] == [25, 25, 10]
    # Fewer questions than show the skill: all in their own order.
    assert asked[0] == [str(place) for place in range(25)]
    assert case.representative == REPRESENTATIVE > 60
    assert [look.asked for look in looks] == [25, 50, 60]
    assert [one.id for one in case.items] == [one for ids in asked for one in ids]


def test_a_reference_that_answers_too_little_is_refused():
    few, alike = [NOT_GIVEN] * 31 + ALTERNATING[31:], [1] * 60
    for answers, told in ((few, "answers 29"), (alike, "answers 'option 1' to all of 60")):
        with pytest.raises(DataError) as caught:
            case_of(responses_to([answers] * 4), [1] * 60)
        assert told in caught.value.found


def in_batches(rows, gold, *, batch=50, alpha=0.05, words=None, relates=None):
    """Ask in batches; returns the case, the looks at it, and the verdict."""

    def is_related(case, looks):
        return judged(case, looks=looks).decision == "related"

    batches = InBatches(size=batch, alpha=alpha, relates=relates or is_related)
    responses = responses_to(rows.tolist(), words)
    case, looks = case_of(responses, gold.tolist(), words=words, batches=batches)
    asked = [name for model, ids in responses.log if model == "suspect" for name in ids]
    assert [item.id for item in case.items] == asked
    return case, looks, judged(case, looks=looks)


def in_words(place, number):
    return f"answer {number} to {place}"


def test_what_ends_the_asking_early_is_related():
    rows, gold = strangers(0, items=400)
    case, looks, verdict = in_batches(taking(rows, 0.4, 0), gold, batch=20)
    assert len(case.items) < 400
    assert looks[-1].p_value <= 0.05
    # Not as soon as the p-value allows, but as soon as other questions would say the same.
    assert verdict.decision == "related"
    assert verdict.shared >= FEWEST_SHARED


def test_a_suspect_like_any_other_is_asked_everything():
    rows, gold = strangers(2, items=310)
    case, looks, verdict = in_batches(rows, gold)
    assert len(case.items) == 310
    assert [one.asked for one in looks] == [50, 100, 150, 200, 250, 300, 310]
    assert verdict.decision != "related"


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
