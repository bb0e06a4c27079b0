import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scope.metrics.semantic import cosine_values, text_cosine_values, text_likeness_values

directions = st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(
    lambda numbers: math.hypot(*numbers) > 0.1
)


def unit(numbers):
    return np.array(numbers) / math.hypot(*numbers)


def test_cosines_by_hand():
    assert cosine_values([[1, 0], [1, 0]], [[0.6, 0.8], [-0.8, 0.6]]).tolist() == [0.6, -0.8]


@given(st.lists(st.tuples(directions, directions), min_size=1, max_size=5))
def test_cosines_keep_to_their_range_and_to_either_order(pairs):
    first = [unit(one) for one, _ in pairs]
    second = [unit(other) for _, other in pairs]
    values = cosine_values(first, second)
    assert (np.abs(values) <= 1).all()
    np.testing.assert_array_equal(values, cosine_values(second, first))
    rows = zip(first, second, strict=True)
    expected = [sum(p * q for p, q in zip(*pair, strict=True)) for pair in rows]
    np.testing.assert_allclose(values, expected, atol=1e-9)


@given(directions)
def test_a_vector_and_its_opposite_stand_at_the_ends_of_the_range(numbers):
    row = unit(numbers)
    assert cosine_values([row], [row])[0] == pytest.approx(1, abs=1e-12)
    assert cosine_values([row], [-row])[0] == pytest.approx(-1, abs=1e-12)


def test_a_vector_that_is_not_of_length_one_is_refused():
    with pytest.raises(ValueError, match="a vector of length 2, not 1"):
        cosine_values([[1, 0]], [[0, 2]])
    with pytest.raises(ValueError, match="a vector of length nan"):
        cosine_values([[math.nan, 0]], [[0, 1]])


def test_vectors_of_other_shapes_are_refused():
    with pytest.raises(ValueError, match="are compared with"):
        cosine_values([[1, 0]], [[1, 0, 0]])
    with pytest.raises(ValueError, match="are compared with"):
        cosine_values([1, 0], [1, 0])


def test_an_empty_text_has_no_meaning_to_compare():
    vectors = {"king": np.array([1.0, 0.0])}
    values = text_cosine_values(["", " ", "", "king"], ["", "", "king", ""], vectors)
    assert values.tolist() == [1, 1, 0, 0]


def test_equal_texts_are_alike_even_if_the_encoder_knows_nothing_of_them():
    vectors = {"zzyzx": np.zeros(2), "king": np.array([1.0, 0.0])}
    values = text_cosine_values(["zzyzx", "zzyzx"], ["zzyzx", "king"], vectors)
    assert values.tolist() == [1, 0]


def test_unequal_numbers_of_texts_are_refused():
    with pytest.raises(ValueError, match="1 texts are compared with 0"):
        text_cosine_values(["a"], [], {})


def test_nothing_to_compare_gives_no_values():
    assert text_cosine_values([], [], {}).shape == (0,)


def test_a_likeness_of_any_kind_is_asked_once_for_what_no_rule_decides():
    asked = []

    def likeness(one, other):
        asked.append((list(one), list(other)))
        return np.array([0.25, 0.5])

    first, second = ["king", "king ", "", "", "ox"], ["queen", "king", " ", "ox", "cow"]
    values = text_likeness_values(first, second, likeness)
    assert values.tolist() == [0.25, 1, 1, 0, 0.5]
    assert asked == [(["king", "ox"], ["queen", "cow"])]


def test_a_likeness_is_not_asked_for_nothing():
    values = text_likeness_values(["a", ""], ["a", "b"], lambda one, other: pytest.fail("asked"))
    assert values.tolist() == [1, 0]
