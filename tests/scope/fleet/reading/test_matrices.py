"""Several sources are joined, and questions need have no answers."""

import numpy as np
import pytest

from scope.errors import DataError, SpecError
from scope.fleet.reading import read_matrix, read_questions


@pytest.fixture
def write(tmp_path):
    def written(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return written


def test_tables_are_joined_by_the_names_of_models_and_questions(write):
    one = write("one.csv", "model,item,text,correct\nb,1,Who?,1\nb,2,Why?,0\n")
    two = write("two.csv", "model,item,category,correct\na,2,qa,1\nb,2,qa,0\na,3,qa,1\n")
    matrix = read_matrix([one, two])
    assert (matrix.models, matrix.ids) == (("a", "b"), ("1", "2", "3"))
    assert (matrix.texts, matrix.categories) == (("Who?", "Why?", ""), (None, "qa", "qa"))
    np.testing.assert_array_equal(matrix.correct, [[np.nan, 1], [1, 0], [1, np.nan]])
    assert matrix.repeated == 1
    assert read_matrix([two, one]).fingerprint == matrix.fingerprint


def test_a_table_beside_others_may_tell_of_questions_alone(write):
    answers = write("answers.csv", "model,item,correct\na,1,1\na,2,0\nb,1,0\n")
    told = write("q.csv", "item,question,category\n2,Why?,qa\n1,Who?,qa\n3,When?,qa\n")
    matrix = read_matrix([told, answers])
    assert (matrix.ids, matrix.texts) == (("1", "2"), ("Who?", "Why?"))
    assert matrix.categories == ("qa", "qa")
    with pytest.raises(DataError, match="no column for model"):
        read_matrix(told)
    with pytest.raises(DataError, match="no answer in"):
        read_matrix([told, write("r.csv", "item,question\n4,How?\n")])


def test_one_id_with_two_texts_is_no_question(write):
    one = write("one.csv", "model,item,text,correct\na,1,Who?,1\n")
    two = write("two.csv", "model,item,text,correct\nb,1,Why?,0\n")
    with pytest.raises(DataError, match=r"two texts for the question `1`: 'Who\?' and 'Why\?'"):
        read_matrix([one, two])


def test_no_source_and_a_source_that_is_not_there_are_refused(tmp_path):
    with pytest.raises(SpecError, match="no data"):
        read_matrix([])
    with pytest.raises(DataError, match="no file"):
        read_matrix(tmp_path / "missing.csv")


def test_questions_come_without_answers(write):
    path = write("q.csv", "id,question,subject,label\n10,Why?,qa,Ann\n9,Who?,,Bob\n")
    questions = read_questions(path)
    assert questions.ids == ("9", "10")
    assert questions.texts == ("Who?", "Why?")
    assert questions.categories == (None, "qa")
    assert questions.models == ()


def test_questions_come_with_the_answers_that_there_are(write):
    path = write("q.csv", "id,question,model,correct\n1,Who?,a,1\n2,Why?,,\n")
    questions = read_questions(path)
    assert questions.ids == questions.ids == ("1", "2")
    np.testing.assert_array_equal(questions.correct, [[1], [np.nan]])


def test_answers_that_are_all_unknown_are_none(write):
    path = write("q.csv", "id,question,model,correct\n1,Who?,a,\n")
    assert read_questions(path).models == ()


def test_a_file_of_questions_with_none_is_refused(write):
    with pytest.raises(DataError, match=r"no question in .*q\.csv"):
        read_questions(write("q.csv", "id,question\n"))
