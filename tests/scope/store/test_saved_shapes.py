"""Saved numbers must be of the kinds and shapes that are told of them."""

import numpy as np
import pytest

from scope.fleet.forecasters.forecaster import Forecaster
from scope.fleet.saving import FORECASTERS, _class_of
from scope.store.saved_shapes import check_kept

KEPT = {"a": "f4 rows 1+n", "b": "+f8 n", "c": "=rows", "d": "answers n", "e": "b1", "f": "i8 2"}


def good():
    return {
        "a": np.zeros((3, 5), dtype=np.float32),
        "b": np.ones(4),
        "c": np.array(3),
        "d": np.float32([0, 1, np.nan, 1]),
        "e": np.array(True),
        "f": np.array([1, 2]),
    }


def test_numbers_as_told_are_taken():
    check_kept(good(), KEPT, {"rows": 3})


@pytest.mark.parametrize(
    ("name", "array", "told"),
    [
        ("a", np.zeros((2, 5), dtype=np.float32), r"`a` of shape \(2, 5\), not \(rows, 1\+n\)"),
        ("a", np.zeros((3, 0), dtype=np.float32), "of shape"),
        ("a", np.zeros((3, 5)), "float64 in place of float32"),
        ("a", np.full((3, 5), np.inf, dtype=np.float32), "not finite"),
        ("a", np.zeros(3, dtype=np.float32), "of shape"),
        ("b", np.ones(5), "`b` of shape"),
        ("b", np.zeros(4), "not above 0"),
        ("b", np.full(4, np.nan), "not finite"),
        ("c", np.array(4), "`c` is not 3"),
        ("c", np.array([3]), "`c` is not 3"),
        ("c", np.array(3.0), "`c` is not 3"),
        ("d", np.float32([0, 1, 0.5, 1]), "values other than 0, 1 and NaN"),
        ("d", np.float32([0, 1, np.inf, 1]), "values other than 0, 1 and NaN"),
        ("e", np.array(1), "int64 in place of bool"),
        ("f", np.array([1, 2, 3]), "of shape"),
        ("g", np.array(1), r"the numbers \['g'\]"),
    ],
)
def test_others_are_refused_with_what_is_wrong(name, array, told):
    with pytest.raises(ValueError, match=told):
        check_kept({**good(), name: array}, KEPT, {"rows": 3})


def test_a_missing_one_is_named():
    numbers = good()
    del numbers["e"]
    with pytest.raises(ValueError, match=r"the numbers \['e'\]"):
        check_kept(numbers, KEPT, {"rows": 3})


@pytest.mark.parametrize("name", FORECASTERS)
def test_every_forecaster_says_what_it_keeps(name):
    kind = _class_of(name)
    assert issubclass(kind, Forecaster)
    assert all(told.split() for told in kind.state.values())
