"""The table: round trips, damage, two processes at once, and a kill."""

import os
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from scope.answers import AnswerStore
from scope.answers.table import APPLICATION, VERSION, Table
from scope.errors import RunError
from scope.records import Prediction

TEXTS = st.text(max_size=20)
PREDICTIONS = st.builds(
    Prediction,
    probabilities=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=4).map(tuple),
    truncated=st.booleans(),
)


def bits(item):
    return struct.pack(f"{len(item.probabilities)}d", *item.probabilities), item.truncated


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.sqlite"


@pytest.fixture
def shared(tmp_path):
    return tmp_path / "cache" / "entries.sqlite"


@settings(deadline=None)
@given(st.dictionaries(TEXTS, PREDICTIONS, max_size=5), st.lists(TEXTS, max_size=3))
def test_predictions_come_back_to_the_bit(known, others):
    answers = AnswerStore(Table(Path(":memory:")))
    answers.keep("model", known)
    got = answers.known("model", [*others, *known, *known])
    assert {text: bits(item) for text, item in got.items()} == {
        text: bits(item) for text, item in known.items()
    }


def refused(path):
    with pytest.raises(RunError) as caught:
        Table(path)
    return caught.value


def test_a_file_that_is_no_database_is_damaged(path, shared):
    for file, cached in ((path, False), (shared, True)):
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"no database at all, just some bytes" * 100)
        with pytest.raises(RunError) as caught:
            Table(file, cached=cached)
        assert caught.value.found.startswith(f"`{file}` is damaged: ")
        assert str(file.parent) in caught.value.fix


def test_a_table_cut_in_the_middle_is_found_when_it_is_opened(path):
    with Table(path) as table:
        table.put("answers", "model", {f"text {place}": "a value" for place in range(2000)})
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    error = refused(path)
    assert "is damaged" in error.found
    assert "delete the folder" in error.fix


def test_a_table_cut_off_while_it_was_made_is_made_anew(path):
    path.touch()
    Table(path).close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,)


def test_a_table_that_another_program_keeps_locked_is_named(path):
    with Table(path, seconds_to_wait=0.0) as table, closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(RunError, match="database is locked"):
            table.put("answers", "model", {"text": "1"})
        other.rollback()
        table.put("answers", "model", {"text": "1"})


def test_a_full_disk_keeps_what_was_finished_and_goes_on_with_more_room(path):
    """A bound on the pages of the database stands for the disk."""
    table = Table(path)
    table._connection.execute("PRAGMA max_page_count = 30")
    kept = {}

    def put_many():
        for batch in range(100):
            values = {f"{batch}-{i}": "a value" for i in range(200)}
            table.put("answers", "model", values)
            kept.update(values)

    with pytest.raises(RunError, match="the disk is full") as caught:
        put_many()
    assert "finished work is kept" in caught.value.fix
    texts = [f"{batch}-{i}" for batch in range(100) for i in range(200)]
    assert 0 < len(kept) < len(texts)
    assert table.get("answers", "model", texts, str) == kept
    table._connection.execute("PRAGMA max_page_count = 3000")
    put_many()
    assert len(kept) == len(texts)
    table.close()


@pytest.fixture
def kept(path):
    with Table(path) as table:
        AnswerStore(table).keep("model", {"one": Prediction(probabilities=(0.25, 0.75))})
    return path


@pytest.mark.parametrize(
    "value", ["''", "'[]'", "x'00ff'", "CAST(x'ff' AS TEXT)", """'{"probabilities": "a"}'"""]
)
def test_a_row_that_is_no_record_is_named_with_a_way_out(kept, value):
    with closing(sqlite3.connect(kept)) as connection, connection:
        connection.execute(f"UPDATE entries SET value = {value}")
    with (
        Table(kept) as table,
        pytest.raises(RunError, match=r"(?s)run\.sqlite` is damaged.*delete the folder"),
    ):
        AnswerStore(table).known("model", ["one"])


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("DROP TABLE entries", "its tables differ from SCoPE's"),
        (
            "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
            "its tables differ from SCoPE's",
        ),
        (f"PRAGMA user_version = {VERSION + 1}", f"has version {VERSION + 1}"),
        ("PRAGMA application_id = 5", "another program"),
    ],
)
def test_other_tables_are_refused(kept, statement, found):
    with closing(sqlite3.connect(kept)) as connection, connection:
        connection.execute(statement)
    assert found in refused(kept).found


def test_a_pipe_is_refused_and_not_waited_for(path):
    os.mkfifo(path)
    assert "it is not a file" in refused(path).found


WRITER = """
import sys
from pathlib import Path
from scope.answers.table import Table
path, name = Path(sys.argv[1]), sys.argv[2]
with Table(path, cached=True) as table:
    for number in range(int(sys.argv[3])):
        table.put("answers", "model", {f"{name} {number}": name, f"both {number}": "both"})
        print(number, flush=True)
"""


def start(path, name, count):
    command = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_processes_write_at_once(shared):
    processes = [start(shared, name, 150) for name in ("one", "other")]
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    with Table(shared, cached=True) as table:
        assert table.count("answers")[0] == 450
        contents = [f"both {number}" for number in range(150)]
        assert len(table.get("answers", "model", contents, str)) == 150
