"""How a command ends: its message and its exit code."""

from __future__ import annotations

import sys
import tempfile
import traceback
from contextlib import suppress

from scope.errors import ScopeError
from scope.paths import from_system
from scope.printing import first_line, printable, shortened

INPUT_IS_WRONG = 2
INTERNAL_ERROR = 70
"""The code of ``sysexits.h`` for a software error."""

INTERRUPTED = 130
READER_IS_GONE = 141
"""The codes of a command that Ctrl-C ended, and of one whose pipe is closed."""

MOST_LINES = 25


def end_of(error: BaseException) -> int:
    """Print the error that ended the command, in a few lines; its exit code."""
    if is_behind(KeyboardInterrupt, error):
        return interrupted()
    # Rich turns it into an exit.
    if is_behind(BrokenPipeError, error):
        return READER_IS_GONE
    if isinstance(error, OSError):
        error = from_system(error) or error
    if isinstance(error, ScopeError):
        write_message(f"error:    {error.summary}\n{shortened(str(error), MOST_LINES - 1, 8000)}")
        return INPUT_IS_WRONG
    write_message(f"scope: internal error: {first_line(error)}; {_kept(error)}")
    return INTERNAL_ERROR


def interrupted() -> int:
    """Print that Ctrl-C ended the command; its exit code."""
    write_message("scope: interrupted; answers are saved; run the same command again to resume")
    return INTERRUPTED


def is_behind(kind: type[BaseException], end: BaseException | None) -> bool:
    """Whether an error of that kind is behind the end, whatever foreign code makes of it.

    Behind an error of ours there is foreign code, whose errors are not looked at.
    """
    seen: set[int] = set()
    while end is not None and not isinstance(end, (kind, ScopeError)):
        if id(end) in seen:
            return False
        seen.add(id(end))
        end = end.__cause__ or end.__context__
    return isinstance(end, kind)


def write_message(message: str) -> None:
    """Write a message on standard error, if it can be written at all."""
    with suppress(OSError, ValueError):
        print(printable(message), file=sys.stderr, flush=True)


def _kept(error: BaseException) -> str:
    """Keep the traceback in a file; says where it is, or why it is not."""
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            prefix="scope-error-",
            suffix=".txt",
            delete=False,
            encoding="utf-8",
            errors="backslashreplace",
        ) as file:
            file.write("".join(traceback.format_exception(error)))
    except OSError as trouble:
        return f"its traceback could not be written: {trouble.strerror or trouble}"
    return f"please report it with its traceback, in {file.name}"
