"""The standard streams of a command: all open, for all characters, and with errors of ours.

What a user's model or its library writes to the file descriptor 1 goes to standard error, so that
the result is alone on standard output: what the command prints goes through a copy of the real one.
"""

from __future__ import annotations

import ctypes
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

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


class _Output(io.FileIO):
    """A descriptor on which a failure to write is reported once."""

    _failed = False

    def write(self, data: object, /) -> int:
        view = memoryview(data)  # type: ignore[arg-type]
        try:
            return view.nbytes if self._failed else super().write(view) or 0
        except OSError as error:
            self._failed = True
            return self.end(error, view.nbytes)

    def end(self, error: OSError, _: int) -> int:
        raise OutputError(error) from error


class _Log(_Output):
    """One that is given up where it cannot be written: no work depends on a log."""

    def end(self, error: OSError, length: int) -> int:
        return length


class _Buffer(io.BufferedWriter):
    """A buffer that stays open when a stream that somebody made of it is closed or forgotten."""

    def close(self) -> None:
        with suppress(OutputError):
            self.flush()


@contextmanager
def standard_streams() -> Iterator[None]:
    """Give the process streams of its own inside; those that a test has set are left alone.

    A stream that was closed before the start is open and leads nowhere. A character that the
    stream cannot write is written as its code.
    """
    open_closed_descriptors()
    before, output = (sys.stdin, sys.stdout, sys.stderr), STANDARD_OUTPUT
    sys.stdin = sys.stdin or io.StringIO()
    if sys.stdout is sys.__stdout__:
        output = _copied(STANDARD_OUTPUT)
        sys.stdout = _stream(sys.stdout, _Output(output, "wb"))
        if output != STANDARD_OUTPUT:
            os.dup2(STANDARD_ERROR, STANDARD_OUTPUT)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _stream(sys.stderr, _Log(_copied(STANDARD_ERROR), "wb"))
    try:
        yield
    finally:
        with suppress(OutputError):
            sys.stdout.flush()
        if output != STANDARD_OUTPUT:
            # What the C library still holds back goes to standard error, too.
            ctypes.CDLL(None).fflush(None)
            os.dup2(output, STANDARD_OUTPUT)
        sys.stdin, sys.stdout, sys.stderr = before


def _copied(number: int) -> int:
    """A copy that nobody else closes; the descriptor itself where no more may be open."""
    try:
        return os.dup(number)
    except OSError:
        return number


def _stream(former: TextIO | None, raw: _Output) -> io.TextIOWrapper:
    is_log = isinstance(raw, _Log)
    return io.TextIOWrapper(
        _Buffer(raw),
        encoding=former.encoding if former else "utf-8",
        errors="backslashreplace",
        line_buffering=is_log or raw.isatty(),
        write_through=is_log,
    )
