"""Tries a program that came with a checkpoint in a process with bounds on its time and memory."""

from __future__ import annotations

import os
import signal
import time
import warnings
from collections.abc import Callable

SECONDS = 5.0
BYTES = 256 * 2**20
"""What a chat template may take for one message: ordinary ones take milliseconds."""

_DONE, _FAILED, _TOO_LARGE = 0, 1, 2


def failure_of(program: Callable[[], object]) -> str | None:
    """Why a program does not come to its end within the bounds; None where it does.

    It runs in a copy of this process, so that what it does to this one does not matter. Where a
    system has no such copies it is not tried. What it raises is no failure: it will raise again.

    Examples
    --------
    >>> failure_of(lambda: "a" * 10) is None
    True
    >>> failure_of(lambda: "a" * 10**10)
    'it takes more than 256 MiB of memory'
    """
    if not hasattr(os, "fork"):
        return None
    with warnings.catch_warnings():
        # Threads are not copied; none is needed to render a template.
        warnings.simplefilter("ignore", DeprecationWarning)
        copy = os.fork()
    if not copy:
        found = _FAILED
        try:
            found = _tried(program)
        finally:
            # Whatever is raised is of no interest here: the program is run again.
            os._exit(found)
    code = _ended(copy)
    if code is None:
        return f"it takes more than {SECONDS:.0f} seconds"
    if code not in (_DONE, _FAILED):
        return f"it takes more than {BYTES // 2**20} MiB of memory"
    return None


def _tried(program: Callable[[], object]) -> int:
    try:
        _bound_memory()
        program()
    except MemoryError:
        return _TOO_LARGE
    return _DONE


def _bound_memory() -> None:
    import resource

    # Some systems know no such bound, or do not say how much is taken already.
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
            taken = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + BYTES, taken + BYTES))
    except (OSError, ValueError):
        return


def _ended(copy: int) -> int | None:
    """The exit code of a process, below 0 for a signal; None where it had to be killed."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        found, status = os.waitpid(copy, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(copy, signal.SIGKILL)
    os.waitpid(copy, 0)
    return None
