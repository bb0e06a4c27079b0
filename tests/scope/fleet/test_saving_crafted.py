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
        ("factors", "mix_", lambda _: 1.0, "its parts do not go together"),
        ("factors", "weights_", lambda old: old.T, "its parts do not go together"),
        ("factors", "weights_", filled(3e38), "a forecast that is no probability"),
        ("mean", "model_vectors_", filled(7), "a forecast that is no probability"),
        ("mean", "model_vectors_", filled(NAN), "a forecast that is no probability"),
        ("mean", "skills_", lambda old: old[:-1], "models in place of"),
    ],
)
def test_numbers_that_cannot_be_are_refused_on_loading(kind, name, array, told, tmp_path):
    save_fleet(fleet_of(kind), tmp_path)
    craft(tmp_path, f"forecaster.{name}", array)
    assert told in refusal(tmp_path)


@pytest.mark.parametrize(
    ("name", "array", "told"),
    [
        ("skills", filled(NAN), "a skill is not from 0 to 1"),
        ("skills", filled(7), "a skill is not from 0 to 1"),
        ("answered", filled(-4), "a count of answers"),
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
