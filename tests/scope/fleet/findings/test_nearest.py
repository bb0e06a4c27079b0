import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.fleet.findings import nearest
from scope.fleet.findings.nearest import nearest_models


def grid(seed, models=7):
    """Whole numbers, so that there are twins and equal distances."""
    return np.random.default_rng(seed).integers(0, 3, size=(models, 2)).astype(float)


def names_of(models):
    return [f"m{row}" for row in range(models)]


def test_neighbours_come_nearest_first_with_their_distances():
    found = nearest_models(np.array([[0.0], [4.0], [1.0]]), ["a", "b", "c"])
    assert [[(one.model, one.distance) for one in row] for row in found] == [
        [("c", 1), ("b", 4)],
        [("c", 3), ("a", 4)],
        [("a", 1), ("b", 3)],
    ]


def test_a_model_is_never_its_own_neighbour_not_even_beside_a_twin():
    (of_a, of_b) = nearest_models(np.zeros((2, 3)), ["a", "b"])
    assert [(one.model, one.distance) for one in of_a] == [("b", 0)]
    assert [one.model for one in of_b] == ["a"]


def test_a_lonely_model_has_none():
    assert nearest_models(np.zeros((1, 3)), ["a"]) == ((),)
    assert nearest_models(np.zeros((0, 3)), []) == ()


@given(st.integers(0, 10_000), st.integers(0, 9))
def test_neighbours_are_those_of_a_sort_of_all_pairs(seed, count):
    vectors, names = grid(seed), names_of(7)
    found = nearest_models(vectors, names, count=count)
    for row, neighbours in enumerate(found):
        others = sorted(
            (float(np.linalg.norm(vectors[row] - vectors[other])), names[other])
            for other in range(7)
            if other != row
        )
        assert [one.model for one in neighbours] == [name for _, name in others[:count]]
        assert [one.distance for one in neighbours] == pytest.approx(
            [distance for distance, _ in others[:count]]
        )


@given(st.integers(0, 10_000))
def test_the_order_of_the_models_does_not_matter(seed):
    vectors, names = grid(seed), names_of(7)
    order = np.random.default_rng(seed).permutation(7)
    plain = dict(zip(names, nearest_models(vectors, names, count=3), strict=True))
    moved = [names[row] for row in order]
    assert dict(zip(moved, nearest_models(vectors[order], moved, count=3), strict=True)) == plain


def test_many_models_are_compared_in_parts(monkeypatch):
    vectors, names = grid(3, models=11), names_of(11)
    whole = nearest_models(vectors, names)
    monkeypatch.setattr(nearest, "ROWS_AT_ONCE", 4)
    assert nearest_models(vectors, names) == whole


def test_other_lengths_and_negative_counts_are_refused():
    with pytest.raises(ValueError, match="2 vectors with 1 names"):
        nearest_models(np.zeros((2, 1)), ["a"])
    with pytest.raises(ValueError, match="-1 neighbours"):
        nearest_models(np.zeros((1, 1)), ["a"], count=-1)
