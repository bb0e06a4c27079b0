import random

import pytest
from hypothesis import given, strategies as st

from scope.data.sampling import Keyed, Repeats, by_name, draw, require_sample, short_hash
from scope.errors import DataError


def numbered(size):
    return [Keyed(short_hash(str(number)), number) for number in range(size)]


def test_without_a_number_all_are_drawn_in_their_order():
    assert draw(by_name("cab"), None, seed=0) == ["c", "a", "b"]


@given(st.integers(0, 60), st.integers(1, 60), st.integers(1, 60), st.integers(0, 5))
def test_a_sample_keeps_its_order_and_a_smaller_one_is_part_of_a_larger(size, n, m, seed):
    small, large = (draw(numbered(size), count, seed) for count in sorted((n, m)))
    assert small == sorted(small)
    assert len(small) == min(n, m, size)
    assert set(small) <= set(large)


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 12), st.integers(0, 99))
def test_neither_sample_nor_which_of_equals_stays_depends_on_the_order(keys, n, seed):
    candidates = [
        Keyed(short_hash(str(key)), (key, place), (False, short_hash(str(place))))
        for place, key in enumerate(keys)
    ]
    shuffled = random.Random(seed).sample(candidates, len(candidates))
    for size in (n, None):
        drawn = draw(candidates, size, seed)
        assert sorted(drawn) == sorted(draw(shuffled, size, seed))
        assert len({key for key, _ in drawn}) == len(drawn)


def test_what_has_no_order_of_its_own_can_be_drawn():
    values = [{"a": 1}, {"a": 2}, {"a": 3}]
    candidates = [Keyed(short_hash(str(value)), value) for value in values]
    assert [one in values for one in draw(candidates, 2, seed=10**60)] == [True, True]


@pytest.mark.parametrize(("n", "seed"), [(0, 0), (-1, 0), (None, -1)])
def test_a_sample_of_nothing_and_a_negative_seed_are_refused(n, seed):
    with pytest.raises(DataError):
        require_sample(n, seed)


def test_repeats_have_keys_of_their_own_whatever_else_stands_between_them():
    first, second = Repeats(), Repeats()
    rows = [("a", "1"), ("b", None), ("a", "1"), ("a", "2"), ("a", "1")]
    keys = [first.key(*row) for row in rows]
    assert len(set(keys)) == len(rows)
    assert {second.key(*row) for row in reversed(rows)} == set(keys)
