import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import toy_fleet
from saved_fleet import change, craft, fleet_of, refusal

from scope.errors import SpecError
from scope.fleet.forecasters.baselines import MeanForecaster
from scope.fleet.layout import QuestionLayout
from scope.fleet.saving import DESCRIPTION, FORECASTERS, NUMBERS, Fleet, load_fleet, save_fleet

NAN = np.nan
TESTS = Path(toy_fleet.__file__).parent
FORECAST = """
import sys, toy_fleet
from pathlib import Path
from scope.fleet.saving import load_fleet
table, _ = toy_fleet.fleet(questions=300, seed=8)
for folder in sys.argv[1:]:
    found = load_fleet(Path(folder)).forecaster
    sys.stdout.buffer.write(found.predict_proba(table).tobytes())
    sys.stdout.buffer.write(found.routing_scores(table).tobytes())
"""


def test_a_new_process_predicts_the_same_to_the_byte(tmp_path):
    table, _ = toy_fleet.fleet(questions=300, seed=8)
    folders, expected = [], b""
    for name in FORECASTERS:
        fleet = fleet_of(name)
        folders.append(tmp_path / "new" / name)
        save_fleet(fleet, folders[-1])
        found = fleet.forecaster
        expected += found.predict_proba(table).tobytes() + found.routing_scores(table).tobytes()
    done = subprocess.run(
        [sys.executable, "-c", FORECAST, *folders], cwd=TESTS, capture_output=True, check=True
    )
    assert done.stdout == expected


@pytest.mark.parametrize("name", ["mean", "mf", "factors"])
def test_all_of_a_fleet_is_read_back(name, tmp_path):
    fleet = fleet_of(name, added=True)
    save_fleet(fleet, tmp_path)
    found = load_fleet(tmp_path)
    assert found.forecaster.spelling == fleet.forecaster.spelling
    assert found.forecaster.get_params() == fleet.forecaster.get_params()
    for field in ("models", "ids", "texts_digest", "encoder", "added"):
        assert getattr(found, field) == getattr(fleet, field)
    for field in ("skills", "answered"):
        assert getattr(found, field).dtype == getattr(fleet, field).dtype
        assert np.array_equal(getattr(found, field), getattr(fleet, field))
    # More models can be added to what was read.
    rows, answers = np.arange(5), np.ones((5, 1), dtype=np.float32)
    for one in (fleet, found):
        assert one.forecaster.added(rows, answers).predict_proba(
            np.zeros((1, 4), dtype=np.float32)
        ).shape == (1, 8)


def test_the_same_fleet_gives_the_same_files(tmp_path):
    for folder in ("one", "two"):
        save_fleet(fleet_of("mf"), tmp_path / folder)
    for name in (NUMBERS, DESCRIPTION):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == [DESCRIPTION, NUMBERS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("fleet")
    save_fleet(fleet_of(), made)
    return made


@pytest.fixture
def copied(folder, tmp_path):
    for name in (NUMBERS, DESCRIPTION):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    return tmp_path


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"unknown": 1}, "at `unknown`"),
        ({"models": "all"}, "at `models`"),
        ({"layout": {"vector": 4, "widths": 1}}, "at `layout.widths`"),
        ({"parameters": {"neighbors": 5}}, "do not go together"),
        ({"parameters": {"neighbours": [1, [2]]}}, "at `parameters.neighbours"),
        ({"layout": {"vector": 3}}, "do not go together"),
        ({"layout": {"vector": 10**12}}, "a layout with vectors of 1000000000000 numbers"),
        ({"layout": {"vector": -1}}, "a layout with vectors of -1 numbers"),
        ({"parameters": {"neighbours": 0}}, "neighbours=0"),
        ({"parameters": {"neighbours": "9"}}, "do not go together"),
        ({"models": ["a"] * 6}, "a name stands twice"),
        ({"ids": ["a"] * 60}, "a name stands twice"),
        ({"models": ["a"]}, "do not go together"),
        ({"added": ["a"]}, "do not go together"),
        ({"ids": []}, "do not go together"),
        ({"forecaster": "mean", "parameters": {}}, "do not go together"),
        ({"forecaster": "os:system"}, "a forecaster `os:system`"),
    ],
)
def test_a_description_that_was_changed_is_refused(copied, changes, told):
    change(copied, **changes)
    assert told in refusal(copied)


def test_one_model_more_than_the_forecaster_has_is_noticed():
    fleet = fleet_of()
    more = {
        "models": (*fleet.models, "more"),
        "skills": np.append(fleet.skills, np.float32(1)),
        "answered": np.append(fleet.answered, 1),
    }
    with pytest.raises(ValueError, match=r"of \[6, 7\] models in place of 7"):
        Fleet(**vars(fleet) | more)


def test_a_forecaster_of_ones_own_is_not_saved(tmp_path):
    class Mine(MeanForecaster):
        short_name = "mean"

    table, answers = toy_fleet.fleet()
    fleet = fleet_of("mean")
    mine = Mine(layout=QuestionLayout(vector=4)).fit(table, answers)
    own = Fleet(**{**vars(fleet), "forecaster": mine})
    with pytest.raises(SpecError, match="Mine"):
        save_fleet(own, tmp_path)
    assert not list(tmp_path.iterdir())


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
