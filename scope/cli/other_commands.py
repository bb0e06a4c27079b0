"""The commands of no job: what there is (list, logs), what is kept (cache), and merged shards.

The docs show, too, what a capability or task says of itself.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from cyclopts import Parameter

from scope.cli.output import Runs, print_json, print_rows, say
from scope.errors import SpecError, shown
from scope.paths import CacheKind, cache_folder, expanded, without_home
from scope.registry import Entry, built_in, entries, origins

if TYPE_CHECKING:
    from scope.data.evaluation_logs import LoggedAnswers, LoggedTask

MOST_COLUMNS = 100
"""Columns of a line that is about one run."""

Listed = Literal["models", "capabilities", "tasks", "metrics", "jobs", "runs"]
Rows = list[dict[str, str]]


def list_(
    kind: Annotated[Listed, Parameter(help="What to list.")],
    /,
    *,
    long: Annotated[
        bool, Parameter(help="Capabilities and tasks: all that they say of themselves.")
    ] = False,
    json: Annotated[bool, Parameter(help="Print JSON.")] = False,
    runs: Runs = Path("runs"),
) -> None:
    """List model schemes, capabilities, tasks, metrics, jobs or runs, with where they come from.

    Example: scope list capabilities --long
    """
    if long:
        if kind not in ("capabilities", "tasks"):
            raise SpecError(
                f"--long for {kind}",
                expected="scope list capabilities --long, or scope list tasks --long",
                fix="leave out --long",
            )
        pieces = [describe(entry.name, entry.target) for entry in entries(kind) if not entry.error]
        if json:
            print_json(list(map(asdict, pieces)))
        else:
            say("\n\n".join("\n".join(piece.lines()) for piece in pieces))
        return
    rows = _rows(kind, runs)
    if json:
        print_json(rows)
    elif kind == "runs" and rows:
        # The JSON has all that is cut here.
        for row in rows:
            what = (row["run"], row["date"], row["job"], row["models"], row["data"])
            say(_cut("  ".join(filter(None, what))))
            unfinished = "not finished: run its command again to resume it"
            outcome = row["headline"] if row["state"] == "done" else row["state"]
            say(_cut(f"  {unfinished if outcome == 'begun' else outcome}"))
            if row["report"]:
                say(f"  {row['report']}")
    elif rows:
        print_rows(rows)
    else:
        say(f"no {kind} here", err=True)


def _rows(kind: Listed, runs: Path) -> Rows:
    match kind:
        case "metrics":
            return _metrics()
        case "runs":
            return _runs(runs)
        case "jobs":
            from scope.jobs import job_entries

            return [_row(kind, entry) for entry in job_entries()]
    return [_row(kind, entry) for entry in entries(kind)]


def _row(kind: Listed, entry: Entry) -> dict[str, str]:
    """What an entry of the registry is, and where it comes from."""
    about: dict[str, str]
    piece = entry.target
    question = getattr(piece, "question", "")
    settings = ", ".join(
        f"{setting.name}={setting.default}" if setting.default else setting.name
        for setting in _settings(piece)
    )
    match kind:
        case "models":
            # Of the module with its loader.
            summary = _docstring(piece).partition("\n")[0].replace("``", "")
            about = {"scheme": entry.name, "what it is": summary}
        case "capabilities":
            groups = ", ".join(getattr(piece, "groups", ()))
            about = {"capability": entry.name, "question": question, "groups": groups}
            about["settings"] = settings
        case "tasks":
            role = getattr(piece, "role", "")
            about = {"task": entry.name, "question": question, "role asked for": role}
            about["settings"] = settings
        case _:
            request = getattr(piece, "request", None)
            summary = (getattr(request, "__doc__", None) or "").partition("\n")[0]
            about = {"job": entry.name, "what it does": summary}
    return about | {
        "origin": entry.origin,
        "status": f"broken: {entry.error}" if entry.error else "ready",
    }


def _docstring(piece: object) -> str:
    """The docstring of the module that a piece is of."""
    module = sys.modules.get(getattr(piece, "__module__", ""))
    return (module and module.__doc__) or ""


def _metrics() -> Rows:
    from scope.metrics.catalog import METRICS, metric_name, parse_metric

    rows: Rows = []
    ours = dict.fromkeys(METRICS, built_in("", None).origin)
    for key, origin in (ours | origins("metrics")).items():
        try:
            metric = parse_metric(key)
        except SpecError as error:
            known = {"metric": key, "origin": origin, "status": f"broken: {error.found}"}
            rows.append(dict.fromkeys(rows[0], "") | known)
            continue
        row = {
            "metric": str(metric),
            "title": metric_name(str(metric)).label,
            "job": "audit" if metric.measured_in == "audits" else "compare",
            "range": f"{metric.low:g} to {metric.high:g}",
            "more similar": metric.more_similar,
            "meaning": metric.explanation,
            "origin": origin,
            "status": "ready",
        }
        rows.append(row)
    return rows


def _runs(root: Path) -> Rows:
    from scope.store.folder import list_runs

    return [
        {
            "run": run.name,
            "date": run.changed,
            "job": run.job,
            "models": " -> ".join(
                filter(None, (run.reference, ", ".join((*run.targets, *run.models))))
            ),
            "data": without_home(", ".join(run.data)),
            "state": f"broken: {run.broken}" if run.broken else "done" if run.finished else "begun",
            "headline": run.headline,
            "report": without_home(run.report),
            "size": f"{run.size / 1e6:.1f} MB",
        }
        for run in list_runs(expanded(root))
    ]


def _cut(line: str) -> str:
    return line if len(line) <= MOST_COLUMNS else f"{line[: MOST_COLUMNS - 1]}…"


WIDTH = 80


READ = "accepted by blind language models, two unless one is named"
"""What the shares of accepted texts are of."""


@dataclass(frozen=True)
class SettingText:
    """A setting, its default as it is written in a command, and what it means."""

    name: str
    default: str
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Description:
    """A capability or task in words.

    ``about`` is the text below the first line of its module's docstring, with what an invariance
    found by it does not say. ``example`` is a text before and after. ``queries`` are those of a
    text that it can change, with three trials. ``accepted`` is the share of its
    changed texts that readers accept.
    """

    name: str
    question: str
    about: str
    groups: tuple[str, ...]
    example: tuple[str, str] | None
    needs: str
    queries: int | None
    accepted: str
    settings: tuple[SettingText, ...]

    def lines(self) -> Iterator[str]:
        """The lines for a terminal."""
        groups = f" ({', '.join(self.groups)})" if self.groups else ""
        yield f"{self.name}{groups}"
        before, after = self.example or ("", "")
        texts = (
            self.question,
            *self.about.replace("``", "").split("\n\n"),
            before and f"before: {before}",
            after and f"after:  {after}",
            self.needs and f"needs: {self.needs}",
            f"cost: about {self.queries} queries for a text that it can change"
            if self.queries is not None
            else "",
            self.accepted and f"{READ}: {self.accepted}",
        )
        for text in filter(None, texts):
            yield from _wrapped(text)
        for setting in self.settings:
            text = f"{setting.name}={setting.default}  {setting.meaning.replace('``', '')}"
            yield from _wrapped(text, hanging="    ")


def describe(name: str, piece: Any) -> Description:
    """What a capability or task says of itself."""
    # A task shares its module with others.
    text = _docstring(piece) if hasattr(piece, "groups") else piece.__doc__ or ""
    about, _, _ = inspect.cleandoc(text).partition("Parameters\n---")
    return Description(
        name=name,
        question=getattr(piece, "question", ""),
        about=about.partition("\n\n")[2].strip(),
        groups=tuple(getattr(piece, "groups", ())),
        example=getattr(piece, "example", None),
        needs=getattr(piece, "needs", ""),
        queries=getattr(piece, "queries", None),
        accepted=getattr(piece, "accepted", ""),
        settings=_settings(piece),
    )


def _settings(piece: Any) -> tuple[SettingText, ...]:
    """The settings of a capability or task, with the texts below *Parameters* in its docstring.

    Those of its bases come last.
    """
    if not is_dataclass(piece):
        return ()
    _, _, section = inspect.cleandoc(piece.__doc__ or "").partition("Parameters\n----------\n")
    meanings: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", section.strip()):
        names, _, text = entry.partition("\n")
        meanings |= {name.strip(): " ".join(text.split()) for name in names.split(",")}
    kind = piece if isinstance(piece, type) else type(piece)
    bases = filter(is_dataclass, kind.__mro__[1:])
    inherited = {field.name for base in bases for field in fields(base)}
    settings = []
    for field in sorted(fields(kind), key=lambda field: field.name in inherited):
        default = "" if field.default is MISSING else field.default
        written = default if isinstance(default, str) else shown(default)
        if field.init:
            settings.append(SettingText(field.name, written, meanings.get(field.name, "")))
    return tuple(settings)


def _wrapped(text: str, hanging: str = "") -> list[str]:
    return textwrap.wrap(
        text.replace("\n", " "),
        WIDTH,
        initial_indent="  ",
        subsequent_indent=f"  {hanging}",
        break_on_hyphens=False,
    )


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
        print_json({"folder": str(merged.folder), "command": merged.command})
    else:
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
        print_json(known | {"caches": [cache._asdict() for cache in caches]})
        return
    print_rows(
        [
            {"cache": cache.kind, "entries": f"{cache.entries:,}", "size": _megabytes(cache.bytes)}
            for cache in caches
        ]
    )
    say(f"folder: {folder} ({_megabytes(total)} of at most {_megabytes(limit)})")


def clear(
    kind: Annotated[CacheKind | None, Parameter(help="What to remove; all by default.")] = None, /
) -> None:
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
        print_json(list(map(asdict, tasks)))
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
