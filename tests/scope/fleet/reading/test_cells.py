"""Single answers become a matrix, whatever their order."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scope.errors import DataError
from scope.fleet.reading import cells
from scope.fleet.reading.cells import (
    GivenAnswer,
    UnreadableError,
    cells_of,
    correct_of,
    matrix_of,
    natural_order,
    options_of,
    written_of,
)


def answers(*rows):
    return cells_of([GivenAnswer(model, id_, None, None, right) for model, id_, right in rows])


def test_cells_given_twice_alike_are_counted_and_count_once():
    matrix = matrix_of(answers(("a", "1", 1), ("a", "1", 1), ("b", "1", 0)))
    assert (matrix.repeated, matrix.conflicts) == (1, 0)
    assert matrix.correct.tolist() == [[1.0, 0.0]]


def test_a_question_and_a_model_with_nothing_but_ties_are_left_out_and_said_to_be():
    rows = [("a", "1", 1), ("b", "1", 0), ("a", "2", 1), ("a", "2", 0), ("c", "1", 1)]
    matrix = matrix_of(answers(*rows, ("c", "1", 0)))
    assert (matrix.ids, matrix.models) == (("1",), ("a", "b"))
    assert matrix.left_out == (
        "1 question left out, for nothing but ties is known of them: `2`",
        "1 model left out, for nothing but ties is known of them: `c`",
    )
    assert matrix.conflicts == 2


def test_a_question_that_nobody_was_known_to_answer_is_an_error_and_not_left_out():
    with pytest.raises(DataError, match="no answer to 1 of 2 questions: `2`"):
        matrix_of(answers(("a", "1", 1), ("b", "1", 0), ("a", "2", -1)))


def test_a_part_keeps_all():
    rows = answers(("a", "1", 1), ("a", "2", -1), ("b", "1", 1), ("b", "1", 0))
    part = matrix_of(rows, part=True)
    np.testing.assert_array_equal(part.correct, [[1, np.nan], [np.nan, np.nan]])


def test_numbers_in_names_stand_by_their_value():
    names = ["q10", "q9", "q09", "a", "7b", "13b", "1" * 5000]
    ordered = ["7b", "13b", "1" * 5000, "a", "q09", "q9", "q10"]
    assert [names[place] for place in natural_order(names)] == ordered


def test_a_column_taken_for_the_models_is_no_reason_to_fill_the_memory(monkeypatch):
    monkeypatch.setattr(cells, "MOST_CELLS", 3)
    with pytest.raises(DataError, match="2 models and 2 questions, which are more than 3 cells"):
        matrix_of(answers(("a", "1", 1), ("b", "2", 0)))


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["1", "2", "10"]), st.integers(-1, 1)),
        min_size=1,
    ),
    st.randoms(use_true_random=False),
)
def test_shuffled_answers_make_the_same_matrix(rows, random):
    one = matrix_of(answers(*rows), part=True)
    random.shuffle(rows)
    other = matrix_of(answers(*rows), part=True)
    assert one.fingerprint == other.fingerprint


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from("12"), st.integers(0, 1)), min_size=1
    )
)
def test_each_cell_is_what_most_say(rows):
    matrix = matrix_of(answers(*rows), part=True)
    for row, id_ in enumerate(matrix.ids):
        for column, model in enumerate(matrix.models):
            votes = [right for one, two, right in rows if (one, two) == (model, id_)]
            expected = np.nan if 2 * sum(votes) == len(votes) else sum(votes) > len(votes) / 2
            np.testing.assert_equal(float(matrix.correct[row, column]), float(expected))


SPELLINGS = {
    1: [1, 1.0, True, "1", "1.0", " TRUE", "right", "Right"],
    0: [0, 0.0, False, "0", "false", "Wrong"],
    -1: [None, math.nan, "", "  ", "NaN", "nan"],
}


@pytest.mark.parametrize("correct", SPELLINGS)
def test_right_wrong_and_unknown_have_many_spellings(correct):
    assert {correct_of(value) for value in SPELLINGS[correct]} == {correct}


@pytest.mark.parametrize("value", [2, 0.5, "yes", "A", [1]])
def test_anything_else_is_neither_right_nor_wrong(value):
    with pytest.raises(UnreadableError) as error:
        correct_of(value)
    assert repr(value) in error.value.found


def test_texts_are_as_they_stand():
    assert (written_of(" a "), written_of("  "), written_of(None)) == (" a ", None, None)


@pytest.mark.parametrize("value", [["a"], {"a": 1}, "a\0b", "\ud800"])
def test_what_is_no_text_cannot_be_read(value):
    with pytest.raises(UnreadableError):
        written_of(value)


def test_options_are_a_list_whatever_it_is_wrapped_in():
    assert options_of({"text": ["x", "y"], "label": ["A", "B"]}) == ("x", "y")
    with pytest.raises(UnreadableError):
        options_of([1, 2])
    with pytest.raises(UnreadableError):
        options_of(4)
