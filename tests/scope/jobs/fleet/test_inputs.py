"""The inputs of the jobs on a fleet: texts, held-out questions, costs and communities."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scope.errors import DataError, SpecError
from scope.jobs.fleet.matrix import read_communities, read_costs
from scope.jobs.fleet.questions import held_out_rows


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
    sides = set(zip(kinds, held_out.tolist(), strict=True))
    assert len(sides) == len(set(kinds))


@pytest.mark.parametrize("share", [0.001, 0.999])
def test_both_sides_have_a_question(share):
    with pytest.raises(SpecError, match="with questions in both parts"):
        held_out_rows(texts(10), share, 0)


def test_communities_are_read_by_model_and_an_empty_one_is_none(write):
    path = write("families.csv", "model,community,more", "a,llama,1", "b,,2", "c,yi,3")
    assert read_communities(path) == {"a": "llama", "c": "yi"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("model,cost\na,1\na,2", "line 3 of costs.csv: the model `a` again"),
        ("model,cost\na,dear", "line 2 of costs.csv: `dear` as the cost of `a`"),
        ("model,price\na,1", "no column for the cost in costs.csv"),
        ("model,cost\n,1", "line 2 of costs.csv: no model"),
    ],
)
def test_a_table_of_costs_that_is_none_is_refused_by_its_line(write, text, found):
    with pytest.raises(DataError, match=found):
        read_costs(write("costs.csv", text))
