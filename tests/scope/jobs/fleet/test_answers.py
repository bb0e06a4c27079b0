import numpy as np
import pytest
from hypothesis import given, strategies as st

from scope.errors import SpecError
from scope.jobs.fleet.answers import held_out_rows


def texts(questions):
    return [f"What is {number}?" for number in range(questions)]


@given(questions=st.integers(5, 500), seed=st.integers(0, 99))
def test_the_share_is_held_out_and_the_seed_decides_which(questions, seed):
    held_out = held_out_rows(texts(questions), 0.2, seed)
    assert held_out.sum() == round(0.2 * questions)
    assert np.array_equal(held_out, held_out_rows(texts(questions), 0.2, seed))


@given(
    kinds=st.lists(st.integers(0, 9), min_size=20, max_size=60),
    share=st.floats(0.2, 0.8),
    seed=st.integers(0, 99),
)
def test_one_text_is_never_on_both_sides(kinds, share, seed):
    asked = [f"What is {kind}? {' ' * (row % 2)}" for row, kind in enumerate(kinds)]
    try:
        held_out = held_out_rows(asked, share, seed)
    except SpecError:
        # One text may have nearly all questions.
        assert max(map(kinds.count, kinds)) > share * len(kinds) - 1
        return
    assert 0 < held_out.sum() <= round(share * len(kinds))
    outside = {kind for kind, out in zip(kinds, held_out.tolist(), strict=True) if out}
    assert outside.isdisjoint(
        kind for kind, out in zip(kinds, held_out.tolist(), strict=True) if not out
    )


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.2, 0.001, 0.999, float("nan")])
def test_both_sides_have_a_question(share):
    with pytest.raises(SpecError, match="with questions in both parts"):
        held_out_rows(texts(10), share, 0)
