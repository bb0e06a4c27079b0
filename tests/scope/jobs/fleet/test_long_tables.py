"""Long tables of every kind give the same matrix, and errors say which line it is."""

import json
import math

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
import pytest

from scope.data.fields import UnreadableError
from scope.data.sources import table_source
from scope.errors import DataError, SpecError
from scope.jobs.fleet.correctness import choose_matrix_columns, correct_of, written_of
from scope.jobs.fleet.matrix import read_matrix, read_questions

ROWS = pandas.DataFrame(
    {
        "prompt_id": [2, 2, 10, 10],
        "model_id": [1, 0, 1, 0],
        "category_id": [0, 0, 1, 1],
        "label": [1, 0, 1, 1],
        "prompt": ['Who, "then"?\nAnn', 'Who, "then"?\nAnn', "2 + 2", "2 + 2"],
        "model_name": ["b", "a", "b", "a"],
        "category": ["qa", "qa", "sums", "sums"],
    }
)


# Half of a frame: the dictionary of its categorical column holds names that no row has.
LONGER = pandas.concat([ROWS, ROWS.assign(model_name="c")])
OF_CATEGORIES = LONGER.astype({"model_name": "category", "label": bool, "prompt_id": float})[:4]


@pytest.mark.parametrize(
    ("name", "write_to"),
    [
        ("t.csv", lambda path: ROWS.to_csv(path, index=False)),
        ("t.jsonl.gz", lambda path: ROWS.to_json(path, orient="records", lines=True)),
        ("t.parquet", ROWS.to_parquet),
        ("t.parquet", OF_CATEGORIES.to_parquet),
    ],
)
def test_the_columns_of_embedllm_are_read_from_files_of_every_kind(name, write_to, tmp_path):
    write_to(tmp_path / name)
    matrix = read_matrix(tmp_path / name)
    assert (matrix.models, matrix.ids) == (("a", "b"), ("2", "10"))
    assert [text.replace("\r", "") for text in matrix.texts] == ['Who, "then"?\nAnn', "2 + 2"]
    assert matrix.categories == ("qa", "sums")
    assert matrix.correct.tolist() == [[0.0, 1.0], [1.0, 1.0]]


def test_a_file_longer_than_a_portion_is_read_whole(tmp_path):
    number = np.arange(70_000)
    columns = {"model": number % 7, "id": number // 7, "text": number // 7}
    frame = pandas.DataFrame(columns).astype(str).assign(correct=number % 3 == 0)
    frame.to_parquet(tmp_path / "t.parquet")
    matrix = read_matrix(tmp_path / "t.parquet")
    np.testing.assert_array_equal(matrix.correct, (number % 3 == 0).reshape(10_000, 7))
    assert matrix.texts[9_999] == "9999"


def test_a_text_need_stand_in_one_row_of_a_question_alone(write):
    path = write("t.csv", "model,id,text,correct", "a,1,,1", "b,1,Who?,0")
    assert read_matrix(path).texts == ("Who?",)


def test_names_of_classes_stand_for_categories(tmp_path):
    table = pyarrow.Table.from_pandas(ROWS.drop(columns="category"))
    feature = {"category_id": {"_type": "ClassLabel", "names": ["qa", "sums"]}}
    said = {"huggingface": json.dumps({"info": {"features": feature}})}
    pyarrow.parquet.write_table(table.replace_schema_metadata(said), tmp_path / "t.parquet")
    assert read_matrix(tmp_path / "t.parquet").categories == ("qa", "sums")


def test_options_and_context_belong_to_the_text_of_a_question(tmp_path):
    row = {"id": "7", "question": "Who?", "context": "A story.", "options": ["Ann", "Bob"]}
    (tmp_path / "q.jsonl").write_text(json.dumps(row) + "\n")
    questions = read_questions(tmp_path / "q.jsonl")
    assert questions.texts == ("Who?\nA story.\nAnn\nBob",)
    assert questions.models == ()
    pandas.DataFrame([row]).to_parquet(tmp_path / "q.parquet")
    assert read_questions(tmp_path / "q.parquet").texts == questions.texts


def table(*columns):
    return table_source("a.csv", {column: [] for column in columns})


@pytest.mark.parametrize(
    ("named", "chosen"),
    [
        # A column that is named for one role serves no other.
        ({"category": "label"}, {"model": "model", "text": "text", "category": "label"}),
        ({"question": "ok"}, {"model": "model", "text": "ok", "correct": "label"}),
        ({"correct": "none"}, {"model": "model", "text": "text"}),
    ],
)
def test_columns_are_named_by_their_role(named, chosen):
    assert choose_matrix_columns(table("model", "text", "label", "ok"), named) == chosen


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({}, r"(?s)no column for item in a\.csv.*--column item=NAME"),
        ({"modl": "x"}, r"(?s)no column has the role `modl`.*did you mean `model`"),
        ({"text": "body"}, r"(?s)no column `body` in a\.csv.*--column text=NAME"),
    ],
)
def test_columns_that_cannot_be_are_refused(named, message):
    with pytest.raises((DataError, SpecError), match=message):
        choose_matrix_columns(table("model", "correct"), named)


SPELLINGS = {
    1: [1, 1.0, True, "1", "1.0", " TRUE", "right", "Right", "yes"],
    0: [0, 0.0, False, "0", "false", "Wrong"],
    None: [None, math.nan, "", "  ", "NaN", "nan", "None", "N/A", "null"],
}


@pytest.mark.parametrize("correct", SPELLINGS)
def test_right_wrong_and_unknown_have_many_spellings(correct):
    assert {correct_of(value) for value in SPELLINGS[correct]} == {correct}


@pytest.mark.parametrize(
    ("read", "value"),
    [
        *((correct_of, value) for value in ("maybe", [1])),
        *((written_of, value) for value in (["a"], {"a": 1}, "a\0b", "\ud800")),
    ],
)
def test_other_values_cannot_be_read(read, value):
    with pytest.raises(UnreadableError):
        read(value)
