import numpy as np
import pytest
from scipy import stats

from scope.statistics.clusters import normal_quantile, sum_by_example


def test_examples_are_summed_in_the_order_of_their_ids():
    examples = sum_by_example([1.0, 0.5, 0.25, 0.0], ["b", "a", "b", "c"], low=0, high=1)
    assert examples.sums.tolist() == [0.5, 1.25, 0.0]
    assert examples.sizes.tolist() == [1, 2, 1]
    assert examples.distinct == 3
    assert examples.mean == 1.75 / 4


def test_the_order_of_the_input_changes_no_bit():
    generator = np.random.default_rng(0)
    values, ids = generator.random(500), [f"{n % 7}" for n in range(500)]
    order = generator.permutation(500)
    there = sum_by_example(values, ids, low=0, high=1)
    again = sum_by_example(values[order], [ids[index] for index in order], low=0, high=1)
    assert there.sums.tolist() == again.sums.tolist()


def test_no_values_are_no_examples():
    assert sum_by_example([], [], low=0, high=1).distinct == 0


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, np.inf])
def test_a_value_outside_the_range_is_refused(value):
    with pytest.raises(ValueError, match=r"outside 0\.\.1"):
        sum_by_example([0.5, value], ["a", "b"], low=0, high=1)


def test_as_many_ids_as_values_are_needed():
    with pytest.raises(ValueError, match="for 1 example ids"):
        sum_by_example([0.5, 0.5], ["a"], low=0, high=1)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_the_quantile_equals_scipy(level):
    assert normal_quantile(level) == pytest.approx(stats.norm.ppf((1 + level) / 2), abs=1e-12)


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, float("nan")])
def test_a_level_outside_zero_to_one_is_refused(level):
    with pytest.raises(ValueError, match="confidence level"):
        normal_quantile(level)
