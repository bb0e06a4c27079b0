"""``scope report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from scope.cli.output import Json, JsonFull, Runs, Verbose, show_result
from scope.core.request import Request


def report(
    run: Annotated[str, Parameter(help="The run's name, or a path with a slash in it.")],
    /,
    *gates: Annotated[
        str,
        Parameter(
            allow_leading_hyphen=True,
            help="Gates of the run's job, such as --gate 'hard_scope>=0.9'; see `scope audit "
            "--help`. Exit with 1 if one fails.",
        ),
    ],
    json: Json = False,
    json_full: JsonFull = False,
    verbose: Verbose = False,
    runs: Runs = Path("runs"),
) -> int:
    """Write a stored run's report again, without any model.

    Example: scope report demo
    """
    from scope.cli.commands import DONE, ending, gates_of
    from scope.jobs import job_named
    from scope.jobs.pages import load_result, write_report

    result = load_result(run, runs)
    judged = gates_of(job_named(result.manifest.job), gates)
    write_report(result)
    show_result(result, short=json, full=json_full, verbose=verbose)
    return ending(Request(run=run, runs=runs), result, judged) if gates else DONE
