"""What an answer matrix refuses, and the answer that stands in for an unknown right one."""

import numpy as np
import pytest
from made_up_pools import pool

from scope.evidence.answers import NOT_GIVEN, UNKNOWN, AnswerMatrix


def matrix(**changes):
    whole = {
        "answers": np.array([[0, 1], [NOT_GIVEN, 2]]),
        "options": np.array([2, 3]),
        "gold": np.array([UNKNOWN, 2]),
        "units": np.array([0, 0]),
    }
    return AnswerMatrix(**{**whole, **changes})


def test_what_was_not_given_is_told_from_what_was():
    assert matrix().given.tolist() == [[True, True], [False, True]]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"options": np.array([2])}, "to 1 questions"),
        ({"gold": np.array([0])}, "2 answers a model"),
        ({"units": np.array([0, 1, 2])}, "2 answers a model"),
        ({"answers": np.array([[2, 0]])}, "an answer is none"),
        ({"answers": np.array([[-2, 0]])}, "an answer is none"),
        ({"gold": np.array([2, 0])}, "a right answer is none"),
        (
            {
                "options": np.array([1, 3]),
                "gold": np.zeros(2, int),
                "answers": np.zeros((1, 2), int),
            },
            "or there is one",
        ),
        ({"probabilities": np.zeros((2, 2, 2))}, "have the shape"),
        ({"probabilities": np.zeros((1, 2, 3))}, "have the shape"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes, complaint):
    with pytest.raises(ValueError, match=complaint):
        matrix(**changes)


def test_where_nobody_knows_the_right_answer_the_most_frequent_one_stands_in():
    answers = [[2, 0, 1, 0], [2, 1, 3, 0], [1, 1, NOT_GIVEN, 0], [NOT_GIVEN, 0, NOT_GIVEN, 0]]
    found = pool(answers, gold=[UNKNOWN, UNKNOWN, UNKNOWN, 3])
    # Two against one; a tie, of which the first counts; another tie; a right answer nobody gave.
    assert found.expected_right().tolist() == [2, 0, 1, 3]


def test_a_question_that_nobody_answered_has_some_expected_answer_all_the_same():
    assert pool([[NOT_GIVEN], [NOT_GIVEN]], gold=UNKNOWN).expected_right().tolist() == [0]
