"""Saved predictions, saved answers and tables of answers: what is looked up, what is refused."""

import gzip
import json
import re
from dataclasses import replace
from functools import partial

import pyarrow
import pyarrow.parquet
import pytest

from capabilities.tasks import Choice
from scope.data.items import read_choices
from scope.errors import DataError, ModelError
from scope.models.options import ModelOptions
from scope.models.saved import MissingPredictionsError, load
from scope.models.scheme import expand_spec, load_classifier, load_model
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


def test_a_number_names_the_option_of_that_label_in_answers_as_in_the_data(tmp_path):
    options = {"1": "Ann", "2": "Bob", "3": "Cid"}
    row = {"id": "q", "question": "Who came?", "options": options, "answer": "2"}
    (draft,) = read_choices(str(write_jsonl(tmp_path / "data.jsonl", [row])))
    saved = model(tmp_path, {"id": "q", "answer": "2"})
    ((_, answer),) = saved.choose([replace(draft.item.question, id="q")])
    assert answer.choice == draft.item.right == 1


TABLE = "first model\tAB.-C\nother\tBBBBB\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "answers.tsv.gz"
    path.write_bytes(gzip.compress(TABLE.encode()))
    return path


def questions(*rows, options=("yes", "no")):
    return [Question(id=f"q{row}", text="Is it?", options=options, row=row) for row in rows]


def test_a_letter_is_an_option_a_stop_no_answer_and_a_dash_no_question(table):
    model = load_model(f"predictions:{table}#first model", "choice_scorer")
    assert dict(model.choose(questions(4, 0, 1, 2, 3))) == {
        # The third option of two is no answer.
        0: Answer(),
        1: Answer(choice=0),
        2: Answer(choice=1),
        3: Answer(),
        4: Answer(asked=False),
    }
    assert dict(model.choose(questions(4, options=("a", "b", "c")))) == {0: Answer(choice=2)}


def test_a_table_that_is_not_packed_reads_the_same(table, tmp_path):
    (tmp_path / "plain.tsv").write_text(TABLE.replace("\n", "\r\n"))
    models = [load(f"{path}#other", ModelOptions()) for path in (table, tmp_path / "plain.tsv")]
    assert models[0].spec == f"predictions:{table}#other"
    assert models[0].fingerprint != models[1].fingerprint
    assert models[0].fingerprint != load(f"{table}#first model", ModelOptions()).fingerprint
    assert [dict(model.choose(questions(0))) for model in models] == [{0: Answer(choice=1)}] * 2


def test_a_letter_answers_its_row_whatever_the_ids_of_a_sample_are(tmp_path):
    (tmp_path / "answers.tsv").write_text("mine\tABBA\n")
    rows = [
        {"question": f"{letter} {place}?", "options": ["yes", "no"], "id": 3 - place}
        for place, letter in enumerate("ABBA")
    ]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    items = Choice().load(str(tmp_path / "data.jsonl"), n=3, seed=0).items
    answers = load(f"{tmp_path}/answers.tsv#mine", ModelOptions()).choose(
        [item.question for item in items]
    )
    letters = {(items[place].question.text[0], "AB"[answer.choice]) for place, answer in answers}
    assert letters == {("A", "A"), ("B", "B")}


@pytest.mark.parametrize("row", [None, 5, -1])
def test_a_question_of_no_row_of_the_table_is_refused(table, row):
    model = load(f"{table}#other", ModelOptions())
    with pytest.raises(ModelError, match=r"answers\.tsv\.gz with 5 answers a model, by row"):
        list(model.choose(questions(row)))


@pytest.mark.parametrize(
    ("use", "model", "fix"),
    [
        (expand_spec, "", "add #MODEL, or #* for all of them"),
        (partial(load_model, role="choice_scorer"), "", "add #MODEL, or #* for all of them"),
        (partial(load_model, role="choice_scorer"), "#othr", "did you mean `other`?"),
    ],
)
def test_a_name_that_no_model_has_is_told_with_those_that_there_are(table, use, model, fix):
    with pytest.raises(DataError, match=r"one of 2: first model, other\n") as raised:
        use(f"predictions:{table}{model}")
    assert fix in raised.value.fix


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("other\tAB\n\nm\tAB\n", "line 2 of a.tsv: ''"),
        ("\tAB\n", "line 1 of a.tsv: 'AB'"),
        ("other\tAB\nother\tAB\n", "a model that is listed twice"),
        ("other\tAB\nm\tABC\n", "2 answers of `other` and 3 of `m` in a.tsv"),
        ("m\tABC\nother\tAbC\n", "'b' as answer 1 of `other` in a.tsv"),
    ],
)
def test_a_table_that_is_none_is_refused_by_its_place(tmp_path, content, found):
    (tmp_path / "a.tsv").write_text(content)
    with pytest.raises(DataError, match=found):
        load(f"{tmp_path / 'a.tsv'}#other", ModelOptions())
