import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.data.sampling import draw, require_sample
from scope.errors import DataError


def test_without_a_number_all_are_drawn():
    assert draw(iter("abc"), None, seed=0) == ["a", "b", "c"]


@given(st.integers(0, 60), st.integers(1, 60), st.integers(1, 60), st.integers(0, 5))
def test_a_sample_keeps_its_order_and_a_smaller_one_is_part_of_a_larger(size, n, m, seed):
    small, large = draw(range(size), min(n, m), seed), draw(range(size), max(n, m), seed)
    assert small == sorted(small)
    assert len(small) == min(n, m, size)
    assert set(small) <= set(large)


def test_what_has_no_order_of_its_own_can_be_drawn():
    candidates = [{"a": 1}, {"a": 2}, {"a": 3}]
    assert [one in candidates for one in draw(candidates, 2, seed=0)] == [True, True]


@pytest.mark.parametrize(("n", "seed"), [(0, 0), (-1, 0), (None, -1)])
def test_a_sample_of_nothing_and_a_negative_seed_are_refused(n, seed):
    with pytest.raises(DataError):
        require_sample(n, seed)
