"""Shows the progress of long work on standard error, or nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from threading import Event, Thread
from typing import IO, TypeVar

from scope.errors import printable
from scope.protocols import Advance, Progress

Part = TypeVar("Part")

SECONDS_BEFORE_LINES = 1.0
"""Shorter work has only its last line."""

SECONDS_BETWEEN_LINES = 10.0

SECONDS_BEFORE_READING = 3.0
"""A file that is read sooner has no progress display."""

ENOUGH_TO_TELL = 0.05
"""Share of the work after which its pace gives the time left."""


class Silent:
    """Shows nothing."""

    @contextmanager
    def task(self, description: str, total: int | None, done: int = 0) -> Iterator[Advance]:
        """Count nothing."""
        yield lambda units=1, /: None


class Bars:
    """One bar per task, with rate and time left; for a terminal."""

    @contextmanager
    def task(self, description: str, total: int | None, done: int = 0) -> Iterator[Advance]:
        """Show a bar while the context is open, and its last state after it."""
        from rich import progress
        from rich.console import Console

        columns = (
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(bar_width=24),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[rate]}"),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left"),
            progress.TimeRemainingColumn(),
        )
        with progress.Progress(*columns, console=Console(stderr=True)) as bars:
            bar = bars.add_task(printable(description), total=total, completed=done, rate="")
            pace = _Pace(done)

            def advance(units: int = 1, /) -> None:
                pace.count(units)
                bars.update(bar, advance=units, rate=f"{pace.rate():.1f}/s")

            yield advance

    def say(self, line: str) -> None:
        """Write a line."""
        Lines().say(line)


class Lines:
    """A line now and then, with rate and time left; for a log file."""

    def __init__(self, stream: IO[str] | None = None) -> None:
        self._stream = stream or sys.stderr

    @contextmanager
    def task(self, description: str, total: int | None, done: int = 0) -> Iterator[Advance]:
        """Write a line after a second, then about one in ten seconds, and one at the end."""
        pace, over = _Pace(done), Event()
        due = time.monotonic() + SECONDS_BEFORE_LINES

        def advance(units: int = 1, /) -> None:
            nonlocal due
            pace.count(units)
            if time.monotonic() >= due:
                due = time.monotonic() + SECONDS_BETWEEN_LINES
                self._write(description, pace, total, pace.left(total))

        def wait() -> None:
            # A single unit, such as a model that is loaded, may take a minute.
            while not over.wait(SECONDS_BEFORE_LINES):
                advance(0)

        Thread(target=wait, daemon=True).start()
        try:
            yield advance
        finally:
            over.set()
        self._write(description, pace, total, f"{pace.seconds():.0f} s")

    def say(self, line: str) -> None:
        """Write a line."""
        print(printable(line), file=self._stream, flush=True)

    def _write(self, description: str, pace: _Pace, total: int | None, time_: str) -> None:
        whole = "?" if total is None else total
        line = f"{printable(description)}: {pace.done}/{whole}, {pace.rate():.1f}/s, {time_}"
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

    def left(self, total: int | None) -> str:
        # The first units may be cached, or the first of many that run at once.
        done = self.done - self._before
        if total is None or not done or done < ENOUGH_TO_TELL * (total - self._before):
            return "time left unknown"
        return f"{(total - self.done) / self.rate():.0f} s left"

    def rate(self) -> float:
        return (self.done - self._before) / max(self.seconds(), 1e-6)


def suitable_progress() -> Progress:
    """Bars where standard error is a terminal, lines where it is a file or a pipe."""
    return Bars() if sys.stderr.isatty() else Lines()


def remark(progress: Progress, line: str) -> None:
    """Write a line where progress is shown; a display of the user's own shows tasks alone."""
    if isinstance(progress, Bars | Lines):
        progress.say(line)


_reading: ContextVar[tuple[Progress, ExitStack, set[str]] | None] = ContextVar(
    "reading", default=None
)


@contextmanager
def reading_shown_by(progress: Progress) -> Iterator[None]:
    """Show on this display what `watched` reads inside; elsewhere it reads silently."""
    with ExitStack() as shown:
        shown.callback(_reading.reset, _reading.set((progress, shown, set())))
        yield


def remark_once(line: str) -> None:
    """Write a line about what is read, the first time, on the display of `reading_shown_by`."""
    display = _reading.get()
    if display and line not in display[2]:
        display[2].add(line)
        remark(display[0], line)


def watched(
    parts: Iterable[Part], description: str, total: int | None, units: Callable[[Part], int]
) -> Iterator[Part]:
    """The parts of a file as they are read, or draws, with a progress display once it takes long.

    Parameters
    ----------
    total
        Units of the whole file; None where that is unknown.
    units
        Units of a part.
    """
    due, done, advance = time.monotonic() + SECONDS_BEFORE_READING, 0, None
    with ExitStack() as stack:
        for part in parts:
            yield part
            done += units(part)
            now, display = time.monotonic(), _reading.get()
            if not display or now < due:
                continue
            if advance is None:
                # An error leaves this generator waiting; the display ends before its message.
                display[1].callback(stack.close)
                advance = stack.enter_context(display[0].task(description, total, done))
            else:
                advance(done)
            due, done = now + 0.1, 0
        if advance is not None:
            advance(done)
