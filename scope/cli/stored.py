"""The commands on what is stored: runs, what is kept across them, and logs of evaluation tools."""

from __future__ import annotations

import json as json_library
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

from cyclopts import Parameter

from scope.cli.output import ReportOutput, Runs, print_json, print_rows, say
from scope.core.options import FLAT
from scope.core.request import Request
from scope.paths import CacheKind, cache_folder

if TYPE_CHECKING:
    from scope.data.evaluation_logs import LoggedAnswers, LoggedTask


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
    from scope.answers.table import bytes_of_cache, size_limit, sizes

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
    from scope.answers.table import clear_cache

    for cache in (kind,) if kind else get_args(CacheKind):
        clear_cache(cache_folder(), cache)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


_CONDITIONS = ("scheme", "task", "version", "shots", "filter", "template", "prompt")
MOST_MODELS = 20
"""Lines about single models; the JSON has all."""


def logs(
    path: Annotated[
        str, Parameter(help="Folder of logs, or one file; SCHEME:PATH for those of one tool.")
    ],
    /,
    *,
    json: Annotated[bool, Parameter(help="Print JSON.")] = False,
) -> None:
    """Show what logs of evaluation tools hold: models, tasks, items and conditions.

    Answers are compared only under equal conditions: the task's version, the number of shots, the
    filter, the templates and whether a chat template was applied.

    Example: scope logs output/
    """
    from scope.data.evaluation_logs import contents_of, log_specs
    from scope.progress import reading_shown_by, suitable_progress

    with reading_shown_by(suitable_progress()):
        specs = log_specs(path)
        tasks = [task for spec in specs for task in contents_of(spec)]
    if json:
        print_json(json_library.dumps([*map(asdict, tasks)], indent=1, ensure_ascii=False))
        return
    print_rows([_task_row(task) for task in tasks])
    models = [(task, model) for task in tasks if task.readable for model in task.models]
    if models:
        print_rows([_model_row(*pair) for pair in models[:MOST_MODELS]])
    if len(models) > MOST_MODELS:
        say(f"and {len(models) - MOST_MODELS:,} more; --json has all")
    for line in _advice(specs[0].path, tasks):
        say(line)


def _task_row(task: LoggedTask) -> dict[str, str]:
    several = len({model.model for model in task.models}) > 1
    return {name: getattr(task, name) for name in _CONDITIONS} | {
        "kind": task.kind if task.readable or not task.items else f"{task.kind}, not read",
        "models": f"{len({model.model for model in task.models}):,}",
        "items": f"{task.items:,}" if task.items else "no samples",
        "shared by all": f"{task.shared:,}" if several else "",
    }


def _model_row(task: LoggedTask, model: LoggedAnswers) -> dict[str, str]:
    filtered = "" if task.filter == "none" else f", {task.filter}"
    expected = "" if model.expected in (None, model.items) else f" of {model.expected:,}"
    return {
        "model": model.model,
        "task": f"{task.task}, {task.shots}-shot{filtered}",
        "items": f"{model.items:,}{expected}",
        "scores": ", ".join(f"{key} {mean:.4f}" for key, mean in model.scores.items()),
    }


def _advice(path: Path, tasks: Sequence[LoggedTask]) -> list[str]:
    """Which tasks must be told apart, and a command that reads the logs."""
    readable = [task for task in tasks if task.readable]
    lines = [
        f"{name} was run under {number} conditions, which are never compared with each other"
        for name, number in Counter(task.task for task in readable).items()
        if number > 1
    ]
    # The task of most models serves as the example, on the items that all of them answered.
    for task in sorted(readable, key=lambda task: -task.shared * len(task.models)):
        names = sorted({model.model for model in task.models})
        fewest = min(task.models, key=lambda model: model.items)
        if len(names) > 1 and fewest.items == task.shared:
            spec = f"{task.scheme}:{path}"
            every = {model.model for other in tasks for model in other.models} == set(names)
            models = [f"--model '{spec}#{name}'" for name in (["*"] if every else names[:2])]
            items = "" if task.shared == task.items else f"#{fewest.model}"
            kind = "choice" if task.kind == "multiple_choice" else "generation"
            data = f"--data '{spec}{_query(task, readable)}{items}'"
            return [*lines, f"compare: scope compare {' '.join(models)} --task {kind} {data}"]
    return [*lines, "no two models here answered the same items of a task"]


def _query(task: LoggedTask, readable: Sequence[LoggedTask]) -> str:
    """The conditions that tell the task from all others."""
    readable = [other for other in readable if other.scheme == task.scheme]
    parts = [f"task={task.task}"] if len(readable) > 1 else []
    alike = [other for other in readable if other.task == task.task]
    for name in _CONDITIONS[2:]:
        if len({getattr(other, name) for other in alike}) > 1:
            parts.append(f"{name}={getattr(task, name)}")
    return f"?{'&'.join(parts)}" if parts else ""
