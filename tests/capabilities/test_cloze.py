import gzip
import json
from collections import Counter

import pytest
from shared_data import shared_data

from capabilities.cloze import Cloze
from scope.errors import DataError, SpecError
from scope.records import BLANK

BOOK = """*** START OF THE PROJECT GUTENBERG EBOOK THE ISLAND ***

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
    (folder / "island.txt").write_text(BOOK)
    (folder / "road.txt").write_text("Nobody on the dusty road could tell us where it led.\n")
    return f"text:{folder}"


def whole(item):
    return item.question.text.replace(BLANK, item.gold[0])


def test_clean_sentences_of_all_books_are_asked_once_each(books):
    data = Cloze().load(books, n=None, seed=0)
    assert [whole(item) for item in data.items] == [
        "The old sailor had never seen such a wonderful island in all his years at sea.",
        '"I see mountains and rivers and forests beyond the bay."',
        "The captain looked through his glass for a very long time.",
        "Nobody on the dusty road could tell us where it led.",
    ]
    assert [item.category for item in data.items] == ["island", "island", "island", "road"]
    # Too short to be asked are the chapter's title and what he cried; one stands twice.
    assert (data.card.rows, data.card.empty, data.card.duplicates, data.card.used) == (7, 2, 1, 4)
    assert (data.card.labelled, data.card.capability) == (4, "cloze")


def test_the_blank_of_a_sentence_does_not_depend_on_the_sample(books):
    large = Cloze().load(books, n=None, seed=3)
    for n in (1, 2, 3):
        small = Cloze().load(books, n=n, seed=3)
        assert len(small.items) == n
        assert set(small.items) < set(large.items)


def test_another_seed_takes_other_words(books):
    golds = {
        tuple(item.gold[0] for item in Cloze().load(books, n=None, seed=seed).items)
        for seed in range(5)
    }
    assert len(golds) == 5


def test_lengths_are_settings(books):
    task = Cloze(min_words=10, max_words=11)
    assert task.settings() == {"min_words": 10, "max_words": 11}
    lengths = {len(item.question.text.split()) for item in task.load(books, n=None, seed=0).items}
    assert lengths == {10, 11}


@pytest.mark.parametrize("lengths", [(1, 5), (9, 8)])
def test_lengths_that_admit_nothing_are_refused(lengths):
    with pytest.raises(SpecError, match=f"sentences of {lengths[0]} to {lengths[1]} words"):
        Cloze(min_words=lengths[0], max_words=lengths[1])


def test_a_text_without_usable_sentences_says_why(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("CONTENTS\n\nIt is what it is to me and you.\n\nNo.\n")
    with pytest.raises(DataError) as raised:
        Cloze().load(f"text:{path}", n=None, seed=0)
    assert raised.value.found == (
        f"no item in text:{path}: 2 sentences, 2 of them torn, not of 8 to 40 words, or "
        "without a word to take out"
    )
    assert raised.value.expected == "at least one item for the task cloze"


@pytest.mark.slow
def test_real_books_give_thousands_of_sentences_with_one_blank_each():
    data = Cloze().load(str(shared_data("childrens_books/paragraphs.jsonl.gz")), n=None, seed=0)
    assert data.card.used > 10_000
    assert Counter(item.category for item in data.items).keys() == {
        "11", "16", "55", "113", "778", "1874", "11757",
    }  # fmt: skip
    for item in data.items:
        assert item.question.text.count(BLANK) == 1
        assert 8 <= len(whole(item).split()) <= 40
        assert item.gold[0].isalpha()
    sample = Cloze().load(data.card.spec, n=200, seed=0)
    assert set(sample.items) < set(data.items)


@pytest.mark.slow
def test_real_sentences_are_pieces_of_their_paragraphs():
    path = shared_data("childrens_books/paragraphs.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        text = " ".join(" ".join(json.loads(line)["text"].split()) for line in lines)
    items = Cloze().load(str(path), n=300, seed=1).items
    in_text = sum(whole(item) in text for item in items)
    assert in_text > 0.98 * len(items)
