"""``scope report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from scope.cli.output import Json, JsonFull, Runs, show_result


def report(
    run: Annotated[str, Parameter(help="The run's name, or a path with a slash in it.")],
    /,
    *,
    json: Json = False,
    json_full: JsonFull = False,
    runs: Runs = Path("runs"),
) -> None:
    """Write a stored run's report again, without any model.

    Example: scope report demo
    """
    from scope.jobs.pages import load_result, write_report

    result = load_result(run, runs)
    write_report(result)
    show_result(result, short=json, full=json_full)
