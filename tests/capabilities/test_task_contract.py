import json
import re
from collections.abc import Mapping

import pytest

from scope.data.items import item_fingerprint
from scope.protocols import Task
from scope.registry import BUILT_IN, find

SEA = "The sailor watched the {} while the storm went on all night."
BOOK = "\n\n".join(SEA.format(word) for word in ("harbour", "lighthouse", "rigging", "horizon"))
ROWS = [
    {
        "question": f"What comes after {number}?",
        "context": f"First comes {number}, then {number + 1}.",
        "answers": [str(number + 1)],
        "options": [str(number), str(number + 1)],
        "answer": 1,
    }
    for number in range(4)
]


# Pairs are not asked: see test_pair_task_contract.py.
ASKED = [
    name for name in sorted(BUILT_IN["tasks"]) if find("tasks", name).target.role != "latent_reader"
]


@pytest.fixture(params=ASKED)
def task(request) -> Task:
    return find("tasks", request.param).target()


@pytest.fixture
def data(task, tmp_path):
    if task.role == "mask_filler":
        (tmp_path / "book.txt").write_text(BOOK)
        return f"text:{tmp_path}"
    path = tmp_path / "rows.jsonl"
    # Questions of that task have neither options nor a passage.
    left_out = ("options", "context") if task.name == "generation" else ()
    rows = [{key: one for key, one in row.items() if key not in left_out} for row in ROWS]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.mark.parametrize("name", sorted(BUILT_IN["tasks"]))
def test_a_built_in_task_has_a_name_a_question_and_settings(name):
    task = find("tasks", name).target()
    assert re.fullmatch("[a-z][a-z_]*", task.name)
    assert task.name == name
    assert re.fullmatch(r"[A-Z].* .*\?", task.question)
    assert hash(task) == hash(type(task)())
    settings = task.settings()
    assert isinstance(settings, Mapping)
    assert json.loads(json.dumps(dict(settings))) == settings


def test_a_built_in_task_that_is_asked_keeps_to_the_protocol(task):
    assert isinstance(task, Task)
    assert task.role in ("mask_filler", "answerer", "choice_scorer")


def test_items_are_the_same_every_time_and_samples_are_nested(task, data):
    every = task.load(data, n=None, seed=0)
    assert every == task.load(data, n=None, seed=0) == task.load(data, n=99, seed=0)
    one, two = (task.load(data, n=n, seed=0).items for n in (1, 2))
    assert set(one) < set(two) < set(every.items)


def test_the_card_says_what_was_loaded(task, data):
    loaded = task.load(data, n=3, seed=0)
    card = loaded.card
    assert (card.spec, card.capability) == (data, task.name)
    assert (card.rows, card.used, card.labelled) == (4, 3, 3)
    assert card.fingerprint == item_fingerprint(loaded.items)
    assert len({item.question.id for item in loaded.items}) == 3
