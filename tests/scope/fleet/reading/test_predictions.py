"""Folders of saved predictions, one file a model."""

import gzip
import json

import numpy as np
import pandas
import pytest

from scope.errors import DataError
from scope.fleet.reading import read_matrix, read_questions
from scope.fleet.reading.predictions import prediction_files


@pytest.fixture
def save(tmp_path):
    def saved(model, *rows):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{model}.jsonl").write_text(text, encoding="utf-8")
        return tmp_path

    return saved


def test_the_greatest_probability_is_held_against_gold(save):
    labels = ["negative", "positive"]
    first = {"id": "1", "text": "Fine.", "probabilities": [0.2, 0.8], "labels": labels}
    save("a", {**first, "gold": "positive"}, {"id": "2", "probabilities": [0.9, 0.1], "gold": 1})
    folder = save("b", {**first, "gold": 0}, {"id": "2", "probabilities": [0.5, 0.5], "gold": 0})
    matrix = read_matrix(folder)
    assert (matrix.models, matrix.ids, matrix.texts) == (("a", "b"), ("1", "2"), ("Fine.", ""))
    assert matrix.correct.tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        (1, 1, 1),
        ("B", 1, 1),
        (0, "B", 0),
        ("Paris and Rome", "Rome and Paris", 1),
        ("Paris", ["Rome", "Paris"], 1),
        ("Paris", "Rome", 0),
        (None, "Rome", 0),
        (40, 40, 1),
    ],
)
def test_an_answer_is_held_against_gold(answer, gold, right, save):
    folder = save("a", {"id": "1", "answer": answer, "gold": gold})
    assert read_questions(folder).matrix.correct.tolist() == [[right]]


def test_answers_may_be_called_by_their_options(save):
    options = {"options": ["Ann", "Bob"]}
    folder = save(
        "a",
        {"id": "1", "text": "Who?", "answer": "Bob", "gold": "B", **options},
        {"id": "2", "text": "Who else?", "answer": 0, "gold": "Bob", **options},
    )
    matrix = read_matrix(folder)
    assert matrix.correct.tolist() == [[1.0], [0.0]]
    assert matrix.texts[0] == "Who?\nAnn\nBob"


def test_labels_that_look_like_letters_are_labels_first(save):
    row = {"id": "1", "answer": "B", "gold": 0, "labels": ["B", "A"]}
    assert read_questions(save("a", row)).matrix.correct.tolist() == [[1.0]]


def test_rows_without_gold_are_left_out_and_counted(save):
    folder = save(
        "a",
        {"id": "1", "answer": "x", "gold": "x"},
        {"id": "2", "answer": "x", "gold": None},
        {"id": "3", "answer": "x", "gold": "y"},
    )
    matrix = read_matrix(folder)
    assert matrix.ids == ("1", "3")
    assert matrix.notes == ("1 row was left out, for no right answer is known",)


def test_without_gold_there_are_questions_all_the_same(save):
    folder = save("a", {"id": "1", "text": "Who?", "answer": "x"})
    questions = read_questions(folder)
    assert (questions.texts, questions.matrix) == (("Who?",), None)


def test_files_without_ids_are_matched_by_text(save):
    save("a", {"id": "7", "text": "Who?", "answer": "x", "gold": "x"})
    folder = save("b", {"text": "Who?", "answer": "y", "gold": "x"})
    matrix = read_matrix(folder)
    assert (matrix.ids, matrix.correct.tolist()) == (("7",), [[1.0, 0.0]])


def test_a_text_of_two_ids_cannot_be_matched(save):
    row = {"text": "Who?", "answer": "x", "gold": "x"}
    save("a", {"id": "7", **row}, {"id": "8", **row})
    with pytest.raises(DataError, match=r"the text 'Who\?' under two ids, `7` and `8`"):
        read_matrix(save("b", row))


def test_files_may_be_packed_or_parquet(tmp_path):
    row = {"id": "1", "answer": "x", "gold": "x"}
    with gzip.open(tmp_path / "a.jsonl.gz", "wt") as file:
        file.write(json.dumps(row))
    frame = pandas.DataFrame([{"id": 1, "probabilities": [0.9, 0.1], "gold": 1.0}])
    frame.to_parquet(tmp_path / "v1.5-b.parquet")
    (tmp_path / "notes.txt").write_text("nothing")
    assert list(prediction_files(tmp_path)) == ["a", "v1.5-b"]
    np.testing.assert_array_equal(read_matrix(tmp_path).correct, [[1, 0]])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"answer": "x", "gold": "x"}, "line 1 of a.jsonl: neither `id` nor `text`"),
        ({"id": "1", "gold": "x"}, "line 1 of a.jsonl: neither `answer` nor `probabilities`"),
        ({"id": "1", "answer": "x"}, "no column for the gold in a.jsonl"),
        ({"id": "1", "probabilities": [0.5, 2], "gold": 1}, r"`probabilities` is \[0\.5, 2\]"),
        (
            {"id": "1", "answer": "x", "gold": 1},
            "the answer is 'x', which is not one of the options",
        ),
        (
            {"id": "1", "probabilities": [1, 0], "gold": 1, "labels": ["a", "b", "c"]},
            "3 numbers from 0 to 1, one for each label or option",
        ),
        (
            {"id": "1", "answer": 1, "gold": "good", "labels": ["bad", "better"]},
            "the answer is 'good', which is not one of the options",
        ),
    ],
)
def test_a_row_that_cannot_be_read_is_named(row, message, save):
    with pytest.raises(DataError, match=message):
        read_matrix(save("a", row))


def test_an_empty_folder_is_no_folder_of_predictions(tmp_path):
    with pytest.raises(DataError, match=r"one file a model, its name ending in \.jsonl"):
        read_matrix(tmp_path)
