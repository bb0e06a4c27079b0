import pytest

from reports.wording import (
    Cell,
    number,
    p_value,
    percent,
    two_digits,
)
from scope.records import Estimate, Undefined


def test_an_estimate_is_written_with_interval_level_method_and_n():
    written = Cell.of(Estimate(value=0.93149, low=0.9, high=0.96, n=300, method="bootstrap"))
    assert (written.value, written.interval, written.n) == ("0.931", "[0.900, 0.960]", 300)
    assert written.method == "95\u00a0%, bootstrap"
    assert written.reason is None


def test_an_undefined_estimate_is_a_word_and_its_reason_never_a_number():
    written = Cell.of(Undefined(reason="no pair", n=0))
    assert (written.value, written.interval, written.reason) == ("undefined", "", "no pair")


def test_a_difference_shows_its_signs():
    written = Cell.of(Estimate(value=-0.1, low=-0.2, high=0.05, n=3, method="paired"), signed=True)
    assert (written.value, written.interval) == ("−0.100", "[−0.200, +0.050]")


@pytest.mark.parametrize("value", [0.0, -0.0, 0.0004, -0.0004])
def test_a_zero_has_no_sign(value):
    assert number(value, signed=True) == "0.000"


def test_small_p_values_are_bounded_and_missing_ones_said():
    assert [p_value(v) for v in (None, 0.00099, 0.001, 1.0)] == [
        "none",
        "< 0.001",
        "0.001",
        "1.000",
    ]


def test_shares_are_per_cent_with_one_decimal():
    assert [percent(v) for v in (0.0, 0.5, 0.9996, 1.0)] == ["0.0", "50.0", "100.0", "100.0"]


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.0, ".00"), (0.996, "1.0"), (-0.996, "−1.0"), (0.994, ".99"), (-0.004, ".00"), (0.1, ".10")],
)
def test_two_digits_leave_out_the_zero_before_the_point(value, written):
    assert two_digits(value) == written
