"""``scope report``."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import takewhile
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from scope.cli.output import ReportOutput, Runs, wrote
from scope.core.options import FLAT
from scope.core.request import Request, refuse_unused
from scope.errors import SpecError


def report(
    run: Annotated[str, Parameter(help="The run's name, or a path with a slash in it.")],
    /,
    *more: Annotated[
        str,
        Parameter(
            allow_leading_hyphen=True,
            help="Further runs, for a site of all; or gates of the run's job, such as --gate "
            "'hard_scope>=0.9', see `scope audit --help`. Exit with 1 if a gate fails.",
        ),
    ],
    output: Annotated[ReportOutput, FLAT] = ReportOutput(),  # noqa: B008 - it is frozen
    runs: Runs = Path("runs"),
) -> int:
    """Write a stored run's report again, without any model; of several runs a site.

    Example: scope report demo
    """
    from scope.cli.commands import DONE, ending, gates_of
    from scope.jobs import job_named
    from scope.jobs.pages import badge_of, load_result, save, write_report
    from scope.jobs.site import write_site

    result = load_result(run, runs)
    others = list(takewhile(lambda word: not word.startswith("-"), more))
    if others:
        options = {field.name for field in fields(output)} - {"site"}
        refuse_unused(output, options, "with several runs", "options of one run")
        if gates := more[len(others) :]:
            raise SpecError(
                f"{gates[0]} with several runs",
                expected="gates of one run",
                fix="judge each run by a command of its own",
            )
        results = [result, *(load_result(one, runs) for one in others)]
        wrote(write_site(results, output.site or Path("site")))
        return DONE
    refuse_unused(output, ("site",), "with one run", "several runs")
    asked = gates_of(job_named(result.manifest.job), more)
    judged = asked.judged(Request(run=run, runs=runs), result) if asked else {}
    # Other outputs leave the page as it is, which may show gates.
    plain = replace(output, verbose=False) == ReportOutput()
    page = result.folder and result.folder / "report.html"
    if not asked and (plain or (page and not page.exists())):
        write_report(result)
    if output.badge:
        wrote(save(output.badge, badge_of(result)))
    return ending(result, output, asked, judged)
