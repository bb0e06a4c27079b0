"""Pairs are read part by part, and what is wrong with them is told at once."""

import pytest
from hypothesis import given, strategies as st

from scope.errors import DataError, SpecError
from scope.jobs.probe.pairs import (
    PairSpecs,
    connected,
    human_scores,
    read_all_parts,
    read_test_alone,
    sentences_of,
    split_development,
)
from scope.protocols import PairData
from scope.records import DataCard, ScoredPair


class Told:
    """A task of pairs whose tables are given as Python has them: spec -> rows of a part."""

    name, question, role, low, high = "told", "How alike?", "latent_reader", 0.0, 5.0

    def __init__(self, **tables):
        self.tables = tables

    def settings(self):
        return {}

    def load_pairs(self, data, *, part, n, seed):
        rows = self.tables[data]
        if rows is None:
            raise DataError(f"no file {data}", expected="a file", fix="look")
        kept = [row for row in rows if part is None or row[0] == part][:n]
        if not kept:
            raise DataError(f"no row for {part}", expected="some", fix="add some")
        if any(score > self.high for *_, score in kept):
            raise DataError("a score out of the range", expected="less", fix="fix it")
        pairs = tuple(
            ScoredPair(id=str(place), first=first, second=second, score=score)
            for place, (_, first, second, score) in enumerate(kept)
        )
        card = DataCard(spec=data, fingerprint=f"{data} {part}", rows=len(kept), used=len(kept))
        return PairData(pairs=pairs, card=card)


def rows(part, count, name=None):
    name = name or part
    return [(part, f"{name} {place} a", f"{name} {place} b", place % 5) for place in range(count)]


TABLE = rows("train", 30) + rows("development", 5) + rows("test", 6)


def read(task, n=None, seed=0, **specs):
    return read_all_parts(task, PairSpecs(**specs), n=n, seed=seed)


def test_one_table_gives_all_parts_with_a_card_each():
    given = read(Told(table=TABLE), data="table")
    assert [len(part) for part in (given.train, given.development, given.test)] == [30, 5, 6]
    told = [(card.spec, card.fingerprint) for card in given.cards]
    assert told == [
        ("table (train)", "table train"),
        ("table (development)", "table development"),
        ("table (test)", "table test"),
    ]
    assert given.notes == ()
    assert len(given.sentences) == len(set(given.sentences)) == 2 * 41


def test_a_table_without_development_rows_has_a_tenth_of_training_pairs_set_apart():
    table = rows("train", 30) + rows("test", 6)
    given = read(Told(table=table), data="table", seed=3)
    assert len(given.development) == 3
    assert len(given.train) == 27
    assert not set(sentences_of(given.train)) & set(sentences_of(given.development))
    assert len(given.cards) == 2
    assert given.notes == (
        "3 development pairs split from the training pairs (seed 3), without shared sentences",
    )


def test_a_wrong_development_row_is_told_and_not_taken_for_a_missing_part():
    table = [*TABLE, ("development", "a", "b", 6)]
    with pytest.raises(DataError, match="a score out of the range"):
        read(Told(table=table), data="table")


def test_parts_may_stand_apart():
    task = Told(one=rows("x", 30, "train"), two=rows("y", 6, "test"), three=rows("z", 5, "dev"))
    given = read(task, train="one", test="two", development="three")
    assert [len(part) for part in (given.train, given.development, given.test)] == [30, 5, 6]
    assert [card.spec for card in given.cards] == ["one", "three", "two"]
    drawn = read(task, train="one", test="two")
    assert [len(part) for part in (drawn.train, drawn.development, drawn.test)] == [27, 3, 6]


def test_development_pairs_that_cannot_be_read_are_no_reason_to_draw_others():
    task = Told(one=rows("x", 30, "train"), two=rows("y", 6, "test"), three=None)
    with pytest.raises(DataError, match="no file three"):
        read(task, train="one", test="two", development="three")


@pytest.mark.parametrize(("greatest", "fits"), [(1, False), (2.4, False), (2.5, True)])
def test_scores_that_all_lie_in_the_lower_half_are_of_another_range(greatest, fits):
    table = [
        (part, first, second, greatest * (place % 2))
        for place, (part, first, second, _) in enumerate(TABLE)
    ]
    if fits:
        assert len(read(Told(table=table), data="table").train) == 30
        return
    with pytest.raises(DataError) as error:
        read(Told(table=table), data="table")
    assert f"is {greatest} in a range of 0 to 5" in error.value.found
    assert f"--high {greatest}," in error.value.fix


@pytest.mark.parametrize(
    "specs",
    [
        {},
        {"data": "t", "train": "t"},
        {"data": "t", "test": "t"},
        {"data": "t", "development": "t"},
        {"train": "t"},
        {"test": "t"},
        {"train": "t", "development": "t"},
    ],
)
def test_forms_that_do_not_go_together_are_refused_before_any_is_read(specs):
    with pytest.raises(SpecError, match="one table with a column `split`"):
        read(None, **specs)


@pytest.mark.parametrize("part", ["train", "development", "test"])
def test_a_part_whose_scores_are_all_the_same_is_named(part):
    table = [
        (one, first, second, 3 if one == part else score) for one, first, second, score in TABLE
    ]
    name = {"train": "training"}.get(part, part)
    with pytest.raises(DataError, match=rf"{name} pairs, and no two different scores but 3"):
        read(Told(table=table), data="table")


def test_pairs_that_all_hang_together_need_development_pairs_of_their_own():
    train = [("x", "the same", f"other {place}", place % 5) for place in range(30)]
    with pytest.raises(DataError, match="30 training pairs of which 0 can be split"):
        read(Told(one=train, two=rows("y", 6)), train="one", test="two")


def test_a_saved_probe_takes_test_pairs_alone():
    task = Told(table=TABLE, two=rows("y", 6))
    for specs in (PairSpecs(data="table"), PairSpecs(test="two")):
        given = read_test_alone(task, specs, n=None, seed=0)
        assert (given.train, given.development, len(given.test)) == ((), (), 6)
    for specs in (PairSpecs(), PairSpecs(data="table", test="two")):
        with pytest.raises(SpecError, match="new pairs"):
            read_test_alone(task, specs, n=None, seed=0)


def test_the_sample_counts_for_each_part():
    given = read(Told(table=TABLE), n=4, data="table")
    assert [len(part) for part in (given.train, given.development, given.test)] == [4, 4, 4]
    assert human_scores(given.test).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("alone", [False, True])
def test_test_scores_in_the_lower_half_alone_are_noted(alone):
    task = Told(
        train=[("train", f"a{n}", f"b{n}", n / 4) for n in range(21)],
        low=[("test", "c", "d", 0.0), ("test", "e", "f", 1.0)],
        high=[("test", "c", "d", 0.0), ("test", "e", "f", 2.5)],
    )

    def notes(test):
        if alone:
            return read_test_alone(task, PairSpecs(test=test), n=None, seed=0).notes
        return read_all_parts(task, PairSpecs(train="train", test=test), n=None, seed=0).notes

    told = "the highest score of the test pairs is 1 in a range of 0 to 5"
    assert sum(note.startswith(told) for note in notes("low")) == 1
    assert not any("highest score" in note for note in notes("high"))


def pairs_of(sides):
    return tuple(
        ScoredPair(id=str(place), first=first, second=second, score=1.0)
        for place, (first, second) in enumerate(sides)
    )


def texts(pairs):
    return {text for pair in pairs for text in (pair.first, pair.second)}


graphs = st.lists(st.tuples(*[st.sampled_from("abcdefghijklmnop")] * 2), max_size=60)


@given(graphs, st.integers(0, 5))
def test_no_sentence_stands_on_both_sides_and_no_pair_is_lost(sides, seed):
    pairs = pairs_of(sides)
    split = split_development(pairs, seed)
    assert not texts(split.train) & texts(split.development)
    assert sorted((*split.train, *split.development), key=pairs.index) == list(pairs)
    assert len(split.development) <= max(2, round(len(pairs) / 10))


def test_of_pairs_without_common_sentences_a_tenth_is_drawn():
    pairs = pairs_of([(f"a{n}", f"b{n}") for n in range(57)])
    split = split_development(pairs, 0)
    assert len(split.development) == 6
    assert split == split_development(pairs, 0)
    assert split.development != split_development(pairs, 1).development


def test_the_order_of_the_pairs_is_kept():
    pairs = pairs_of([(f"a{n}", f"b{n}") for n in range(40)])
    for side in split_development(pairs, 3):
        assert list(side) == sorted(side, key=lambda pair: int(pair.id))


def test_what_hangs_together_is_never_torn_apart():
    pairs = pairs_of([(f"a{n}", f"a{n + 1}") for n in range(50)])
    assert split_development(pairs, 0).development == ()


def naive_groups(sides):
    """Spread numbers until nothing changes."""
    groups = list(range(len(sides)))
    for _ in sides:
        for one, first in enumerate(sides):
            for other, second in enumerate(sides):
                if set(first) & set(second):
                    groups[one] = groups[other] = min(groups[one], groups[other])
    return groups


@given(graphs)
def test_groups_are_those_of_a_plain_search(sides):
    found, plain = connected(pairs_of(sides)), naive_groups(sides)
    assert len(set(zip(found, plain, strict=True))) == len(set(found)) == len(set(plain))


@pytest.mark.parametrize("count", [0, 1])
def test_of_hardly_any_pair_nothing_goes_wrong(count):
    split = split_development(pairs_of([("a", "b")] * count), 0)
    assert len(split.train) + len(split.development) == count
