"""The command line: one file a command, each one call and one rendering."""

from __future__ import annotations

import sys

import typer

from scope.errors import ScopeError
from scope.printing import printable

INPUT_IS_WRONG = 2
INTERRUPTED = 130
"""What shells expect of a command that Ctrl-C ended."""


def main() -> None:
    """Run the command; what the user can mend ends in one message and exit code 2.

    Ctrl-C ends it with one line and exit code 130.
    """
    try:
        from scope.cli.commands import application

        application()
    except ScopeError as error:
        typer.echo(f"scope: that cannot be done\n{printable(str(error))}", err=True)
        sys.exit(INPUT_IS_WRONG)
    except (KeyboardInterrupt, SystemExit) as end:
        if not _was_interrupted(end):
            raise
        typer.echo(
            "scope: interrupted; answers are kept, and the same command goes on where it was",
            err=True,
        )
        sys.exit(INTERRUPTED)


def _was_interrupted(end: BaseException | None) -> bool:
    """Whether Ctrl-C is behind the end: typer makes an exit of it, whose code is not always 130."""
    while end is not None and not isinstance(end, KeyboardInterrupt):
        end = end.__cause__ or end.__context__
    return end is not None
