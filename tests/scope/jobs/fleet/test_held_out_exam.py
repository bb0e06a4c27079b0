import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.errors import SpecError
from scope.jobs.fleet.held_out_exam import held_out_rows


@given(questions=st.integers(5, 500), seed=st.integers(0, 99))
def test_the_share_is_held_out_and_the_seed_decides_which(questions, seed):
    held_out = held_out_rows(questions, 0.2, seed)
    assert held_out.sum() == round(0.2 * questions)
    assert np.array_equal(held_out, held_out_rows(questions, 0.2, seed))


def test_another_seed_holds_out_others():
    assert not np.array_equal(held_out_rows(100, 0.2, 0), held_out_rows(100, 0.2, 1))


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.2, 0.001, 0.999, float("nan")])
def test_both_sides_have_a_question(share):
    with pytest.raises(SpecError, match="that leaves questions on both sides"):
        held_out_rows(10, share, 0)
