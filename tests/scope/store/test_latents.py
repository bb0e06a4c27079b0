"""A folder of latents, and what becomes of it when it is damaged."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from scope.errors import RunError
from scope.store.latents import LatentFolder, Place, Shape, unpacked


@pytest.fixture
def folder(tmp_path):
    return LatentFolder(tmp_path / "latents")


ROWS = np.arange(12, dtype=np.float32).reshape(2, 3, 2)


def test_a_new_folder_is_empty(folder):
    assert folder.shape is None
    assert folder.places(["a"]) == {}


def test_what_is_added_is_found_by_whoever_opens_the_folder(folder, tmp_path):
    folder.add({"a": False, "b": True}, ROWS, "float32")
    folder.add({"c": False}, ROWS[1:], "float32")
    other = LatentFolder(tmp_path / "latents")
    assert other.shape == Shape(3, 2, "float32")
    assert other.places(["c", "x", "b"]) == {"c": Place(1, 0, False), "b": Place(0, 1, True)}
    np.testing.assert_array_equal(other.portion(0, other.shape), ROWS)


def test_many_texts_are_looked_up(folder):
    texts = {str(number): False for number in range(2000)}
    folder.add(texts, np.zeros((2000, 1, 1), dtype=np.float32), "float32")
    places = folder.places(list(texts))
    assert [place.row for place in places.values()] == [places[text].row for text in places]
    assert {text: place.row for text, place in places.items()} == {
        text: int(text) for text in texts
    }


def test_any_text_is_a_key(folder):
    texts = {"\ud800": False, "zoé": False}
    folder.add(texts, ROWS, "float32")
    assert list(folder.places(["zoé", "\ud800"]).values()) in (
        [Place(0, 1, False), Place(0, 0, False)],
        [Place(0, 0, False), Place(0, 1, False)],
    )


def test_bfloat16_is_the_upper_half_of_a_number(folder):
    values = np.array([[[1.0, -2.5], [0.0, 37376.0]]], dtype=np.float32)
    folder.add({"a": False}, values, "bfloat16")
    stored = folder.portion(0, folder.shape)
    assert stored.nbytes == values.nbytes // 2
    np.testing.assert_array_equal(unpacked(stored, "bfloat16"), values)


def test_all_latents_of_a_folder_have_one_shape(folder):
    folder.add({"a": False, "b": False}, ROWS, "float32")
    with pytest.raises(RunError, match=r"is damaged: it is of .*layers=3, .* has .*layers=2"):
        folder.add({"c": False}, ROWS[:1, :2], "float32")


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(path.read_bytes()[:-4]),
        lambda path: path.write_bytes(b"no numbers"),
        lambda path: path.write_bytes(b""),
        lambda path: np.save(path, ROWS.astype(np.float64)),
        lambda path: np.save(path, ROWS[:, :1]),
    ],
    ids=["gone", "cut", "foreign", "empty", "other numbers", "other shape"],
)
def test_a_damaged_portion_is_named_with_a_way_out(folder, tmp_path, damage):
    folder.add({"a": False, "b": False}, ROWS, "float32")
    damage(tmp_path / "latents" / "000000.npy")
    with pytest.raises(RunError, match=r"(?s)000000\.npy.*delete `.*latents`, which is made again"):
        folder.portion(0, folder.shape)


def test_a_pickle_is_not_read(folder, tmp_path):
    folder.add({"a": False, "b": False}, ROWS, "float32")
    np.save(tmp_path / "latents" / "000000.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(RunError, match="is damaged"):
        folder.portion(0, folder.shape)


def test_an_index_of_another_format_is_damaged(folder, tmp_path):
    with closing(sqlite3.connect(tmp_path / "latents" / "index.sqlite")) as connection:
        connection.execute("PRAGMA user_version = 9")
    with pytest.raises(RunError, match="is damaged: its format is 9"):
        LatentFolder(tmp_path / "latents")


def test_an_index_that_is_no_database_is_damaged(folder, tmp_path):
    (tmp_path / "latents" / "index.sqlite").write_text("no database " * 100)
    with pytest.raises(RunError, match=r"(?s)is damaged.*SCOPE_CACHE"):
        folder.places(["a"])
