"""A folder of latents, and what becomes of it when it is damaged."""

import os
import sqlite3
import threading
from contextlib import closing

import numpy as np
import pytest
from filelock import FileLock

from scope.answers import latent_files as store
from scope.answers.latent_files import LatentFolder, LatentPlace, Shape, unpacked
from scope.errors import RunError
from scope.progress import Silent


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
    assert other.places(["c", "x", "b"]) == {
        "c": LatentPlace(1, 0, False),
        "b": LatentPlace(0, 1, True),
    }
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
        [LatentPlace(0, 1, False), LatentPlace(0, 0, False)],
        [LatentPlace(0, 0, False), LatentPlace(0, 1, False)],
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


class Seen:
    """Progress that remembers what it was told, and when it was told for the first time."""

    def __init__(self):
        self.told, self.began = [], threading.Event()

    def task(self, description, total, done=0):
        self.told.append((description, total, done))
        return self

    def __enter__(self):
        return self.advance

    def advance(self, units=1):
        self.told.append(units)
        self.began.set()

    def __exit__(self, *_):
        return None


def test_who_waits_for_a_writer_says_for_which_and_goes_on_after_it(folder, monkeypatch):
    monkeypatch.setattr(store, "_SECONDS_BETWEEN_LOOKS", 0.01)
    seen, got = Seen(), []

    def wait():
        with folder.writing(seen):
            got.append(True)

    waiting = threading.Thread(target=wait)
    with folder.writing(Silent()):
        waiting.start()
        assert seen.began.wait(timeout=60)
        assert got == []
    waiting.join(timeout=60)
    assert got == [True]
    assert seen.told[0] == ("waiting for another process to keep this model's latents", 1, 0)
    assert set(seen.told[1:-1]) == {0}
    assert seen.told[-1] == 1


def test_nobody_is_waited_for_where_nobody_writes(folder):
    for _ in range(2):
        seen = Seen()
        with pytest.raises(ZeroDivisionError), folder.writing(seen):
            raise ZeroDivisionError
        assert seen.told == []


def test_an_index_that_stays_locked_is_named_with_a_way_out(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_SECONDS_TO_WAIT", 0.01)
    held = FileLock(tmp_path / "latents" / "index.lock")

    def opened():
        with pytest.raises(RunError, match=r"(?s)index\.lock.*SCOPE_CACHE"):
            LatentFolder(tmp_path / "latents")
        done.append(True)

    done = []
    with held:
        other = threading.Thread(target=opened)
        other.start()
        other.join(timeout=60)
    assert done == [True]


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(path.read_bytes()[:-4]),
        lambda path: path.write_bytes(b"no numbers"),
        lambda path: path.write_bytes(b""),
        lambda path: np.save(path, ROWS.astype(np.float64)),
        lambda path: np.save(path, ROWS[:, :1]),
        lambda path: path.write_bytes(b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 70_000),
        lambda path: (path.unlink(), os.mkfifo(path)),
    ],
    ids=["gone", "cut", "foreign", "empty", "other numbers", "other shape", "deep", "a pipe"],
)
def test_a_damaged_portion_is_named_with_a_way_out(folder, tmp_path, damage):
    folder.add({"a": False, "b": False}, ROWS, "float32")
    damage(tmp_path / "latents" / "000000.npy")
    with pytest.raises(
        RunError, match=r"(?s)000000\.npy.*delete `.*latents`, which is then rebuilt"
    ):
        folder.portion(0, folder.shape)


def test_a_pickle_is_not_read(folder, tmp_path):
    folder.add({"a": False, "b": False}, ROWS, "float32")
    np.save(tmp_path / "latents" / "000000.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(RunError, match="is damaged"):
        folder.portion(0, folder.shape)


def test_an_index_of_another_format_is_damaged(folder, tmp_path):
    with closing(sqlite3.connect(tmp_path / "latents" / "index.sqlite")) as connection:
        connection.execute("PRAGMA user_version = 7")
    with pytest.raises(RunError, match="is damaged: its format is 7"):
        LatentFolder(tmp_path / "latents")


def test_an_index_that_is_no_database_is_damaged(folder, tmp_path):
    (tmp_path / "latents" / "index.sqlite").write_text("no database " * 100)
    with pytest.raises(RunError, match=r"(?s)is damaged.*SCOPE_CACHE"):
        folder.places(["a"])


def index_of(folder_path):
    return sqlite3.connect(folder_path / "index.sqlite")


def rows_of(folder, text):
    place = folder.places([text])[text]
    return folder.rows(place.portion, [place.row], folder.shape)


@pytest.mark.parametrize(
    "place",
    ["[0, 7, 0]", "[0, -1, 0]", '[0, "one", 0]', "[5, 0, 0]", '["../../index.sqlite", 0, 0]'],
)
def test_a_place_that_does_not_exist_is_named_with_a_way_out(folder, tmp_path, place):
    folder.add({"a": False, "b": True}, ROWS, "float32")
    with closing(index_of(tmp_path / "latents")) as connection, connection:
        connection.execute("UPDATE entries SET value = ? WHERE kind = 'latents'", (place,))
    with pytest.raises(RunError, match=r"(?s)is damaged.*which is then rebuilt"):
        rows_of(folder, "a")


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE entries",
        "UPDATE entries SET value = '[0, 2, \"float32\"]' WHERE kind = 'facts'",
        "UPDATE entries SET value = '[3, 2, \"int8\"]' WHERE kind = 'facts'",
    ],
)
def test_a_folder_damaged_as_a_whole_is_named_with_a_way_out(folder, tmp_path, statement):
    folder.add({"a": False, "b": True}, ROWS, "float32")
    with closing(index_of(tmp_path / "latents")) as connection, connection:
        connection.execute(statement)
    with pytest.raises(
        RunError, match=r"(?s)is damaged: .*it.*delete `.*latents`, which is then rebuilt"
    ):
        LatentFolder(tmp_path / "latents").shape  # noqa: B018 - it is read
