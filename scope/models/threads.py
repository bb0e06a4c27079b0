"""How many threads a model computes with: as many as may run, unless waiting for them is dear.

Two threads that share the products of a small model wait for each other a thousand times a second.
They sleep meanwhile. Where torch was imported before SCoPE they spin, and on a busy machine each
of these waits is long: a small model then computes with one thread.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

SMALL = 50_000_000
"""Parameters below which a model is small: see decision 28."""

_CHOSEN: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


def available_cores(cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """The cores that this process may use: those it may run on, and its share of time on them.

    Parameters
    ----------
    cgroup
        Where the limits of a container are found, of version 2 or 1.
    """
    allowed = getattr(os, "sched_getaffinity", None)
    cores = len(allowed(0)) if allowed else os.cpu_count() or 1
    quota = _quota(cgroup)
    return cores if quota is None else max(1, min(cores, round(quota)))


def _quota(cgroup: Path) -> float | None:
    """The cores' worth of time that a container has; None where there is no limit."""
    version_1 = ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")
    try:
        if (cgroup / "cpu.max").exists():
            quota, period = (cgroup / "cpu.max").read_text().split()
        else:
            quota, period = ((cgroup / name).read_text().strip() for name in version_1)
        # `max` in version 2 and -1 in version 1 stand for no limit.
        return int(quota) / int(period) if quota not in ("max", "-1") else None
    except (OSError, ValueError, ZeroDivisionError):
        return None


def choose_threads(model: Any, wanted: int | None) -> None:
    """Let a model compute with so many threads; None leaves the number to its size."""
    if wanted is not None:
        _CHOSEN[model] = wanted


def chosen_threads(model: Any) -> int | None:
    """The number that was chosen for a model; None where none was."""
    return _CHOSEN.get(model)


def threads_of(model: Any) -> int | None:
    """Threads that a model computes with; None for as many as torch has."""
    chosen = chosen_threads(model)
    if chosen is not None or waiting_threads_sleep():
        return chosen
    return 1 if sum(one.numel() for one in model.parameters()) < SMALL else None


@cache
def waiting_threads_sleep() -> bool:
    """Ask for threads that sleep while they wait; False where torch was imported without.

    OpenMP reads the variable when torch is imported, and never again.
    """
    if "torch" not in sys.modules:
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    return os.environ.get("OMP_WAIT_POLICY", "").upper() == "PASSIVE"
