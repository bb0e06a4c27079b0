import numpy as np
import pytest

from scope.probes.jackknife import groups_of, half_width
from scope.records.estimates import Undefined


def test_of_a_mean_the_half_width_is_students():
    values = np.array([1.0, 2.0, 4.0, 9.0])
    without = (values.sum() - values) / 3
    # The deviation is the root of 38 / 3, the error that over the root of 4; 3.182446 is
    # Student's t of three degrees.
    assert half_width(without, 0.95) == pytest.approx(3.182446 * np.sqrt(38 / 3 / 4))
    assert half_width(without, 0.9) == pytest.approx(2.353363 * np.sqrt(38 / 3 / 4))


def test_what_no_group_changes_is_certain():
    assert half_width(np.full(5, 0.3), 0.95) == pytest.approx(0, abs=1e-15)


def test_groups_are_numbered_anew_and_pairs_stand_alone_where_there_are_none():
    assert groups_of(np.array([30, 10, 30, 20, 40]), 5).tolist() == [2, 0, 2, 1, 3]
    assert groups_of(None, 4).tolist() == [0, 1, 2, 3]


def test_three_groups_are_too_few_however_many_pairs_they_hold():
    assert groups_of(np.arange(9) // 3, 9) == Undefined(reason="fewer than 4 groups of pairs", n=9)
    assert groups_of(None, 3) == Undefined(reason="fewer than 4 pairs", n=3)
    assert groups_of(None, 0) == Undefined(reason="fewer than 4 pairs", n=0)
