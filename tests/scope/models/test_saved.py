import gzip
import json
import re

import pyarrow
import pyarrow.parquet
import pytest

from scope.errors import DataError
from scope.models.options import ModelOptions
from scope.models.saved import MissingPredictionsError, load
from scope.models.scheme import load_classifier
from scope.records import Answer, Question

ROWS = [
    {"id": 1, "text": "a good film", "probabilities": [0.1, 0.9], "labels": ["bad", "good"]},
    {"id": 2, "text": "dull\u2028é", "probabilities": [0.7500004, 0.25]},
    {"id": 3, "text": "so so", "probabilities": [1, 0]},
]


def write_jsonl(path, rows):
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def write_parquet(path, rows):
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("saved.jsonl", write_jsonl),
        ("saved.jsonl.gz", write_jsonl),
        ("saved.parquet", write_parquet),
    ],
)
def test_saved_answers_are_looked_up_by_text_in_any_order(tmp_path, name, write):
    path = write(tmp_path / name, [*ROWS, ROWS[0]])
    model = load_classifier(f"predictions:{path}")
    assert model.spec == f"predictions:{path}"
    assert model.labels == ("bad", "good")
    texts = ["so so", "a good film", "dull\u2028é", "so so"]
    assert [prediction.probabilities for prediction in model.classify(texts)] == [
        (1.0, 0.0),
        (0.1, 0.9),
        (0.75, 0.25),
        (1.0, 0.0),
    ]


def test_texts_without_an_answer_are_counted_once_each_and_kept(tmp_path):
    path = write_jsonl(tmp_path / "saved.jsonl", ROWS)
    with pytest.raises(MissingPredictionsError, match="for 2 texts, such as 'new'") as raised:
        load(str(path), ModelOptions()).classify(["new", "so so", "newer", "new"])
    assert raised.value.texts == ("new", "newer")


def test_the_fingerprint_is_that_of_the_content(tmp_path):
    first = write_jsonl(tmp_path / "a.jsonl", ROWS)
    second = write_jsonl(tmp_path / "b.jsonl", ROWS)
    third = write_jsonl(tmp_path / "c.jsonl", ROWS[:2])
    prints = [load(str(path), ModelOptions()).fingerprint for path in (first, second, third)]
    assert prints[0] == prints[1] != prints[2]


GOOD = {"text": "b", "probabilities": [0.5, 0.5]}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"text": "a good film"}, "other probabilities for 'a good film'"),
        ({"labels": ["good", "bad"]}, "`labels` is ['good', 'bad']"),
        ({"labels": "bad good"}, "`labels` is 'bad good'"),
    ],
)
def test_a_bad_row_is_named_with_what_stands_in_it(tmp_path, change, found):
    path = write_jsonl(tmp_path / "saved.jsonl", [*ROWS, GOOD | change])
    with pytest.raises(DataError, match=re.escape(f"line 4 of saved.jsonl: {found}")):
        load(str(path), ModelOptions())


@pytest.mark.parametrize("labels", [None, "ab", [None, "b"], ["a", ["b", "c"]]])
def test_labels_stand_in_the_first_row(tmp_path, labels):
    rows = [GOOD | {"labels": labels}, GOOD | {"text": "c", "labels": ["a", "b"]}]
    path = write_jsonl(tmp_path / "saved.jsonl", rows)
    with pytest.raises(DataError, match=r"line 1 of saved\.jsonl: .*`labels`"):
        load(str(path), ModelOptions())


def test_a_file_with_labels_alone_is_a_classifier_that_has_answered_nothing(tmp_path):
    path = tmp_path / "vendor.jsonl"
    path.write_text('{"labels": ["bad", "good"]}\n')
    classifier = load(str(path), ModelOptions())
    assert classifier.labels == ("bad", "good")
    with pytest.raises(MissingPredictionsError):
        classifier.classify(["a text"])


def model(folder, *rows):
    return load(str(write_jsonl(folder / "saved.jsonl", rows)), ModelOptions())


def ask(**fields):
    return Question(**{"id": "q", "text": "Who came?", **fields})


def test_answers_are_looked_up_by_id_and_else_by_text(tmp_path):
    saved = model(
        tmp_path,
        {"id": 1, "answer": " Ann "},
        {"text": "Who went? ", "answer": ""},
        {"id": "x", "text": "Who stayed?", "answer": None},
    )
    asked = [
        ask(id="7", text=" Who stayed?"),
        ask(id="1", text="Anything"),
        ask(id="8", text="Who went?"),
    ]
    expected = {0: Answer(), 1: Answer(text="Ann"), 2: Answer(text="")}
    assert dict(saved.answer(asked)) == expected
    assert dict(saved.fill(asked)) == expected
