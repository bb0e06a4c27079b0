"""The command line: one file a command, each one call and one rendering."""

from __future__ import annotations

import sys

import typer

from scope.errors import ScopeError

INPUT_IS_WRONG = 2


def main() -> None:
    """Run the command; what the user can mend ends in one message and exit code 2."""
    from scope.cli.commands import application

    try:
        application()
    except ScopeError as error:
        typer.echo(f"scope: that cannot be done\n{error}", err=True)
        sys.exit(INPUT_IS_WRONG)
