"""A database that is not what was written is one clear error."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from scope.errors import RunError
from scope.records import Answer, Perturbation, Prediction
from scope.store.database import Database

PERTURBED = Perturbation(example_id="1", trial=1, text="a filn", score=0.5, queries=7)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "run.sqlite"
    with closing(Database(path)) as database:
        database.put("model", {"one": Prediction(probabilities=(0.25, 0.75))})
        database.put("reader", {"two": Answer(text="words")})
        database.add_perturbations("typo", [PERTURBED])
    return path


@pytest.mark.parametrize(
    "value",
    ["''", "'[]'", "'{}'", "x'00ff'", "CAST(x'ff' AS TEXT)", "5", """'{"probabilities": "a"}'"""],
)
def test_a_row_that_is_no_record_is_named_with_a_way_out(path: Path, value: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE answers SET answer = {value}")
        connection.execute(f"UPDATE perturbations SET found = {value}")
    with closing(Database(path)) as database:
        with pytest.raises(RunError, match=r"(?s)run\.sqlite` is damaged.*delete the folder"):
            database.get("model", ["one"], Prediction)
        with pytest.raises(RunError, match=r"(?s)run\.sqlite` is damaged.*delete the folder"):
            database.perturbations("typo")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DROP TABLE answers", "its tables differ from SCoPE's: answers"),
        ("CREATE TABLE more (a)", "its tables differ from SCoPE's: more"),
        (
            "CREATE TRIGGER t AFTER INSERT ON answers BEGIN DELETE FROM answers; END",
            "its tables differ from SCoPE's: t",
        ),
        ("PRAGMA user_version = 2", "has version 2"),
        ("PRAGMA application_id = 5", "another program"),
    ],
)
def test_other_tables_are_refused(path: Path, statement: str, said: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)
    with pytest.raises(RunError) as caught:
        Database(path)
    assert said in caught.value.found


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.sqlite")
    with pytest.raises(RunError, match="it is not a file"):
        Database(tmp_path / "run.sqlite")
