"""Development pairs are drawn so that the probe has seen none of their sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.jobs.probe.splitting import connected, split_development
from scope.records import ScoredPair


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
