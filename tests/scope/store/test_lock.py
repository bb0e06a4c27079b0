"""Kinds: contracts between real processes."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scope.errors import RunError
from scope.store.lock import RunLock

HOLD = """
import sys
from pathlib import Path
from scope.store.lock import RunLock
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


def test_the_lock_is_free_once_the_holder_has_released_it(
    holder: subprocess.Popen[str], tmp_path: Path
) -> None:
    holder.communicate()
    assert not (tmp_path / "lock.json").exists()
    RunLock(tmp_path).release()


def test_a_killed_holder_leaves_no_lock(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    holder.kill()
    holder.wait()
    assert json.loads((tmp_path / "lock.json").read_text())["pid"] == holder.pid
    lock = RunLock(tmp_path)
    assert json.loads((tmp_path / "lock.json").read_text())["pid"] == os.getpid()
    lock.release()


def test_one_process_cannot_hold_a_run_twice(tmp_path: Path) -> None:
    lock = RunLock(tmp_path)
    with pytest.raises(RunError, match=f"process {os.getpid()} "):
        RunLock(tmp_path)
    lock.release()
    RunLock(tmp_path).release()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": 1}'])
def test_an_unreadable_note_on_the_holder_still_gives_the_error(
    tmp_path: Path, content: str
) -> None:
    lock = RunLock(tmp_path)
    (tmp_path / "lock.json").write_text(content)
    with pytest.raises(RunError, match="being written by another process"):
        RunLock(tmp_path)
    lock.release()


def test_releasing_twice_does_not_take_the_lock_from_the_next(tmp_path: Path) -> None:
    first = RunLock(tmp_path)
    first.release()
    second = RunLock(tmp_path)
    first.release()
    assert (tmp_path / "lock.json").exists()
    with pytest.raises(RunError):
        RunLock(tmp_path)
    second.release()
