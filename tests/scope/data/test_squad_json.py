import copy
import gzip
import json
from collections import Counter

import pytest
from shared_data import shared_data

from scope.data.squad import read_squad
from scope.data.squad_json import read_squad_json
from scope.errors import DataError

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


def write(path, content):
    text = content if isinstance(content, str) else json.dumps(content)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["dev.json", "dev.json.gz"])
def test_questions_come_with_passage_title_and_answers(tmp_path, name):
    found = list(read_squad_json(write(tmp_path / name, SQUAD)))
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
    (draft,) = read_squad(str(write(tmp_path / "v1.json", old)), unanswerable=False)
    assert draft.item.gold == ("France",)


def test_a_file_that_is_cut_off_is_refused(tmp_path):
    path = write(tmp_path / "dev.json", json.dumps(SQUAD)[:300])
    with pytest.raises(DataError) as raised:
        list(read_squad_json(path))
    assert raised.value.found.startswith("dev.json is not JSON, or is cut off: ")
    assert raised.value.fix == "download the file again"


def test_a_packed_file_that_is_cut_off_is_refused(tmp_path):
    path = write(tmp_path / "dev.json.gz", SQUAD)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"dev\.json\.gz cannot be decompressed"):
        list(read_squad_json(path))


def test_a_missing_file_is_named_with_the_one_that_may_be_meant(tmp_path):
    write(tmp_path / "dev-v2.0.json", SQUAD)
    with pytest.raises(DataError, match=r"did you mean `.*dev-v2\.0\.json`"):
        list(read_squad(str(tmp_path / "dev-v2.json"), unanswerable=True))


def changed(change):
    content = copy.deepcopy(SQUAD)
    change(content["data"][0]["paragraphs"][0])
    return content


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ([1], "dev.json: [1]"),
        ({"rows": []}, "dev.json: nothing as `data`"),
        ({"data": ["x"]}, "article 0 of dev.json: 'x'"),
        ({"data": [{"paragraphs": 3}]}, "article 0 of dev.json: 3 as `paragraphs`"),
        (
            changed(lambda paragraph: paragraph.pop("context")),
            "paragraph 0 of article 0 of dev.json: nothing as `context`",
        ),
        (
            changed(lambda paragraph: paragraph["qas"][2].update(question=5)),
            "question 2 of paragraph 0 of article 0 of dev.json: 5 as `question`",
        ),
        (
            changed(lambda paragraph: paragraph["qas"][0].update(answers=["France"])),
            "answer 0 of question 0 of paragraph 0 of article 0 of dev.json: 'France'",
        ),
    ],
)
def test_what_is_not_built_as_squad_is_named_by_its_place(tmp_path, content, found):
    with pytest.raises(DataError) as raised:
        list(read_squad_json(write(tmp_path / "dev.json", content)))
    assert raised.value.found == found


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
    found = list(read_squad_json(write(tmp_path / "dev.json.gz", {"data": data})))
    assert Counter(draft.id for draft in found) == Counter(row["id"] for row in questions)
    assert len(found) == 3065
    for draft in found:
        if draft.item.gold != ("",):
            assert all(text in draft.item.question.context for text in draft.item.gold)
    impossible = sum(row["is_impossible"] for row in questions)
    assert sum(draft.item.gold == ("",) for draft in found) == impossible
