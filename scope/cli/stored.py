"""The commands on what runs leave behind: ``scope report``, ``scope merge``, ``scope cache``."""

from __future__ import annotations

import json as json_library
from dataclasses import replace
from pathlib import Path
from typing import Annotated, get_args

from cyclopts import Parameter

from scope.cli.output import ReportOutput, Runs, print_json, print_rows, say
from scope.core.options import FLAT
from scope.core.request import Request
from scope.paths import CacheKind, cache_folder

Kind = Annotated[CacheKind | None, Parameter(help="What to remove; all by default.")]


def report(
    run: Annotated[str, Parameter(help="The run's name, or a path with a slash in it.")],
    /,
    *gates: Annotated[
        str,
        Parameter(
            allow_leading_hyphen=True,
            help="Gates of the run's job, such as --gate 'hard_scope>=0.9', see `scope audit "
            "--help`. Exit with 1 if a gate fails.",
        ),
    ],
    output: Annotated[ReportOutput, FLAT] = ReportOutput(),  # noqa: B008 - it is frozen
    runs: Runs = Path("runs"),
) -> int:
    """Write a stored run's report again, without any model.

    Example: scope report demo
    """
    from scope.cli.commands import ending, gates_of
    from scope.jobs import job_named
    from scope.jobs.pages import load_result, write_report

    result = load_result(run, runs)
    asked = gates_of(job_named(result.manifest.job), gates)
    judged = asked.judged(Request(run=run, runs=runs), result) if asked else {}
    # Other outputs leave the page as it is, which may show gates.
    plain = replace(output, verbose=False) == ReportOutput()
    page = result.folder and result.folder / "report.html"
    if not asked and (plain or (page and not page.exists())):
        write_report(result)
    return ending(result, output, asked, judged)


def merge(
    shard: Annotated[str, Parameter(help="Run of a shard.")],
    /,
    *shards: Annotated[str, Parameter(help="Runs of the other shards.")],
    run: Annotated[str, Parameter(help="Name or path of the merged run.")],
    runs: Annotated[Path, Parameter(help="Folder under which runs are kept.")] = Path("runs"),
    json: Annotated[bool, Parameter(help="Print JSON.")] = False,
) -> None:
    """Join the runs of all shards of a job to one run.

    The command that is printed then makes the result and its report; it searches and asks nothing
    again.

    Example: scope merge part1 part2 part3 --run whole
    """
    from scope.jobs.shards import merge as merge_shards

    merged = merge_shards((shard, *shards), run=run, runs=runs)
    if json:
        print_json(
            json_library.dumps({"folder": str(merged.folder), "command": merged.command}, indent=1)
        )
        return
    say(f"merged into {merged.folder}; its result: {merged.command}")


def show(*, json: Annotated[bool, Parameter(help="Print JSON.")] = False) -> None:
    """Show what is kept across runs: entries, size, folder and limit.

    Runs share the answers of models that are known by the bytes of their files, and what SCoPE's
    own capabilities find for them. The variable SCOPE_CACHE sets the folder, SCOPE_CACHE_LIMIT its
    size, such as 500MB; what was not used for the longest time goes first.

    Example: scope cache show
    """
    from scope.answers.cache import bytes_of_cache, size_limit, sizes

    folder, limit = cache_folder(), size_limit()
    caches, total = sizes(folder), bytes_of_cache(folder)
    if json:
        known = {"folder": str(folder), "limit": limit, "bytes": total}
        print_json(
            json_library.dumps(known | {"caches": [cache._asdict() for cache in caches]}, indent=1)
        )
        return
    print_rows(
        [
            {"cache": cache.kind, "entries": f"{cache.entries:,}", "size": _megabytes(cache.bytes)}
            for cache in caches
        ]
    )
    say(f"folder: {folder} ({_megabytes(total)} of at most {_megabytes(limit)})")


def clear(kind: Kind = None, /) -> None:
    """Remove what is kept across runs; runs keep their own answers.

    Example: scope cache clear answers
    """
    from scope.answers.cache import clear_cache

    for cache in (kind,) if kind else get_args(CacheKind):
        clear_cache(cache_folder(), cache)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
