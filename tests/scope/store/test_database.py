"""Kinds: round-trip properties, and contracts for what a database refuses."""

from __future__ import annotations

import sqlite3
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from scope.errors import RunError
from scope.records import Perturbation, Prediction
from scope.store.database import APPLICATION, VERSION, Database

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
PREDICTIONS = st.builds(
    Prediction,
    probabilities=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=4).map(tuple),
    truncated=st.booleans(),
)


def prediction(*probabilities: float) -> Prediction:
    return Prediction(probabilities=probabilities)


def bits(item: Prediction) -> tuple[bytes, bool]:
    return struct.pack(f"{len(item.probabilities)}d", *item.probabilities), item.truncated


@settings(deadline=None)
@given(st.dictionaries(TEXTS, PREDICTIONS, max_size=5), st.lists(TEXTS, max_size=3))
def test_predictions_come_back_to_the_bit(known: dict[str, Prediction], others: list[str]) -> None:
    database = Database(Path(":memory:"))
    database.put("model", known)
    got = database.get("model", [*others, *known, *known], Prediction)
    database.close()
    assert {text: bits(item) for text, item in got.items()} == {
        text: bits(item) for text, item in known.items()
    }


def test_more_texts_than_one_query_takes_are_looked_up(tmp_path: Path) -> None:
    known = {f"text {i}": prediction(i / 5000, 1 - i / 5000) for i in range(5000)}
    database = Database(tmp_path / "run.sqlite")
    database.put("model", known)
    assert database.get("model", [f"text {i}" for i in range(10_000)], Prediction) == known
    database.close()


def test_models_do_not_see_each_others_predictions() -> None:
    database = Database(Path(":memory:"))
    database.put("one", {"text": prediction(1.0)})
    database.put("two", {"text": prediction(0.5)})
    assert database.get("one", ["text"], Prediction) == {"text": prediction(1.0)}
    assert database.get("two", ["text"], Prediction) == {"text": prediction(0.5)}
    assert database.get("three", ["text"], Prediction) == {}
    database.close()


def test_what_was_put_first_stays() -> None:
    database = Database(Path(":memory:"))
    database.put("model", {"text": prediction(0.25)})
    database.put("model", {"text": prediction(0.75), "new": prediction(0.5)})
    assert database.get("model", ["text", "new"], Prediction) == {
        "text": prediction(0.25),
        "new": prediction(0.5),
    }
    database.close()


FOUND = Perturbation(
    example_id="1", trial=2, text='a\n\x00"é', score=1 / 3, queries=7, similarity=0.71
)
MISSED = Perturbation(
    example_id="1", trial=1, failure="no word can be swapped", queries=3, applicable=False
)


def test_perturbations_come_back_by_example_and_trial(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    database = Database(path)
    database.add_perturbations("typo", iter([FOUND, MISSED]))
    database.add_perturbations("typo", [FOUND])
    database.add_perturbations("synonym", [])
    database.close()
    database = Database(path)
    assert database.perturbations("typo") == {("1", 1): MISSED, ("1", 2): FOUND}
    assert database.perturbations("synonym") == {}
    database.close()


def test_a_failing_source_of_perturbations_leaves_nothing_half_kept() -> None:
    def broken():
        yield FOUND
        raise KeyError("a bug")

    database = Database(Path(":memory:"))
    with pytest.raises(KeyError):
        database.add_perturbations("typo", broken())
    assert database.perturbations("typo") == {}
    database.close()


def refused(path: Path) -> RunError:
    with pytest.raises(RunError) as caught:
        Database(path)
    return caught.value


def test_a_newer_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    Database(path).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    error = refused(path)
    assert error.found == f"`{path}` has version {VERSION + 1}"
    assert error.expected == f"version {VERSION}"


def test_the_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE recipes (name)")
    connection.close()
    before = path.read_bytes()
    assert "database of another program" in refused(path).found
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    path.write_bytes(b"no database at all, just some bytes" * 100)
    error = refused(path)
    assert error.found.startswith(f"`{path}` is damaged: ")
    assert str(tmp_path) in error.fix


def test_damage_inside_the_file_is_found_when_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    database = Database(path)
    known = {f"text {i}": prediction(0.5, 0.5) for i in range(2000)}
    database.put("model", known)
    database.close()
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xff" * (len(content) - 8192)
    path.write_bytes(content)
    assert "is damaged" in refused(path).found


def test_a_database_cut_off_while_it_was_made_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    path.touch()
    database = Database(path)
    database.put("model", {"text": prediction(1.0)})
    database.close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
    connection.close()


def test_a_database_that_another_program_keeps_locked_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    database = Database(path)
    database._connection.execute("PRAGMA busy_timeout = 0")
    other = sqlite3.connect(path)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(RunError, match="database is locked"):
        database.put("model", {"text": prediction(1.0)})
    other.rollback()
    other.close()
    database.put("model", {"text": prediction(1.0)})
    database.close()


def test_a_full_disk_keeps_what_was_put_before(tmp_path: Path) -> None:
    """A limit on pages makes the database report a full disk where no small disk can be mounted."""
    database = Database(tmp_path / "run.sqlite")
    database._connection.execute("PRAGMA max_page_count = 30")
    kept: dict[str, Prediction] = {}

    def put_many() -> None:
        for batch in range(100):
            predictions = {f"{batch}-{i}": prediction(0.5, 0.5) for i in range(200)}
            database.put("model", predictions)
            kept.update(predictions)

    with pytest.raises(RunError, match="the disk is full"):
        put_many()
    texts = [f"{batch}-{i}" for batch in range(100) for i in range(200)]
    assert 0 < len(kept) < len(texts)
    assert database.get("model", texts, Prediction) == kept
    database.close()
