"""How numbers are written for the terminal."""

import pytest

from scope.records import Estimate, Undefined
from scope.records.fleet import FEW_QUESTIONS
from scope.tables.cells import (
    LEAST_WIDTH,
    estimate_text,
    from_greatest,
    least_width,
    listing,
    p_value_text,
    points_text,
    share,
)


def estimate(value, low, high, n=400):
    return Estimate(value=value, low=low, high=high, n=n, method="bootstrap")


def test_numbers_have_their_n_and_their_interval_below():
    assert share(estimate(0.5, 0.25, 0.75)) == "50.0  n=400\n[25.0, 75.0]"
    assert estimate_text(estimate(0.5, 0.25, 0.75), digits=2) == "0.50  n=400\n[0.25, 0.75]"
    assert share(Undefined(reason="none")) == "undefined (none)"


@pytest.mark.parametrize(
    ("low", "high", "n", "remark"),
    [
        (0.1, 0.3, 400, ""),
        (-0.3, -0.1, 400, ""),
        (-0.1, 0.3, 400, "\nmay be chance"),
        (0.0, 0.3, 400, "\nmay be chance"),
        (0.1, 0.3, FEW_QUESTIONS - 1, "\ntoo few to tell"),
        (0.1, 0.3, FEW_QUESTIONS, ""),
    ],
)
def test_a_difference_says_whether_it_may_be_chance(low, high, n, remark):
    written = points_text(estimate((low + high) / 2, low, high, n))
    assert written.partition("]")[2] == remark


def test_without_a_difference_nothing_is_said():
    assert points_text(None) == ""
    assert points_text(Undefined(reason="none")) == "undefined (none)"


def test_very_small_p_values_are_bounds():
    assert [p_value_text(one) for one in (None, 0.0004, 0.0123)] == ["", "< 0.001", "0.012"]


def test_the_greatest_comes_first_and_the_undefined_last():
    every = [Undefined(reason="none"), estimate(0.1, 0, 1), estimate(0.9, 0, 1)]
    assert sorted(every, key=from_greatest) == every[::-1]


def test_tables_are_as_wide_as_their_values_need():
    assert least_width(listing("", ("model",), [("a",)])) == LEAST_WIDTH
    many = listing("", ("gain over mean",) * 9, [("[-10.0, +10.0]",) * 9])
    assert least_width(many) == 9 * (len("[-10.0, +10.0]") + 3) + 1
