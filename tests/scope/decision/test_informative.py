"""Which questions speak for reuse, and which against it."""

from types import SimpleNamespace

import numpy as np
import pytest
from made_up_cases import make_case, strangers, taking

from scope.decision.informative import AGAINST, FOR_REUSE, informative_items
from scope.evidence.answers import NOT_GIVEN, UNKNOWN
from scope.evidence.shared_mistakes import shared_mistakes


def informative(reference, suspect, expected, gold):
    """The items of a case of one control, where the suspect was expected to agree so often."""
    rows = np.array([reference, suspect, [0] * len(gold)])
    case = make_case(rows, np.array(gold))
    found = SimpleNamespace(expected=np.array([[np.nan] * len(gold), expected, expected]))
    return informative_items(case, found)


def test_agreement_on_an_improbable_mistake_speaks_for_reuse_and_none_on_a_probable_one_against():
    items = informative(
        # A mistake shared and improbable, one not shared and probable, one shared and probable,
        # one not shared and improbable; right; not answered by either; right for the other alone.
        reference=[1, 1, 1, 1, 0, NOT_GIVEN, 1, 0],
        suspect=[1, 2, 1, 0, 0, 1, NOT_GIVEN, 1],
        expected=[0.125, 0.75, 0.875, 0.25, 0.5, np.nan, 0.5, 0.5],
        gold=[0] * 8,
    )
    assert [(one.id, one.weight) for one in items] == [
        ("0", 0.875),
        ("2", 0.125),
        ("1", -0.75),
        ("3", -0.25),
    ]
    first = items[0]
    assert (first.text, first.gold) == ("Question 0?", "option 0")
    assert (first.reference, first.suspect, first.expected) == ("option 1", "option 1", 0.125)


def test_of_equals_the_first_asked_is_shown_on_either_side():
    some = 2 * (FOR_REUSE + 5)
    items = informative(
        reference=[1] * some,
        suspect=[1, 2] * (some // 2),
        expected=[0.5] * some,
        gold=[0] * some,
    )
    assert [one.id for one in items] == [
        *(str(2 * place) for place in range(FOR_REUSE)),
        *(str(2 * place + 1) for place in range(AGAINST)),
    ]


def test_where_no_right_answer_is_known_unusual_answers_speak():
    # Most models answer 0 to the first and 1 to the second question.
    rows = np.array([[2, 1], [2, 1], [0, 1], [0, 1], [0, 1]])
    case = make_case(rows, np.array([UNKNOWN, UNKNOWN]))
    (item,) = informative_items(case, shared_mistakes(case.answers))
    assert (item.id, item.gold, item.reference) == ("0", None, "option 2")
    assert item.weight == pytest.approx(1 - item.expected)


def test_a_copy_has_nothing_against_it():
    rows, gold = strangers(0, controls=8, items=100)
    case = make_case(taking(rows, 1.0), gold)
    items = informative_items(case, shared_mistakes(case.answers))
    assert len(items) == FOR_REUSE
    assert all(one.weight > 0 and one.reference == one.suspect != one.gold for one in items)
    assert [one.weight for one in items] == sorted((one.weight for one in items), reverse=True)
