"""Pairs are read part by part, checked at once, and grouped by the sentences that they share."""

from types import SimpleNamespace

import pytest
from hypothesis import given, strategies as st
from toy_pairs import Rated

from capabilities.tasks import Cloze, Similarity
from scope.errors import DataError, SpecError
from scope.jobs.probe.pairs import (
    ChosenPairTask,
    GivenPairs,
    notes_on_overlap,
    read_all_parts,
    sentences_of,
    split_development,
)
from scope.records import ScoredPair


def rows(part, count):
    return [(part, f"{part} {place} a", f"{part} {place} b", place % 5) for place in range(count)]


TABLE = rows("train", 30) + rows("development", 5) + rows("test", 6)


def request(**options):
    parts = {"data": None, "train": None, "development": None, "test": None}
    return SimpleNamespace(**{**parts, "n": None, "seed": 0, **options})


@pytest.fixture
def read(task_of):
    """Reads the parts of tables that a request names."""
    return lambda tables, **options: read_all_parts(task_of(**tables), request(**options))


def sizes(pairs):
    return [len(part) for part in (pairs.train, pairs.development, pairs.test)]


def test_one_table_gives_all_parts_with_a_card_each(read):
    pairs = read({"table": TABLE}, data="table")
    assert sizes(pairs) == [30, 5, 6]
    parts = ("train", "development", "test")
    assert [card.spec for card in pairs.cards] == [f"table ({part})" for part in parts]
    assert pairs.notes == ()
    assert len(pairs.sentences) == len(set(pairs.sentences)) == 2 * 41


def test_a_table_without_development_rows_has_a_tenth_of_training_pairs_set_apart(read):
    table = rows("train", 30) + rows("test", 6)
    pairs = read({"table": table}, data="table", seed=3)
    assert sizes(pairs) == [27, 3, 6]
    assert not set(sentences_of(pairs.train)) & set(sentences_of(pairs.development))
    assert len(pairs.cards) == 2
    assert pairs.notes == (
        "3 development pairs split from the training pairs (seed 3), without shared sentences",
    )


def test_each_part_may_have_its_own_table(read):
    tables = {"one": rows("x", 30), "two": rows("y", 6), "three": rows("z", 5)}
    pairs = read(tables, train="one", test="two", development="three")
    assert sizes(pairs) == [30, 5, 6]
    assert [card.spec for card in pairs.cards] == ["one", "three", "two"]
    assert sizes(read(tables, train="one", test="two")) == [27, 3, 6]


def test_scores_that_all_lie_in_the_lower_half_are_of_another_range(read):
    half, less = (
        {"table": [(*row[:3], greatest * (place % 2)) for place, row in enumerate(TABLE)]}
        for greatest in (2.5, 2.4)
    )
    assert len(read(half, data="table").train) == 30
    with pytest.raises(DataError, match=r"(?s)is 2\.4 in a range of 0 to 5.*--high 2\.4,"):
        read(less, data="table")


@pytest.mark.parametrize("part", ["train", "development", "test"])
def test_a_part_whose_scores_are_all_the_same_is_refused(part, read):
    table = [(*row[:3], 3 if row[0] == part else row[3]) for row in TABLE]
    name = {"train": "training"}.get(part, part)
    with pytest.raises(DataError, match=rf"{name} pairs, and no two different scores but 3"):
        read({"table": table}, data="table")


def pairs_of(sides):
    """A pair for each two sentences, or for each two letters."""
    return tuple(
        ScoredPair(id=str(place), first=first, second=second, score=1.0)
        for place, (first, second) in enumerate(sides)
    )


graphs = st.lists(st.tuples(*[st.sampled_from("abcdefghijklmnop")] * 2), max_size=60)


@given(graphs, st.integers(0, 5))
def test_no_sentence_is_on_both_sides_of_a_split_and_no_pair_is_lost(sides, seed):
    pairs = pairs_of(sides)
    train, development = split_development(pairs, seed)
    assert not set(sentences_of(train)) & set(sentences_of(development))
    assert sorted((*train, *development), key=pairs.index) == list(pairs)
    assert len(development) <= max(2, round(len(pairs) / 10))


def parts(train="", development="", test=""):
    sides = (pairs_of(part.split()) for part in (train, development, test))
    return GivenPairs(**dict(zip(("train", "development", "test"), sides, strict=True)), cards=())


@pytest.mark.parametrize(
    ("letters", "unlabelled", "overlap"),
    [
        (("wx", "yz", "ab cd"), "pq", ()),
        (("ax bx", "yz", "ab cd"), "", "1 share a sentence with the training pairs"),
        (
            ("ba wx", "yz dc", "ab cd ce"),
            "b",
            "1 share a sentence with the training pairs; 2 share one with the development pairs; "
            "1 share one with the sentences without scores; 2 are identical to a training or "
            "development pair",
        ),
    ],
)
def test_overlap_of_test_pairs_with_other_data_is_counted(letters, unlabelled, overlap):
    pairs = parts(*letters)
    notes = (f"of {len(pairs.test)} test pairs, {overlap}",) if overlap else ()
    assert notes_on_overlap(pairs, tuple(unlabelled)) == notes


def test_a_range_of_a_task_without_settings_is_refused():
    with pytest.raises(SpecError, match="the range --low 0 --high 1 for the task `rated`, whose"):
        ChosenPairTask.of(Rated(), low=0, high=1)


@pytest.mark.parametrize(
    ("task", "found"),
    [
        (Cloze(), "the task `cloze`, which has no pairs with human scores"),
        (Similarity, "the class Similarity"),
        (3, "the int 3 as a capability or task"),
    ],
)
def test_other_tasks_are_refused(task, found):
    with pytest.raises(SpecError, match=found):
        ChosenPairTask.of(task)
