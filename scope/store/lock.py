"""A lock: one process at a time may write a run."""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path

from scope.errors import RunError
from scope.store.files import read_text, write_atomically
from scope.store.trouble import guarded

LOCK = "run.lock"
HOLDER = "lock.json"


class RunLock:
    """The right to write a run folder, held from construction until `release`.

    The operating system keeps the lock and drops it when the process dies, however it dies. The
    file beside it only says who holds the lock and is believed by nobody who could take it.

    Raises
    ------
    RunError
        When another process, or another part of this one, holds the run.
    """

    def __init__(self, folder: Path) -> None:
        from filelock import FileLock, Timeout

        self._holder = folder / HOLDER
        # A lock bound to its thread could not be released by another one at exit.
        self._lock = FileLock(folder / LOCK, timeout=0, thread_local=False)
        with guarded(folder):
            try:
                self._lock.acquire()
            except Timeout as error:
                raise _held(folder) from error
        try:
            write_atomically(self._holder, _this_process())
        except RunError:
            self._lock.release()
            raise

    def release(self) -> None:
        """Let others write; releasing twice does nothing."""
        if not self._lock.is_locked:
            return
        try:
            with guarded(self._holder):
                self._holder.unlink(missing_ok=True)
        finally:
            self._lock.release()


def _this_process() -> str:
    holder = {
        "host": platform.node(),
        "pid": os.getpid(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return json.dumps(holder) + "\n"


def _held(folder: Path) -> RunError:
    return RunError(
        f"run `{folder.name}` is being written by {_name_of_holder(folder / HOLDER)}",
        expected="a run that no other process writes",
        fix="wait until it has finished, or choose another name with --run",
    )


def _name_of_holder(path: Path) -> str:
    """The holder of the lock, in words; its file may be missing for a moment."""
    try:
        holder = json.loads(read_text(path) or "")
        return f"process {holder['pid']} on {holder['host']} since {holder['since']}"
    except (ValueError, KeyError, TypeError, RunError):
        return "another process"
