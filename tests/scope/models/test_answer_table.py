import gzip
import json

import pytest

from capabilities.choice import Choice
from scope.errors import DataError, ModelError
from scope.models import ModelOptions
from scope.models.loading import load_model
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


@pytest.mark.parametrize("ids", [(3, 2, 1, 0), (None,) * 4])
def test_a_letter_answers_its_row_whatever_the_ids_of_the_data_are(tmp_path, ids):
    (tmp_path / "answers.tsv").write_text("mine\tABBA\n")
    rows = [
        {"question": f"Is it {place}?", "options": ["yes", "no"], "id": own_id}
        for place, own_id in enumerate(ids)
    ]
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = [item.question for item in Choice().load(str(data), n=3, seed=0).items]
    assert len(asked) == 3
    model = load(f"{tmp_path / 'answers.tsv'}#mine", ModelOptions())
    found = {asked[place].text: given.choice for place, given in model.choose(asked)}
    right = {"Is it 0?": 0, "Is it 1?": 1, "Is it 2?": 1, "Is it 3?": 0}
    assert found == {text: right[text] for text in found}
    assert len(found) == 3


@pytest.mark.parametrize(("row", "named"), [(None, "no known row"), (5, "row 5"), (-1, "row -1")])
def test_a_question_of_no_row_of_the_table_is_refused(table, row, named):
    model = load(f"{table}#other", ModelOptions())
    with pytest.raises(ModelError) as raised:
        list(model.choose(questions(row)))
    assert raised.value.found == (
        f"the question `q{row}` of {named}, and answers.tsv.gz with 5 answers a model, by row "
        "from 0"
    )


def test_data_of_another_length_are_refused(table):
    model = load(f"{table}#other", ModelOptions())
    model.require_rows(5, "data.jsonl")
    with pytest.raises(ModelError) as raised:
        model.require_rows(6, "data.jsonl")
    assert raised.value.found == (
        "6 rows in data.jsonl, and answers.tsv.gz with 5 answers a model, by row"
    )


def test_an_unknown_model_lists_those_that_are_close(table):
    with pytest.raises(DataError) as raised:
        load(f"{table}#othr", ModelOptions())
    assert raised.value.found == "no model `othr` in answers.tsv.gz"
    assert raised.value.expected == "one of 2: first model, other"
    assert raised.value.fix == "did you mean `other`?"


@pytest.mark.parametrize("use", [expand_spec, lambda spec: load_model(spec, "choice_scorer")])
def test_without_a_model_those_there_are_are_listed(table, use):
    with pytest.raises(DataError) as raised:
        use(f"predictions:{table}")
    assert raised.value.found == "answers.tsv.gz, a table of answers, without the name of a model"
    assert raised.value.expected == (
        "predictions:answers.tsv.gz#MODEL with one of 2: first model, other"
    )
    assert raised.value.fix == "add #MODEL, or #* for all of them"


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("other\tAB\n\nm\tAB\n", "line 2 of a.tsv: ''"),
        ("\tAB\n", "line 1 of a.tsv: 'AB'"),
        (
            "other\tAB\nother\tAB\n",
            "line 2 of a.tsv: 'other\\tAB', a model that is listed twice",
        ),
        ("other\tAB\nm\tABC\n", "2 answers of `other` and 3 of `m` in a.tsv"),
        ("m\tABC\nother\tAbC\n", "'b' as answer 1 of `other` in a.tsv (the first is 0)"),
    ],
)
def test_a_table_that_is_none_is_refused_by_its_place(tmp_path, content, found):
    (tmp_path / "a.tsv").write_text(content)
    with pytest.raises(DataError) as raised:
        load(f"{tmp_path / 'a.tsv'}#other", ModelOptions())
    assert raised.value.found == found
