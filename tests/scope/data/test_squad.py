import copy
import gzip
import json
from collections import Counter

import datasets
import pyarrow
import pyarrow.parquet
import pytest
from shared_data import shared_data

from scope.data.items import read_squad
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


SQUAD = {
    "version": "v2.0",
    "data": [
        {
            "title": "Rivers",
            "paragraphs": [
                {
                    "context": "The Loire flows through France.",
                    "qas": [
                        {
                            "id": "a",
                            "question": "Where does it flow?",
                            "answers": [
                                {"text": "France", "answer_start": 24},
                                {"text": "through France", "answer_start": 16},
                                {"text": "France", "answer_start": 24},
                            ],
                            "is_impossible": False,
                        },
                        {
                            "id": "b",
                            "question": "How long is it?",
                            "answers": [],
                            "plausible_answers": [{"text": "The Loire", "answer_start": 0}],
                            "is_impossible": True,
                        },
                        {"id": "c", "question": "Unknown?"},
                        {"id": "d", "question": " ", "answers": []},
                    ],
                }
            ],
        }
    ],
}


def write_json(path, content):
    text = content if isinstance(content, str) else json.dumps(content)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["dev.json", "dev.json.gz"])
def test_questions_come_with_passage_title_and_answers(tmp_path, name):
    found = drafts(str(write_json(tmp_path / name, SQUAD)))
    assert [draft.id for draft in found] == ["a", "b", "c", "d"]
    first, second, third, blank = (draft.item for draft in found)
    assert first.gold == ("France", "through France")
    assert first.category == "Rivers"
    assert first.question.context == "The Loire flows through France."
    assert second.gold == ("",)
    assert third.gold == ()
    assert blank is None


def test_version_1_has_no_question_without_an_answer(tmp_path):
    old = copy.deepcopy(SQUAD)
    (paragraph,) = old["data"][0]["paragraphs"]
    paragraph["qas"] = [{"id": "a", "question": "Where?", "answers": [{"text": "France"}]}]
    (draft,) = read_squad(str(write_json(tmp_path / "v1.json", old)), unanswerable=False)
    assert draft.item.gold == ("France",)


def test_a_file_that_is_cut_off_is_refused(tmp_path):
    path = write_json(tmp_path / "dev.json", json.dumps(SQUAD)[:300])
    with pytest.raises(DataError) as raised:
        drafts(str(path))
    assert raised.value.found.startswith("dev.json is not JSON, or is cut off: ")
    assert raised.value.fix == "download the file again"


def test_a_packed_file_that_is_cut_off_is_refused(tmp_path):
    path = write_json(tmp_path / "dev.json.gz", SQUAD)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"dev\.json\.gz cannot be decompressed"):
        drafts(str(path))


def test_a_missing_file_is_named_with_the_one_that_may_be_meant(tmp_path):
    write_json(tmp_path / "dev-v2.0.json", SQUAD)
    with pytest.raises(DataError, match=r"did you mean `.*dev-v2\.0\.json`"):
        list(read_squad(str(tmp_path / "dev-v2.json"), unanswerable=True))


def changed(change):
    content = copy.deepcopy(SQUAD)
    change(content["data"][0]["paragraphs"][0])
    return content


@pytest.mark.parametrize(
    "content",
    [
        [1],
        {"rows": []},
        {"data": ["x"]},
        {"data": [{"paragraphs": 3}]},
        changed(lambda paragraph: paragraph.pop("context")),
    ],
)
def test_json_that_is_not_built_as_squad_is_refused(tmp_path, content):
    with pytest.raises(DataError, match=r"dev\.json is JSON, but not built as SQuAD is"):
        drafts(str(write_json(tmp_path / "dev.json", content)))


@pytest.mark.parametrize(
    "change",
    [
        lambda paragraph: paragraph["qas"][2].update(question=[5]),
        lambda paragraph: paragraph["qas"][0].update(answers=[5]),
    ],
)
def test_a_question_or_an_answer_that_is_no_text_is_refused(tmp_path, change):
    with pytest.raises(DataError, match=r"dev\.json"):
        drafts(str(write_json(tmp_path / "dev.json", changed(change))))


def rows(name):
    with gzip.open(shared_data(name), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_real_questions_come_back_whole_from_squads_own_form(tmp_path):
    contexts = {row["context_id"]: row for row in rows("squad/contexts.jsonl.gz")}
    questions = rows("squad/squad2_dev.jsonl.gz")
    by_context = {}
    for row in questions:
        by_context.setdefault(row["context_id"], []).append(row)
    data = [
        {
            "title": contexts[context_id]["title"],
            "paragraphs": [{"context": contexts[context_id]["context"], "qas": entries}],
        }
        for context_id, entries in by_context.items()
    ]
    found = drafts(str(write_json(tmp_path / "dev.json.gz", {"data": data})))
    assert Counter(draft.id for draft in found) == Counter(row["id"] for row in questions)
    assert len(found) == 3065
    for draft in found:
        if draft.item.gold != ("",):
            assert all(text in draft.item.question.context for text in draft.item.gold)
    impossible = sum(row["is_impossible"] for row in questions)
    assert sum(draft.item.gold == ("",) for draft in found) == impossible
