"""Shows a person how far long work has come, on standard error; or shows nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from scope.printing import printable
from scope.protocols import Advance, Progress

SECONDS_BETWEEN_LINES = 10.0

ENOUGH_TO_TELL = 0.05
"""Share of the work after which its pace says when it ends."""


class Silent:
    """Shows nothing."""

    @contextmanager
    def task(self, description: str, total: int, done: int = 0) -> Iterator[Advance]:
        """Count nothing."""
        yield _ignore


class Bars:
    """One bar a task, with rate and time left; for a terminal."""

    @contextmanager
    def task(self, description: str, total: int, done: int = 0) -> Iterator[Advance]:
        """Show a bar while the context is open, and its last state after it."""
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as RichProgress

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        with RichProgress(*columns, console=Console(stderr=True)) as bars:
            bar = bars.add_task(printable(description), total=total, completed=done, rate="")
            pace = _Pace(done)

            def advance(units: int = 1, /) -> None:
                pace.count(units)
                bars.update(bar, advance=units, rate=f"{pace.rate():.1f}/s")

            yield advance


class Lines:
    """A line now and then, with rate and time left; for a log file."""

    def __init__(self, stream: IO[str] | None = None) -> None:
        self._stream = stream or sys.stderr

    @contextmanager
    def task(self, description: str, total: int, done: int = 0) -> Iterator[Advance]:
        """Write a line at most every ten seconds while the context is open, and one at its end."""
        pace = _Pace(done)
        said = time.monotonic()

        def advance(units: int = 1, /) -> None:
            nonlocal said
            pace.count(units)
            if time.monotonic() - said >= SECONDS_BETWEEN_LINES:
                said = time.monotonic()
                self._write(description, pace, total, pace.left(total))

        yield advance
        self._write(description, pace, total, f"{pace.seconds():.0f} s")

    def _write(self, description: str, pace: _Pace, total: int, time_: str) -> None:
        line = f"{printable(description)}: {pace.done}/{total}, {pace.rate():.1f}/s, {time_}"
        print(line, file=self._stream, flush=True)


class _Pace:
    """Units done, and how fast those of this session were."""

    def __init__(self, done: int) -> None:
        self.done = done
        self._before = done
        self._start = time.monotonic()

    def count(self, units: int) -> None:
        self.done += units

    def seconds(self) -> float:
        return time.monotonic() - self._start

    def left(self, total: int) -> str:
        # The first of many searches that run at once says nothing of when the others end.
        if self.done - self._before < ENOUGH_TO_TELL * (total - self._before):
            return "time left not known yet"
        return f"{(total - self.done) / self.rate():.0f} s left"

    def rate(self) -> float:
        return (self.done - self._before) / max(self.seconds(), 1e-6)


def suitable_progress() -> Progress:
    """Bars where standard error is a terminal, lines where it is a file or a pipe."""
    return Bars() if sys.stderr.isatty() else Lines()


def _ignore(units: int = 1, /) -> None:
    """Progress that nobody watches."""
