"""``scope report``."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from scope.cli.output import Output, Runs, say
from scope.core.options import FLAT, OUTPUT
from scope.core.request import Request
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
    output: Annotated[Output, FLAT] = Output(),  # noqa: B008 - it is frozen
    model_card: Annotated[
        bool,
        Parameter(group=OUTPUT, help="Print a table and a model-index for a model card instead."),
    ] = False,
    badge: Annotated[
        Path | None,
        Parameter(group=OUTPUT, metavar="FILE", help="Write verdict and data as an SVG badge."),
    ] = None,
    site: Annotated[
        Path,
        Parameter(
            group=OUTPUT,
            metavar="FOLDER",
            help="Folder of the pages of several runs, with index.html.",
        ),
    ] = Path("site"),
    runs: Runs = Path("runs"),
) -> int:
    """Write a stored run's report again, without any model; of several runs a site.

    Example: scope report demo
    """
    from scope.cli.commands import DONE, ending, gates_of
    from scope.jobs import job_named
    from scope.jobs.pages import badge_of, load_result, model_card_of, save, write_report
    from scope.jobs.site import write_site

    result = load_result(run, runs)
    others = list(takewhile(lambda word: not word.startswith("-"), more))
    if others:
        if gates := more[len(others) :]:
            raise SpecError(
                f"{gates[0]} with {len(others) + 1} runs",
                expected="gates of one run",
                fix="judge each run by a command of its own",
            )
        results = [result, *(load_result(one, runs) for one in others)]
        say(f"site: {write_site(results, site)}")
        return DONE
    asked = gates_of(job_named(result.manifest.job), more)
    judged = asked.judged(Request(run=run, runs=runs), result) if asked else {}
    write_report(result)
    if badge:
        save(badge, badge_of(result))
    if model_card:
        say(model_card_of(result).rstrip("\n"))
        return DONE
    return ending(result, output, asked, judged)
