"""Fleets whose digest is right and whose numbers cannot be are refused on loading."""

import hashlib

import numpy as np
import pytest
from saved_fleet import change, craft, fleet_of, refusal

from scope.fleet.saving import NUMBERS, save_fleet

NAN = np.nan


@pytest.fixture
def copied(tmp_path):
    save_fleet(fleet_of("knn"), tmp_path)
    return tmp_path


def filled(number):
    return lambda array: np.full_like(array, number)


@pytest.mark.parametrize(
    ("kind", "name", "array", "told"),
    [
        ("factors", "mix_", lambda _: 1.0, "`forecaster.mix_` of shape ()"),
        ("factors", "model_vectors_", filled(NAN), "`forecaster.model_vectors_` holds a number"),
        ("factors", "model_vectors_", lambda old: old[:, :-1], "of shape"),
        ("factors", "question_vectors_", lambda old: old[:-1], "of shape (59, 3)"),
        ("factors", "noise_", lambda _: [1.0, 2.0], "`forecaster.noise_` of shape (2,)"),
        ("factors", "noise_", filled(0), "not above 0"),
        ("factors", "offset_", lambda old: old.astype("f8"), "of float64 in place of float32"),
        ("factors", "widths_", filled(-1), "not above 0"),
        ("factors", "slope_", lambda _: np.zeros(0), "of shape (0,)"),
        ("factors", "landmark_codes_", lambda old: old.astype("f4"), "of float32"),
        ("irt", "helps_", lambda _: 1.0, "of float64 in place of bool"),
        ("irt", "skills_", filled(np.inf), "not finite"),
        ("irt", "weights_", lambda old: old.T, "of shape"),
        ("irt", "weights_", filled(3e38), "a forecast that is no probability"),
        ("mf", "spread_root_", lambda old: old[:-1, :-1], "of shape (7, 7)"),
        ("mf", "constant_", lambda _: np.zeros(1), "of shape (1,)"),
        ("mean", "model_vectors_", filled(7), "a forecast that is no probability"),
        ("mean", "questions_", filled(10**9), "`forecaster.questions_` is not 60"),
        ("mean", "fitted_", filled(0), "`forecaster.fitted_` is not 6"),
        ("knn", "answers_", filled(0.5), "holds values other than 0, 1 and NaN"),
    ],
)
def test_numbers_that_cannot_be_are_refused_on_loading(kind, name, array, told, tmp_path):
    save_fleet(fleet_of(kind), tmp_path)
    craft(tmp_path, f"forecaster.{name}", array)
    assert told in refusal(tmp_path)


@pytest.mark.parametrize(
    ("name", "array", "told"),
    [
        ("skills", filled(NAN), "not finite"),
        ("skills", filled(7), "a skill is not from 0 to 1"),
        ("answered", filled(-4), "a count of answers"),
        ("answered", lambda old: old.astype("f4"), "of float32 in place of int64"),
    ],
)
def test_a_fleets_own_numbers_are_checked_too(copied, name, array, told):
    craft(copied, f"fleet.{name}", array)
    assert told in refusal(copied)


def test_a_kind_of_number_that_numpy_lacks_is_damage(copied):
    content = (copied / NUMBERS).read_bytes()
    changed = content.replace(b'"dtype":"F32"', b'"dtype":"BF16"', 1)
    size = int.from_bytes(content[:8], "little") + len(changed) - len(content)
    changed = size.to_bytes(8, "little") + changed[8:]
    (copied / NUMBERS).write_bytes(changed)
    change(copied, sha256=hashlib.sha256(changed).hexdigest())
    assert f"`{copied / NUMBERS}` is damaged" in refusal(copied)
