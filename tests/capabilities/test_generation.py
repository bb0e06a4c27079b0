import json

import pytest

from capabilities.tasks import Generation
from scope.errors import DataError


def load(folder, *rows):
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Generation().load(str(path), n=None, seed=0)


def test_a_row_is_a_question_with_its_answer(tmp_path):
    rows = [{"question": "1 + 2?", "answer": "3.0", "subject": "sums"}, {"question": "And?"}]
    first, second = load(tmp_path, *rows).items
    assert (first.question.text, first.gold, first.category) == ("1 + 2?", ("3.0",), "sums")
    assert (second.gold, second.question.options) == ((), ())


def test_a_number_is_an_answer_and_a_row_without_words_makes_no_item(tmp_path):
    data = load(tmp_path, {"question": "1 + 2?", "answer": 3}, {"question": " ", "answer": 4})
    assert [one.gold for one in data.items] == [("3",)]
    assert data.card.empty == 1


@pytest.mark.parametrize("other", ["options", "context"])
def test_questions_of_other_tasks_are_refused(tmp_path, other):
    with pytest.raises(DataError, match=f"a column `{other}`"):
        load(tmp_path, {"question": "1 + 2?", "answer": "3", other: "x"})
