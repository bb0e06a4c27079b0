"""Kinds: contracts of whole-file replacement."""

from __future__ import annotations

import errno
import os
import platform
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from scope.answers import Run
from scope.errors import RunError
from scope.records import Prediction
from scope.store.files import RunLock, guarded, read_text, remove_leftovers, write_atomically

QUESTION = {"job": "audit"}
HALF = Prediction(probabilities=(0.5, 0.5))


def mounted(*command: str) -> str | None:
    """Why a mount did not work, or None if it did."""
    try:
        done = subprocess.run(["mount", *command], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "there is no mount command"
    return None if done.returncode == 0 else done.stderr.strip()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    path = tmp_path / "disk"
    path.mkdir()
    failure = mounted("-t", "tmpfs", "-o", "size=1m", "tmpfs", str(path))
    if failure:
        pytest.skip(f"no small disk can be mounted: {failure}")
    yield path
    subprocess.run(["umount", str(path)], check=True)


def fill(disk: Path) -> None:
    with (disk / "filler").open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))


def put_many(run: Run, kept: dict[str, Prediction]) -> None:
    for batch in range(1000):
        predictions = {f"{batch}-{i}": HALF for i in range(100)}
        run.keep("model", predictions)
        kept |= predictions


def test_a_run_on_a_full_disk_keeps_what_is_finished_and_goes_on(disk: Path) -> None:
    kept: dict[str, Prediction] = {}
    with Run.open(disk / "run", QUESTION) as run:
        with pytest.raises(RunError) as caught:
            put_many(run, kept)
        assert "the disk is full" in caught.value.found
        assert "MB are free" in caught.value.found
        assert "finished work is kept" in caught.value.fix
        assert 0 < len(kept) < 100_000
        assert run.known("model", list(kept)) == kept
    assert mounted("-o", "remount,size=8m", str(disk)) is None
    with Run.open(disk / "run", QUESTION) as run:
        lost = f"{len(kept) // 100}-0"
        assert run.known("model", [*kept, lost]) == kept
        run.keep("model", {lost: HALF})
        assert run.known("model", [lost]) == {lost: HALF}


def test_a_report_for_which_there_is_no_room_leaves_the_old_one(disk: Path) -> None:
    with Run.open(disk / "run", QUESTION) as run:
        run.write_report("old")
        fill(disk)
        with pytest.raises(RunError, match="the disk is full"):
            run.write_report("new" * 10_000)
        assert run.report_path.read_text(encoding="utf-8") == "old"
        assert not list(run.path.glob(".*.tmp"))


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "the disk is full"),
        (errno.EACCES, "cannot be read or written: no"),
        (errno.EIO, "cannot be read or written: no"),
    ],
)
def test_each_error_of_the_system_is_explained(tmp_path: Path, code: int, text: str) -> None:
    with pytest.raises(RunError, match=text), guarded(tmp_path / "not" / "there"):
        raise OSError(code, "no")


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (sqlite3.SQLITE_FULL, "the disk is full"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "cannot be read or written"),
        (sqlite3.SQLITE_IOERR_WRITE, "cannot be read or written"),
        (sqlite3.SQLITE_CORRUPT_VTAB, "is damaged"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "cannot be read or written"),
    ],
)
def test_each_error_of_the_database_is_explained(tmp_path: Path, code: int, text: str) -> None:
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


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot be read or written: Is a directory"):
        read_text(tmp_path)


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
