"""The command line: each command is one call and one rendering."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

from scope.cli.output import INTERNAL_ERROR, end_of, write_message
from scope.errors import SpecError, shown, unstorable
from scope.protocols import Failed, attempt


def main() -> None:
    """Run the command and turn every error into a short message and an exit code.

    0 done; 1 a requested gate failed; 2 the input is wrong; 70 an error of SCoPE's
    own, its traceback in a file; 130 interrupted; 141 nobody reads the output.
    """
    prepare_streams()
    sys.exit(_ended())


def prepare_streams() -> None:
    """Let output be UTF-8; a stream that was closed before the start leads nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # It takes the stream's descriptor, for which the next file would be taken otherwise.
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - it stays open
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _ended() -> int:
    # Whatever is raised ends here, also an exit that no command has asked for: it is not trusted.
    code = attempt(_run, passing=())
    if isinstance(code, Failed):
        if isinstance(code.error, OSError):
            # Text that standard output refused would be written again when the process ends.
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # Foreign code again, in the text or the origin of its error.
        code = attempt(partial(end_of, code.error), passing=())
    if isinstance(code, Failed):
        write_message("scope: internal error, which cannot be described")
        return INTERNAL_ERROR
    return code


def _run() -> int:
    # Arguments are stored with results, as UTF-8.
    for argument in filter(unstorable, sys.argv[1:]):
        raise SpecError(
            f"the argument {shown(argument)}, which is not UTF-8",
            expected="arguments in UTF-8",
            fix="rename the file or folder, or check the terminal's encoding",
        )
    from scope.cli.commands import run

    code = run(sys.argv[1:])
    # Failed writes raise here.
    sys.stdout.flush()
    return code
