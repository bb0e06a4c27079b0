"""All commands under one name."""

from __future__ import annotations

from typing import Annotated

import typer

from scope.cli.audit import audit
from scope.cli.compare import compare
from scope.cli.demo import demo
from scope.cli.fleet import fleet
from scope.cli.list import list_
from scope.cli.probe import probe
from scope.cli.report import report
from scope.cli.reuse import reuse

application = typer.Typer(
    help="SCoPE compares language models by behaviour.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"scope {version('scope-models')}")
        raise typer.Exit


@application.callback()
def scope(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """SCoPE compares language models by behaviour: which invariances do they share?

    Start with: scope demo
    """


application.command()(demo)
application.command()(audit)
application.command()(compare)
application.command()(reuse)
application.command()(probe)
application.add_typer(fleet, name="fleet")
application.command()(report)
application.command(name="list")(list_)
