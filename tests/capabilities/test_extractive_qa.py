import json

import pytest

from capabilities.extractive_qa import ExtractiveQA
from scope.errors import DataError

PASSAGE = "The Loire flows through France."
QUESTIONS = [
    {"id": "a", "question": "Where does it flow?", "answers": [{"text": "France"}]},
    {"id": "b", "question": "How long is it?", "answers": [], "is_impossible": True},
    {"id": "c", "question": "What flows?", "answers": [{"text": "The Loire"}, {"text": "Loire"}]},
]


@pytest.fixture
def squad(tmp_path):
    paragraphs = [{"context": PASSAGE, "qas": QUESTIONS}]
    path = tmp_path / "dev.json"
    path.write_text(json.dumps({"data": [{"title": "Rivers", "paragraphs": paragraphs}]}))
    return str(path)


def test_questions_keep_their_ids_passages_and_answers(squad):
    data = ExtractiveQA().load(squad, n=None, seed=0)
    assert [(item.question.id, item.gold) for item in data.items] == [
        ("a", ("France",)),
        ("b", ("",)),
        ("c", ("The Loire", "Loire")),
    ]
    assert {item.question.context for item in data.items} == {PASSAGE}
    assert {item.category for item in data.items} == {"Rivers"}
    assert (data.card.rows, data.card.used, data.card.labelled) == (3, 3, 3)
    assert data.card.capability == "extractive_qa"


def test_unanswerable_questions_can_be_left_out(squad):
    task = ExtractiveQA(unanswerable=False)
    assert task.settings() == {"unanswerable": False}
    items = task.load(squad, n=None, seed=0).items
    assert [item.question.id for item in items] == ["a", "c"]


def test_a_sample_is_drawn(squad):
    every = ExtractiveQA().load(squad, n=None, seed=0).items
    assert set(ExtractiveQA().load(squad, n=2, seed=0).items) < set(every)


def test_a_file_without_questions_is_refused(tmp_path):
    path = tmp_path / "dev.json"
    path.write_text('{"data": []}')
    with pytest.raises(DataError, match=r"no item in .*dev\.json: 0 questions"):
        ExtractiveQA().load(str(path), n=None, seed=0)
