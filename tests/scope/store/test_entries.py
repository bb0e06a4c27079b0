"""Entries that runs share: kinds are hand-written cases, two processes, and a kill."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from scope.errors import RunError
from scope.store.entries import EntryFile


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache" / "entries.sqlite"


def test_a_value_is_known_to_its_kind_and_owner_alone(path):
    with EntryFile(path) as file:
        file.put("answers", "model", {"text": "1", "\ud800": "2"})
        assert file.get("answers", "model", ["text", "\ud800", "other"], str) == {
            "text": "1",
            "\ud800": "2",
        }
        assert file.get("answers", "another model", ["text"], str) == {}
        assert file.get("searches", "model", ["text"], str) == {}


def test_a_value_that_cannot_be_read_is_named_with_a_way_out(path):
    with EntryFile(path) as file:
        file.put("answers", "model", {"text": "one"})
        with pytest.raises(RunError, match=r"(?s)is damaged: ValueError.*delete `.*SCOPE_CACHE"):
            file.get("answers", "model", ["text"], float)


def test_what_is_read_again_goes_last(path):
    with EntryFile(path) as file:
        file.put("answers", "model", {"old": "1", "older": "2"})
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE entries SET used = 10")
    with EntryFile(path) as file:
        file.get("answers", "model", ["old"], str)
    with EntryFile(path) as file:
        first, second = file.portions()
        assert first.used == 10 < second.used
        file.remove_unused_since(first.used)
        assert file.get("answers", "model", ["old", "older"], str) == {"old": "1"}


def test_space_is_given_back(path):
    with EntryFile(path) as file:
        file.put("answers", "model", {str(number): "x" * 1000 for number in range(2000)})
        file.clear("answers")
    assert path.stat().st_size < 100_000


def test_a_file_of_another_program_is_refused(path):
    path.parent.mkdir()
    path.write_bytes(b"no database, by far" * 100)
    with pytest.raises(RunError, match="is damaged"):
        EntryFile(path)


WRITER = """
import sys
from pathlib import Path
from scope.store.entries import EntryFile
name = sys.argv[2]
with EntryFile(Path(sys.argv[1])) as file:
    for number in range(int(sys.argv[3])):
        file.put("answers", "model", {f"{name} {number}": name, f"both {number}": "both"})
        print(number, flush=True)
"""


def start(path, name, count):
    command = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_processes_write_at_once(path):
    processes = [start(path, name, 150) for name in ("one", "other")]
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    with EntryFile(path) as file:
        assert file.count("answers")[0] == 450
        contents = [f"both {number}" for number in range(150)]
        assert len(file.get("answers", "model", contents, str)) == 150


def test_what_was_written_survives_a_kill(path):
    process = start(path, "one", 100_000)
    written = [process.stdout.readline() for _ in range(20)]
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    with EntryFile(path) as file:
        contents = [f"one {int(number)}" for number in written]
        assert len(file.get("answers", "model", contents, str)) == 20
