import json

import datasets
import pyarrow
import pyarrow.parquet
import pytest

from scope.data.squad import read_squad
from scope.errors import DataError

ROW = {"id": "q1", "title": "Rivers", "question": "Where?", "context": "In France it flows."}


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def drafts(spec, unanswerable=True):
    return list(read_squad(spec, unanswerable=unanswerable))


def gold(path, **fields):
    (draft,) = drafts(write(path / "a.jsonl", ROW | fields))
    return draft.item.gold


def test_a_row_becomes_an_item(tmp_path):
    (draft,) = drafts(write(tmp_path / "a.jsonl", ROW | {"answers": ["France"]}))
    assert draft.id == "q1"
    assert draft.item.question.text == "Where?"
    assert draft.item.question.context == "In France it flows."
    assert draft.item.category == "Rivers"


@pytest.mark.parametrize(
    "answers",
    [
        ["France", "In France", "France"],
        {"text": ["France", "In France"], "answer_start": [3, 0]},
        [{"text": "France", "start": 3}, {"text": "In France", "start": 0}],
    ],
)
def test_all_shapes_of_answers_give_each_once(tmp_path, answers):
    assert gold(tmp_path, answers=answers) == ("France", "In France")


def test_a_single_answer_may_stand_as_a_text(tmp_path):
    assert gold(tmp_path, answer="France") == ("France",)


@pytest.mark.parametrize(
    "fields",
    [
        {"answers": []},
        {"answers": {"text": [], "answer_start": []}},
        {"answers": ["guess"], "is_impossible": True},
    ],
)
def test_a_question_that_cannot_be_answered_has_an_empty_answer(tmp_path, fields):
    assert gold(tmp_path, **fields) == ("",)


@pytest.mark.parametrize("fields", [{}, {"answers": None}])
def test_without_answers_the_right_one_is_not_known(tmp_path, fields):
    assert gold(tmp_path, **fields) == ()


def test_unanswerable_questions_can_be_left_out(tmp_path):
    spec = write(
        tmp_path / "a.jsonl",
        ROW | {"answers": []},
        ROW | {"id": "q2", "answers": ["France"]},
        ROW | {"id": "q3", "answers": None},
    )
    assert [draft.id for draft in drafts(spec, unanswerable=False)] == ["q2", "q3"]


@pytest.mark.parametrize("change", [{"question": " "}, {"context": ""}])
def test_without_question_or_passage_there_is_no_item(tmp_path, change):
    (draft,) = drafts(write(tmp_path / "a.jsonl", ROW | change))
    assert draft.item is None


@pytest.mark.parametrize("answers", [3, [1], {"texts": []}, [{"span": 1}]])
def test_answers_of_another_shape_are_refused_by_line(tmp_path, answers):
    spec = write(tmp_path / "a.jsonl", ROW, ROW | {"answers": answers})
    with pytest.raises(DataError, match=r"line 2 of a\.jsonl: `answers` is"):
        drafts(spec)


def test_a_missing_column_is_named(tmp_path):
    with pytest.raises(DataError, match=r"no column for the context in a\.jsonl"):
        drafts(write(tmp_path / "a.jsonl", {"question": "Where?"}))


def test_parquet_as_the_hub_has_it_is_read(tmp_path):
    answers = [{"text": ["France"], "answer_start": [3]}, {"text": [], "answer_start": []}]
    table = pyarrow.Table.from_pylist(
        [ROW | {"id": str(number), "answers": one} for number, one in enumerate(answers)]
    )
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    found = drafts(str(tmp_path / "a.parquet"))
    assert [draft.item.gold for draft in found] == [("France",), ("",)]


def test_a_data_set_in_the_hubs_layout_is_read(tmp_path):
    answers = {"text": ["France"], "answer_start": [3]}
    folder = tmp_path / "squad_like"
    folder.mkdir()
    datasets.Dataset.from_list([ROW | {"answers": answers}]).to_parquet(
        folder / "validation.parquet"
    )
    (draft,) = drafts(f"hf:{folder}:validation")
    assert (draft.id, draft.item.gold) == ("q1", ("France",))
