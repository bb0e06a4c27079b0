import json

import pytest
from shared_data import shared_data

from capabilities.choice import Choice
from scope.errors import DataError

ROWS = [
    {"question": "Which is red?", "options": ["blood", "grass"], "answer": 0, "category": "see"},
    {"question": "Which is sweet?", "options": ["salt", "sugar", "soap"], "answer": "B"},
    {"question": "Which is red?", "options": ["blood", "grass"], "answer": 1},
    {"question": "Which is next?", "options": ["left", "right"]},
]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_questions_are_named_by_row_and_count_as_often_as_they_stand(tmp_path):
    data = Choice().load(write(tmp_path / "a.jsonl", ROWS), n=None, seed=0)
    assert [(item.question.id, item.right, item.gold) for item in data.items] == [
        ("0", 0, ("blood",)),
        ("1", 1, ("sugar",)),
        ("2", 1, ("grass",)),
        ("3", None, ()),
    ]
    card = data.card
    assert (card.rows, card.duplicates, card.used, card.labelled) == (4, 0, 4, 3)


def test_ids_serve_where_every_row_has_its_own(tmp_path):
    rows = [row | {"id": f"q{number}"} for number, row in enumerate(ROWS)]
    data = Choice().load(write(tmp_path / "a.jsonl", rows), n=None, seed=0)
    assert [item.question.id for item in data.items] == ["q0", "q1", "q2", "q3"]


def test_an_answer_out_of_range_is_named_by_line(tmp_path):
    with pytest.raises(DataError, match=r"line 2 of a\.jsonl: the answer is the option 3"):
        Choice().load(
            write(tmp_path / "a.jsonl", [ROWS[0], ROWS[1] | {"answer": 3}]), n=None, seed=0
        )


@pytest.mark.slow
def test_a_real_benchmark_loads_with_its_rows_as_ids():
    path = str(shared_data("mmlu_pro_models/items.jsonl.gz"))
    data = Choice().load(path, n=None, seed=0)
    assert data.card.rows == 5979
    assert data.card.used == data.card.labelled == 5979
    assert all(int(item.question.id) < 5979 for item in data.items)
    assert len({item.category for item in data.items}) == 14
    sample = Choice().load(path, n=100, seed=0)
    assert set(sample.items) < set(data.items)
