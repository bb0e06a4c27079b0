"""The permutation test of slices against all permutations, and under the null."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scope.statistics.heterogeneity import heterogeneity_p_value


def parts(values, slices):
    return [
        [value for value, one in zip(values, slices, strict=True) if one == name]
        for name in sorted(set(slices))
    ]


def exact(values, slices):
    """Every permutation of the texts over the slices."""

    def between(ordered):
        total = 0.0
        for own in parts(ordered, slices):
            total += len(own) * (np.mean(own) - np.mean(values)) ** 2
        return total

    ways = list(permutations(values))
    return sum(between(way) >= between(values) - 1e-9 for way in ways) / len(ways)


@pytest.mark.parametrize(
    ("values", "slices"),
    [
        ([1, 1, 0.5, 0, 0, 0], "aaabbb"),
        ([1, 0, 0.25, 0.5, 1, 1], "abcabc"),
        ([0.2, 1, 1, 1, 1, 1], "abbbbb"),
    ],
)
def test_the_p_value_approaches_that_of_all_permutations(values, slices):
    found = heterogeneity_p_value(parts(values, slices), np.random.default_rng(1))
    # A p-value that is not small rests on a few hundred permutations.
    assert found == pytest.approx(exact(values, slices), abs=0.08)


def test_a_clear_difference_has_the_smallest_p_value():
    generator = np.random.default_rng(0)
    assert heterogeneity_p_value([[1.0] * 40, [0.0] * 40], generator, resamples=1234) == 1 / 1235


def test_equal_values_have_the_p_value_one():
    generator = np.random.default_rng(0)
    assert heterogeneity_p_value([[0.1] * 3, [0.1] * 2, [0.1]], generator) == 1


def test_p_values_are_uniform_where_slices_are_alike():
    generator = np.random.default_rng(12)
    p_values = []
    for _ in range(400):
        values = np.split(generator.random(40).round(1), [5, 20])
        p_values.append(heterogeneity_p_value(values, generator, resamples=999))
    for bound, slack in [(0.05, 0.03), (0.25, 0.06), (0.5, 0.07), (0.75, 0.06)]:
        assert np.mean(np.array(p_values) <= bound) == pytest.approx(bound, abs=slack)


@given(st.lists(st.floats(0, 1), min_size=1), st.lists(st.floats(0, 1), min_size=1), st.randoms())
def test_the_order_of_the_texts_changes_nothing(first, second, random):
    there, again = (
        heterogeneity_p_value(both, np.random.default_rng(1), resamples=99)
        for both in ([first, second], [random.sample(one, len(one)) for one in (first, second)])
    )
    assert there == again
