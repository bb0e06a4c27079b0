"""``scope logs``."""

from __future__ import annotations

import json as json_library
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from scope.cli.output import print_json, print_rows, say

if TYPE_CHECKING:
    from pathlib import Path

    from scope.data.logs.finding import LoggedTask

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
    from scope.data.logs.finding import contents_of, log_specs
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
        print_rows(
            [
                {
                    "model": model.model,
                    "task": _short(task),
                    "items": f"{model.items:,}{_rest(model.items, model.expected)}",
                    "scores": ", ".join(f"{key} {mean:.4f}" for key, mean in model.scores.items()),
                }
                for task, model in models[:MOST_MODELS]
            ]
        )
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


def _short(task: LoggedTask) -> str:
    return f"{task.task}, {task.shots}-shot" + ("" if task.filter == "none" else f", {task.filter}")


def _rest(items: int, expected: int | None) -> str:
    return f" of {expected:,}" if expected not in (None, items) else ""


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
