"""The standard streams of a command: all open, for all characters, and with errors of ours.

What a user's own model or its library does to ``sys.stdout`` or to the file descriptors 1 and 2
does not reach what the command itself prints: descriptor 1 leads to standard error meanwhile, and
what is printed goes through a copy of the real one.
"""

from __future__ import annotations

import ctypes
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from scope.errors import ResourceError
from scope.foreign import open_closed_descriptors

STANDARD_OUTPUT, STANDARD_ERROR = 1, 2


class OutputError(ResourceError):
    """Standard output takes no more; ``is_gone`` where its reader has gone, as ``head`` does."""

    def __init__(self, error: OSError) -> None:
        super().__init__(
            f"standard output cannot be written: {error.strerror or error}",
            expected="a terminal, file or pipe that accepts output",
            fix="redirect the output; the same command resumes the run",
        )
        self.is_gone = isinstance(error, BrokenPipeError)


class _Descriptor(io.FileIO):
    """A descriptor on which a failure to write is reported once, or never."""

    def __init__(self, number: int, *, tell: bool) -> None:
        super().__init__(number, "wb", closefd=number > STANDARD_ERROR)
        self._tell = tell
        self._failed = False

    def write(self, data: object, /) -> int:
        view = memoryview(data)  # type: ignore[arg-type]
        if self._failed:
            return view.nbytes
        try:
            return super().write(view) or 0
        except OSError as error:
            self._failed = True
            if self._tell:
                raise OutputError(error) from error
            return view.nbytes


class _Buffer(io.BufferedWriter):
    """A buffer that stays open when a stream that somebody made of it is closed or forgotten."""

    def close(self) -> None:
        with suppress(OutputError):
            self.flush()


class _Stream(io.TextIOWrapper):
    """A text stream that stays open, and as it is, until the command ends."""

    def close(self) -> None:
        with suppress(OutputError):
            self.flush()

    def detach(self) -> Any:
        self.flush()
        return self.buffer

    def reconfigure(self, **_: Any) -> None:
        self.flush()


@contextmanager
def standard_streams() -> Iterator[None]:
    """Give the process streams of its own inside; those that a test has set are left alone.

    A stream that was closed before the start is open and leads nowhere. A character that the
    stream cannot write is written as its code. A log that cannot be written is given up, as the
    work does not depend on it.
    """
    open_closed_descriptors()
    before, output = (sys.stdin, sys.stdout, sys.stderr), STANDARD_OUTPUT
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False, encoding="utf-8")  # noqa: SIM115
    if sys.stdout is sys.__stdout__:
        sys.stdout = _stream(sys.stdout, STANDARD_OUTPUT)
        output = sys.stdout.fileno()
    if output != STANDARD_OUTPUT:
        os.dup2(STANDARD_ERROR, STANDARD_OUTPUT)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _stream(sys.stderr, STANDARD_ERROR)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, _Stream):
                stream.close()
        if output != STANDARD_OUTPUT:
            # What the C library still holds back goes to standard error, too.
            ctypes.CDLL(None).fflush(None)
            os.dup2(output, STANDARD_OUTPUT)
        sys.stdin, sys.stdout, sys.stderr = (
            former if former is None or not former.closed else own
            for former, own in zip(before, (sys.stdin, sys.stdout, sys.stderr), strict=True)
        )


def _stream(former: IO[str] | None, number: int) -> _Stream:
    if former is not None:
        with suppress(OSError, ValueError):
            former.flush()
    copy = _copied(number)
    is_log = number == STANDARD_ERROR
    return _Stream(
        _Buffer(_Descriptor(copy, tell=not is_log)),
        encoding=getattr(former, "encoding", None) or "utf-8",
        errors="backslashreplace",
        line_buffering=is_log or os.isatty(copy),
        write_through=is_log,
    )


def _copied(number: int) -> int:
    """A copy that nobody else closes; the descriptor itself where no more may be open."""
    try:
        return os.dup(number)
    except OSError:
        return number


def forget_sizes_that_are_none() -> None:
    """Remove what the variables of a terminal's size say if it is no number."""
    for name in ("COLUMNS", "LINES"):
        if not os.environ.get(name, "0").isdecimal():
            del os.environ[name]
