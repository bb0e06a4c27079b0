import gzip
import json
from functools import partial

import pytest

from capabilities.tasks import Choice
from scope.errors import DataError, ModelError
from scope.models.loading import load_model
from scope.models.options import ModelOptions
from scope.models.saved import load
from scope.models.scheme import expand_spec
from scope.records import Answer, Question

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
