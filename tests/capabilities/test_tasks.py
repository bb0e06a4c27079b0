"""The tasks: what holds for all that are built in, and what each makes of data."""

import gzip
import json
import math
import re
from collections import Counter

import pytest
from shared_data import shared_data

from capabilities.tasks import Choice, Cloze, ExtractiveQA, Similarity
from scope.data.items import item_fingerprint, pair_fingerprint
from scope.errors import DataError, SpecError
from scope.protocols import PairTask, Task
from scope.records import BLANK
from scope.registry import BUILT_IN, find

TASKS = {name: find("tasks", name).target for name in sorted(BUILT_IN["tasks"])}
OF_PAIRS = [name for name, task in TASKS.items() if task.role == "latent_reader"]
PARTS = ("train", "development", "test")
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
PAIRS = [
    {"split": part, "sentence1": f"Count to {n}.", "sentence2": "Count.", "score": n / 4}
    for part in PARTS
    for n in range(4)
]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.fixture
def data(tmp_path):
    """Four items for a task, or four pairs a part."""

    def of(name):
        if name == "cloze":
            (tmp_path / "book.txt").write_text(BOOK)
            return f"text:{tmp_path}"
        rows = PAIRS if name in OF_PAIRS else ROWS
        # Questions of that task have neither options nor a passage.
        left_out = ("options", "context") if name == "generation" else ()
        rows = [{key: row[key] for key in row if key not in left_out} for row in rows]
        return write(tmp_path / "rows.jsonl", rows)

    return of


def loaded(task, data, n=None):
    if task.role == "latent_reader":
        return task.load_pairs(data, part="train", n=n, seed=0)
    return task.load(data, n=n, seed=0)


def contents(loaded_data):
    return loaded_data.pairs if hasattr(loaded_data, "pairs") else loaded_data.items


@pytest.mark.parametrize("name", TASKS)
def test_a_built_in_task_keeps_to_the_protocol(name):
    task = TASKS[name]()
    assert isinstance(task, PairTask if name in OF_PAIRS else Task)
    assert re.fullmatch("[a-z][a-z_]*", task.name)
    assert task.name == name
    assert re.fullmatch(r"[A-Z].* .*\?", task.question)
    assert hash(task) == hash(type(task)())
    settings = task.settings()
    assert json.loads(json.dumps(dict(settings))) == settings


@pytest.mark.parametrize("name", TASKS)
def test_items_are_the_same_every_time_and_samples_are_nested(name, data):
    task = TASKS[name]()
    every = loaded(task, data(name))
    assert every == loaded(task, data(name)) == loaded(task, data(name), n=99)
    one, two = (contents(loaded(task, data(name), n)) for n in (1, 2))
    assert set(one) < set(two) < set(contents(every))


@pytest.mark.parametrize("name", TASKS)
def test_the_card_says_what_was_loaded(name, data):
    task = TASKS[name]()
    sample = loaded(task, data(name), n=3)
    card = sample.card
    assert (card.spec, card.capability) == (data(name), name)
    assert (card.rows, card.used, card.labelled) == (4, 3, 3)
    fingerprint = pair_fingerprint if name in OF_PAIRS else item_fingerprint
    assert card.fingerprint == fingerprint(contents(sample))


@pytest.mark.parametrize("name", OF_PAIRS)
def test_parts_share_no_pair_and_make_up_the_whole(name, data):
    task, spec = TASKS[name](), data(name)
    parts = [task.load_pairs(spec, part=part, n=None, seed=0).pairs for part in PARTS]
    assert [len(pairs) for pairs in parts] == [4] * 3
    every = task.load_pairs(spec, part=None, n=None, seed=0).pairs
    assert len({pair.id for pairs in parts for pair in pairs}) == len(every) == len(PAIRS)


def test_choices_are_named_by_row_and_count_as_often_as_they_occur(tmp_path):
    rows = [
        {"question": "Which is red?", "options": ["blood", "grass"], "answer": 0},
        {"question": "Which is sweet?", "options": ["salt", "sugar", "soap"], "answer": "B"},
        {"question": "Which is red?", "options": ["blood", "grass"], "answer": 1},
        {"question": "Which is next?", "options": ["left", "right"]},
    ]
    choices = Choice().load(write(tmp_path / "a.jsonl", rows), n=None, seed=0)
    assert [(item.question.id, item.right, item.gold) for item in choices.items] == [
        ("0", 0, ("blood",)),
        ("1", 1, ("sugar",)),
        ("2", 1, ("grass",)),
        ("3", None, ()),
    ]
    card = choices.card
    assert (card.rows, card.duplicates, card.used, card.labelled) == (4, 0, 4, 3)


ISLAND = """*** START OF THE PROJECT GUTENBERG EBOOK THE ISLAND ***

CHAPTER I

The Landing

The old sailor had never seen such a won-
derful island in all his
12
years at sea. "Land!" he cried. "I see mountains and rivers and forests beyond the bay."

* * *

The captain looked through his glass for a very long time. The old sailor had never
seen such a wonderful island in all his years at sea.
"""


@pytest.fixture
def books(tmp_path):
    folder = tmp_path / "books"
    folder.mkdir()
    (folder / "island.txt").write_text(ISLAND)
    (folder / "road.txt").write_text("Nobody on the dusty road could tell us where it led.\n")
    return f"text:{folder}"


def whole(item):
    return item.question.text.replace(BLANK, item.gold[0])


def test_clean_sentences_of_all_books_are_asked_once_each(books):
    cloze = Cloze().load(books, n=None, seed=0)
    assert [whole(item) for item in cloze.items] == [
        "The old sailor had never seen such a wonderful island in all his years at sea.",
        '"I see mountains and rivers and forests beyond the bay."',
        "The captain looked through his glass for a very long time.",
        "Nobody on the dusty road could tell us where it led.",
    ]
    assert [item.category for item in cloze.items] == ["island", "island", "island", "road"]
    # Too short are the chapter's title and what he cried; one sentence occurs twice.
    card = cloze.card
    assert (card.rows, card.empty, card.duplicates, card.used, card.labelled) == (7, 2, 1, 4, 4)


def test_the_blank_of_a_sentence_depends_on_the_seed_and_not_on_the_sample(books):
    large = Cloze().load(books, n=None, seed=3)
    for n in (1, 2, 3):
        assert set(Cloze().load(books, n=n, seed=3).items) < set(large.items)
    golds = {
        tuple(item.gold[0] for item in Cloze().load(books, n=None, seed=seed).items)
        for seed in range(5)
    }
    assert len(golds) == 5


def test_lengths_of_sentences_are_settings(books):
    task = Cloze(min_words=10, max_words=11)
    assert task.settings() == {"min_words": 10, "max_words": 11}
    lengths = {len(item.question.text.split()) for item in task.load(books, n=None, seed=0).items}
    assert lengths == {10, 11}
    for low, high in ((1, 5), (9, 8)):
        with pytest.raises(SpecError, match=f"sentences of {low} to {high} words"):
            Cloze(min_words=low, max_words=high)


def test_a_text_without_usable_sentences_says_why(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("CONTENTS\n\nIt is what it is to me and you.\n\nNo.\n")
    with pytest.raises(DataError) as raised:
        Cloze().load(f"text:{path}", n=None, seed=0)
    assert raised.value.found == (
        f"no item in text:{path}: 2 sentences, 2 of them torn, not of 8 to 40 words, or "
        "without a word to take out"
    )


@pytest.mark.slow
def test_real_books_give_thousands_of_sentences_with_one_blank_each():
    path = shared_data("childrens_books/paragraphs.jsonl.gz")
    cloze = Cloze().load(str(path), n=None, seed=0)
    assert cloze.card.used > 10_000
    assert Counter(item.category for item in cloze.items).keys() == {
        "11", "16", "55", "113", "778", "1874", "11757",
    }  # fmt: skip
    for item in cloze.items:
        assert item.question.text.count(BLANK) == 1
        assert 8 <= len(whole(item).split()) <= 40
        assert item.gold[0].isalpha()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        text = " ".join(" ".join(json.loads(line)["text"].split()) for line in lines)
    sample = Cloze().load(str(path), n=300, seed=0).items
    assert set(sample) < set(cloze.items)
    assert sum(whole(item) in text for item in sample) > 0.98 * len(sample)


def test_questions_without_an_answer_may_be_left_out(tmp_path):
    path = write(tmp_path / "rows.jsonl", [ROWS[0], ROWS[1] | {"answers": []}])
    for unanswerable, golds in ((True, [("1",), ("",)]), (False, [("1",)])):
        task = ExtractiveQA(unanswerable=unanswerable)
        assert task.settings() == {"unanswerable": unanswerable}
        assert [item.gold for item in task.load(path, n=None, seed=0).items] == golds


def test_the_range_of_scores_is_five_by_default(data):
    assert Similarity().settings() == {"low": 0.0, "high": 5.0}
    assert repr(Similarity(low=0, high=1).settings()) == "{'low': 0.0, 'high': 1.0}"
    with pytest.raises(DataError, match=r"line 4 of rows\.jsonl: the score 0\.75, .* 0 to 0\.5"):
        Similarity(high=0.5).load_pairs(data("similarity"), part="train", n=None, seed=0)


@pytest.mark.parametrize(("low", "high"), [(5, 0), (1, 1), (0, math.inf), (math.nan, 5)])
def test_a_range_that_is_none_is_refused(low, high):
    with pytest.raises(SpecError) as raised:
        Similarity(low=low, high=high)
    assert raised.value.found == f"scores from {low} to {high}"
    assert raised.value.expected == "two finite numbers, the first below the second"
