"""Kinds: contracts of whole-file replacement."""

from __future__ import annotations

import errno
import os
import platform
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scope.errors import RunError
from scope.store.files import RunLock, guarded, read_text, remove_leftovers, write_atomically


@pytest.mark.parametrize(
    ("code", "text"),
    [(errno.ENOSPC, "the disk is full"), (errno.EACCES, "cannot be read or written: no")],
)
def test_each_error_of_the_system_is_explained(tmp_path: Path, code: int, text: str) -> None:
    with pytest.raises(RunError, match=text), guarded(tmp_path / "not" / "there"):
        raise OSError(code, "no")


@pytest.mark.parametrize(
    ("code", "free", "text"),
    [
        (sqlite3.SQLITE_FULL, 0, "the disk is full"),
        (sqlite3.SQLITE_IOERR_WRITE, 1000, "the disk is full"),
        (sqlite3.SQLITE_IOERR_WRITE, 10**9, "cannot be read or written"),
        (sqlite3.SQLITE_CORRUPT_VTAB, 0, "is damaged"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, 0, "cannot be read or written"),
    ],
)
def test_each_error_of_the_database_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, free: int, text: str
) -> None:
    monkeypatch.setattr("scope.store.files.free_bytes", lambda path: free)
    error = sqlite3.OperationalError("no")
    error.sqlite_errorcode = code
    with pytest.raises(RunError, match=text), guarded(tmp_path):
        raise error


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_and_nothing_else_stays(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_atomically(path, "old")
    write_atomically(path, "“new”\r\n")
    assert path.read_bytes() == "“new”\r\n".encode()
    assert names(tmp_path) == ["report.html"]


def test_a_write_that_fails_leaves_the_old_content(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_atomically(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "new \ud800")
    assert read_text(path) == "old"
    assert names(tmp_path) == ["report.html"]


def test_half_written_files_of_killed_processes_are_removed(tmp_path: Path) -> None:
    (tmp_path / ".report.html.1234.tmp").touch()
    (tmp_path / "mine.tmp").touch()
    (tmp_path / ".hidden").touch()
    remove_leftovers(tmp_path)
    assert names(tmp_path) == [".hidden", "mine.tmp"]


HOLD = """
import sys
from pathlib import Path
from scope.store.files import RunLock
lock = RunLock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
lock.release()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock of ``tmp_path`` until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_the_second_process_is_told_who_holds_the_run(
    holder: subprocess.Popen[str], tmp_path: Path
) -> None:
    with pytest.raises(RunError) as caught:
        RunLock(tmp_path)
    assert f"`{tmp_path.name}` is being written by process {holder.pid} " in caught.value.found
    assert f"on {platform.node()} since 20" in caught.value.found
    assert "--run" in caught.value.fix


def test_a_killed_holder_leaves_no_lock(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    holder.kill()
    holder.wait()
    assert f"process {holder.pid} " in (tmp_path / "lock.txt").read_text()
    lock = RunLock(tmp_path)
    assert f"process {os.getpid()} " in (tmp_path / "lock.txt").read_text()
    lock.release()


def test_releasing_twice_does_not_take_the_lock_from_the_next(tmp_path: Path) -> None:
    first = RunLock(tmp_path)
    first.release()
    second = RunLock(tmp_path)
    first.release()
    assert (tmp_path / "lock.txt").exists()
    with pytest.raises(RunError):
        RunLock(tmp_path)
    second.release()
