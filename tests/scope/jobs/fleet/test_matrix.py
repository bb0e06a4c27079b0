"""The matrix of who answered what correctly: its checks, its parts, its fingerprint.

The inputs of the jobs on a fleet: texts, held-out questions, costs and communities.
"""

from dataclasses import replace

import numpy as np
import pandas
import pytest
from hypothesis import given, strategies as st

from scope.errors import DataError, SpecError
from scope.jobs.fleet import matrix as matrices
from scope.jobs.fleet.matrix import (
    CorrectnessMatrix,
    matrix_of,
    read_communities,
    read_costs,
    read_matrix,
    read_questions,
)
from scope.jobs.fleet.questions import held_out_rows


def made(correct=((1, 0), (np.nan, 1)), **changes):
    fields = {
        "models": ("a", "b"),
        "ids": ("1", "2"),
        "texts": ("Who?", ""),
        "categories": ("arc", None),
        "correct": np.array(correct),
    }
    return CorrectnessMatrix(**{**fields, **changes})


def test_the_fingerprint_changes_with_anything():
    matrix = made()
    others = [
        replace(matrix, models=("a", "c")),
        replace(matrix, ids=("1", "3")),
        replace(matrix, texts=("Who?", "Why?")),
        replace(matrix, categories=("arc", "arc")),
        replace(matrix, conflicts=1),
        made([[1, 0], [0, 1]]),
        made([[1, 0], [1, np.nan]]),
    ]
    assert len({matrix.fingerprint, *(other.fingerprint for other in others)}) == 8
    assert made().fingerprint == matrix.fingerprint


@pytest.mark.parametrize(
    ("correct", "message"),
    [
        ([[1, 1], [np.nan, 1]], "all 3 answers are right"),
        ([[1, 0], [np.nan, np.nan]], r"no answer to 1 of 2 questions: `2`"),
        ([[1, np.nan], [0, np.nan]], r"no answer of 1 of 2 models: `b`"),
        (np.full((2, 2), np.nan), "no known answer"),
    ],
)
def test_a_matrix_without_answers_to_learn_from_is_refused(correct, message):
    with pytest.raises(DataError, match=message):
        made(correct).checked()


def test_notes_tell_the_rules_that_were_applied():
    matrix = made(conflicts=2, repeated=1, left_out=("something",))
    assert [matrices.CONFLICT_RULE in note for note in matrix.notes] == [False, True, False]
    assert matrix.notes[2] == "something"
    assert made().notes == ()


def test_tables_are_joined_by_the_names_of_models_and_questions(write):
    one = write("one.csv", "model,item,text,correct", "b,1,Who?,1", "b,2,Why?,0")
    two = write("two.csv", "model,item,category,correct", "a,2,qa,1", "b,2,qa,0", "a,3,qa,1")
    matrix = read_matrix([one, two])
    assert (matrix.models, matrix.ids) == (("a", "b"), ("1", "2", "3"))
    assert (matrix.texts, matrix.categories) == (("Who?", "Why?", ""), (None, "qa", "qa"))
    np.testing.assert_array_equal(matrix.correct, [[np.nan, 1], [1, 0], [1, np.nan]])
    assert matrix.repeated == 1
    assert read_matrix([two, one]).fingerprint == matrix.fingerprint


def test_a_table_beside_others_may_tell_of_questions_alone(write):
    answers = write("answers.csv", "model,item,correct", "a,1,1", "a,2,0", "b,1,0")
    told = write("q.csv", "item,question,category", "2,Why?,qa", "1,Who?,qa", "3,When?,qa")
    matrix = read_matrix([told, answers])
    assert (matrix.ids, matrix.texts) == (("1", "2"), ("Who?", "Why?"))
    assert matrix.categories == ("qa", "qa")
    with pytest.raises(DataError, match="no column for model"):
        read_matrix(told)
    with pytest.raises(DataError, match="no answer in"):
        read_matrix([told, write("r.csv", "item,question", "4,How?")])


def test_questions_come_without_answers(write):
    path = write("q.csv", "id,question,subject,label", "10,Why?,qa,Ann", "9,Who?,,Bob")
    questions = read_questions(path)
    assert questions.ids == ("9", "10")
    assert questions.texts == ("Who?", "Why?")
    assert questions.categories == (None, "qa")
    assert questions.models == ()


def test_a_file_of_questions_with_none_is_refused(write):
    with pytest.raises(DataError, match=r"no question in .*q\.csv"):
        read_questions(write("q.csv", "id,question"))


def answers(*rows):
    known = [(model, id_, None if right < 0 else right) for model, id_, right in rows]
    frame = pandas.DataFrame(known, columns=["model", "id", "correct"], dtype=object)
    return [frame.assign(text=None, category=None)]


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
    matrix = matrix_of(answers(("a", "1", 1), ("b", "1", 0), ("a", "2", -1)))
    with pytest.raises(DataError, match="no answer to 1 of 2 questions: `2`"):
        matrix.checked()


def test_a_part_keeps_all():
    rows = answers(("a", "1", 1), ("a", "2", -1), ("b", "1", 1), ("b", "1", 0))
    part = matrix_of(rows, part=True)
    np.testing.assert_array_equal(part.correct, [[1, np.nan], [np.nan, np.nan]])


def test_numbers_in_names_stand_by_their_value():
    names = ["q10", "q9", "q09", "a", "7b", "13b", "1" * 5000]
    ordered = ["7b", "13b", "1" * 5000, "a", "q09", "q9", "q10"]
    assert matrices.natural_order(names) == ordered


def test_a_column_taken_for_the_models_is_no_reason_to_fill_the_memory(monkeypatch):
    monkeypatch.setattr(matrices, "MOST_CELLS", 3)
    with pytest.raises(DataError, match="2 models and 2 questions, which are more than 3 cells"):
        matrix_of(answers(("a", "1", 1), ("b", "2", 0)))


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


def texts(questions):
    return [f"What is {number}?" for number in range(questions)]


@given(questions=st.integers(5, 500), seed=st.integers(0, 99))
def test_the_share_is_held_out_and_the_seed_decides_which(questions, seed):
    held_out = held_out_rows(texts(questions), 0.2, seed)
    assert held_out.sum() == round(0.2 * questions)
    assert np.array_equal(held_out, held_out_rows(texts(questions), 0.2, seed))


@given(
    kinds=st.lists(st.integers(0, 9), min_size=20, max_size=60),
    share=st.floats(0.2, 0.8),
    seed=st.integers(0, 99),
)
def test_one_text_is_never_on_both_sides(kinds, share, seed):
    asked = [f"What is {kind}? {' ' * (row % 2)}" for row, kind in enumerate(kinds)]
    try:
        held_out = held_out_rows(asked, share, seed)
    except SpecError:
        # One text may have nearly all questions.
        assert max(map(kinds.count, kinds)) > share * len(kinds) - 1
        return
    assert 0 < held_out.sum() <= round(share * len(kinds))
    sides = set(zip(kinds, held_out.tolist(), strict=True))
    assert len(sides) == len(set(kinds))


@pytest.mark.parametrize("share", [0.001, 0.999])
def test_both_sides_have_a_question(share):
    with pytest.raises(SpecError, match="with questions in both parts"):
        held_out_rows(texts(10), share, 0)


def test_communities_are_read_by_model_and_an_empty_one_is_none(write):
    path = write("families.csv", "model,community,more", "a,llama,1", "b,,2", "c,yi,3")
    assert read_communities(path) == {"a": "llama", "c": "yi"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("model,cost\na,1\na,2", "line 3 of costs.csv: the model `a` again"),
        ("model,cost\na,dear", "line 2 of costs.csv: `dear` as the cost of `a`"),
        ("model,price\na,1", "no column for the cost in costs.csv"),
        ("model,cost\n,1", "line 2 of costs.csv: no model"),
    ],
)
def test_a_table_of_costs_that_is_none_is_refused_by_its_line(write, text, found):
    with pytest.raises(DataError, match=found):
        read_costs(write("costs.csv", text))
