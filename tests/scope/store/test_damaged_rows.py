"""Rows that are not what was written are unknown, counted, and can be kept anew."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from scope.errors import RunError
from scope.records import Answer, Perturbation, Prediction, Question
from scope.store.database import Database

KNOWN = {
    "one": Prediction(probabilities=(0.25, 0.75)),
    "two": Prediction(probabilities=(0.5, 0.5), truncated=True),
    "three": Prediction(probabilities=(0.5, 0.25), tokens=(" a", " é")),
}
QUESTIONS = [Question(id=str(place), text=f"What is {place}?") for place in range(3)]
ANSWERS = [(one, Answer(text=one.id)) for one in QUESTIONS]
FOUND = [
    Perturbation(example_id="1", trial=1, text="a filn", score=0.5, queries=7),
    Perturbation(example_id="1", trial=2, failure="no word can be swapped", queries=3),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "run.sqlite"
    with closing(Database(path)) as database:
        database.put("model", KNOWN)
        database.put("other", {"one": Prediction(probabilities=(1.0, 0.0))})
        database.put_answers("model", "reader", ANSWERS)
        database.add_perturbations("typo", FOUND)
    return path


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE predictions SET probabilities = x''",
        "UPDATE predictions SET probabilities = x'00'",
        "UPDATE predictions SET probabilities = 'text'",
        "UPDATE predictions SET probabilities = 5",
        "UPDATE predictions SET probabilities = zeroblob(16)",
        "UPDATE predictions SET tokens = '[\" a\"]'",
        "UPDATE predictions SET tokens = CAST(x'ff' AS TEXT)",
        "UPDATE predictions SET truncated = 1 - truncated",
        "UPDATE predictions SET truncated = 'yes'",
        "UPDATE predictions SET checksum = 0",
        "UPDATE predictions SET checksum = 'none'",
    ],
)
def test_a_damaged_prediction_is_unknown_and_can_be_kept_anew(path: Path, statement: str) -> None:
    change(path, f"{statement} WHERE model = 1")
    with closing(Database(path)) as database:
        assert database.get("model", list(KNOWN)) == {}
        assert database.damaged == 3
        database.put("model", KNOWN)
        assert database.get("model", list(KNOWN)) == KNOWN
        assert database.damaged == 3


def test_a_row_that_was_copied_to_another_text_is_damaged(path: Path) -> None:
    columns = "probabilities, truncated, tokens, checksum"
    change(
        path,
        f"UPDATE predictions SET ({columns}) = "
        f"(SELECT {columns} FROM predictions WHERE model = 2) WHERE model = 1",
    )
    with closing(Database(path)) as database:
        assert database.get("model", list(KNOWN)) == {}


def test_rows_of_models_that_were_swapped_are_damaged(path: Path) -> None:
    change(
        path,
        "UPDATE models SET fingerprint = 'x' WHERE id = 1",
        "UPDATE models SET fingerprint = 'model' WHERE id = 2",
        "UPDATE models SET fingerprint = 'other' WHERE id = 1",
    )
    with closing(Database(path)) as database:
        assert database.get("model", list(KNOWN)) == {}
        assert database.get("other", list(KNOWN)) == {}
        assert database.damaged == 4


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE answers SET answer = replace(answer, '1', '2')",
        "UPDATE answers SET answer = ''",
        "UPDATE answers SET answer = x'00ff'",
        "UPDATE answers SET answer = CAST(x'ff' AS TEXT)",
        "UPDATE answers SET answer = '{\"text\": []}'",
        "UPDATE answers SET answer = (SELECT max(answer) FROM answers)",
        "UPDATE answers SET checksum = 1.5",
    ],
)
def test_a_damaged_answer_is_unknown_and_can_be_kept_anew(path: Path, statement: str) -> None:
    change(path, statement)
    with closing(Database(path)) as database:
        known = database.get_answers("model", "reader", QUESTIONS)
        assert all(ANSWERS[place][1] == answer for place, answer in known.items())
        assert len(known) + database.damaged == 3
        assert database.damaged
        database.put_answers("model", "reader", ANSWERS)
        assert len(database.get_answers("model", "reader", QUESTIONS)) == 3


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE perturbations SET text = 'a foul', failure = NULL",
        "UPDATE perturbations SET text = NULL, failure = NULL",
        "UPDATE perturbations SET queries = -1",
        "UPDATE perturbations SET score = 'great'",
        "UPDATE perturbations SET example_id = example_id || '1'",
        "UPDATE perturbations SET example_id = CAST(x'b1' AS TEXT) || example_id",
        "UPDATE perturbations SET trial = trial + 7",
    ],
)
def test_a_damaged_perturbation_is_unknown_and_can_be_kept_anew(path: Path, statement: str) -> None:
    change(path, statement)
    with closing(Database(path)) as database:
        assert database.perturbations("typo") == {}
        assert database.damaged == 2
        database.add_perturbations("typo", FOUND)
        assert list(database.perturbations("typo").values()) == FOUND


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DROP TABLE predictions", "its tables differ from SCoPE's: predictions"),
        ("DROP TABLE models", "its tables differ from SCoPE's: models, sqlite_autoindex_models_1"),
        ("CREATE TABLE more (a)", "its tables differ from SCoPE's: more"),
        ("ALTER TABLE answers ADD COLUMN more", "its tables differ from SCoPE's: answers"),
        (
            "CREATE TRIGGER t AFTER INSERT ON answers BEGIN DELETE FROM answers; END",
            "its tables differ from SCoPE's: t",
        ),
        ("PRAGMA user_version = 2", "has version 2"),
        ("PRAGMA application_id = 5", "another program"),
    ],
)
def test_other_tables_are_refused(path: Path, statement: str, said: str) -> None:
    change(path, statement)
    with pytest.raises(RunError) as caught:
        Database(path)
    assert said in caught.value.found


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "run.sqlite")
    with pytest.raises(RunError, match="it is not a file"):
        Database(tmp_path / "run.sqlite")
