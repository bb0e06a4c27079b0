"""What holds for every built-in task of pairs, which a probe reads instead of asking."""

import json

import pytest

from scope.data.pairs import pair_fingerprint
from scope.protocols import PairTask
from scope.registry import BUILT_IN, find

PAIR_TASKS = [
    name for name in sorted(BUILT_IN["tasks"]) if find("tasks", name).target.role == "latent_reader"
]
SCORES = (0.0, 0.5, 0.75, 1.0)
ROWS = [
    {"split": split, "sentence1": f"Count to {n}.", "sentence2": "Count.", "score": score}
    for split in ("train", "dev", "test")
    for n, score in enumerate(SCORES)
]


@pytest.fixture(params=PAIR_TASKS)
def task(request) -> PairTask:
    return find("tasks", request.param).target()


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return str(path)


def test_a_built_in_task_of_pairs_keeps_to_the_protocol(task):
    assert isinstance(task, PairTask)
    assert task.low < task.high


def test_pairs_are_the_same_every_time_and_samples_are_nested(task, data):
    def load(n):
        return task.load_pairs(data, part="train", n=n, seed=0)

    every = load(None)
    assert every == load(None) == load(99)
    assert set(load(1).pairs) < set(load(2).pairs) < set(every.pairs)


def test_parts_share_no_pair_and_make_up_the_whole(task, data):
    parts = ("train", "development", "test")
    loaded = [task.load_pairs(data, part=part, n=None, seed=0) for part in parts]
    scores = [sorted(pair.score for pair in one.pairs) for one in loaded]
    assert scores == [sorted(SCORES)] * 3
    assert len({pair.id for one in loaded for pair in one.pairs}) == len(ROWS)


def test_the_card_says_what_was_loaded(task, data):
    loaded = task.load_pairs(data, part="test", n=3, seed=0)
    card = loaded.card
    assert (card.spec, card.capability) == (data, task.name)
    assert (card.rows, card.used, card.labelled) == (4, 3, 3)
    assert card.fingerprint == pair_fingerprint(loaded.pairs)
