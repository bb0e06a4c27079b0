"""``scope list``."""

from __future__ import annotations

import json as json_library
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from scope.cli.descriptions import describe, setting_fields, written_default
from scope.cli.output import Runs, print_json, print_table, say
from scope.errors import SpecError
from scope.paths import expanded, without_home
from scope.printing import printable

if TYPE_CHECKING:
    from scope.metrics import Metric

WIDTH = 100
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
        _describe(kind, as_json=json)
        return
    rows = _rows(kind, runs)
    if json:
        print_json(json_library.dumps(rows, indent=1, ensure_ascii=False))
    elif kind == "runs" and rows:
        _print_runs(rows)
    elif rows:
        print_rows(rows)
    else:
        say(f"no {kind} here", err=True)


def _describe(kind: Listed, *, as_json: bool) -> None:
    from scope.registry import entries

    if kind not in ("capabilities", "tasks"):
        raise SpecError(
            f"--long for {kind}",
            expected="scope list capabilities --long, or scope list tasks --long",
            fix="leave out --long",
        )
    found = [describe(entry.name, entry.target) for entry in entries(kind) if not entry.error]
    if as_json:
        print_json(json_library.dumps([asdict(one) for one in found], indent=1, ensure_ascii=False))
        return
    for number, one in enumerate(found):
        for line in ("", *one.lines()) if number else one.lines():
            say(line)


def _rows(kind: Listed, runs: Path) -> Rows:
    match kind:
        case "metrics":
            return _metrics()
        case "runs":
            return _runs(runs)
    from scope.jobs import job_entries
    from scope.registry import entries

    heading, details = _DETAILS[kind]
    found = job_entries() if kind == "jobs" else entries(kind)
    return [
        {
            heading: one.name,
            **{title: detail(one.target) for title, detail in details.items()},
            "origin": one.origin,
            "status": f"broken: {one.error}" if one.error else "ready",
        }
        for one in found
    ]


def _first_line(loader: object) -> str:
    """The first line of the docstring of a scheme's loader module."""
    module = sys.modules.get(getattr(loader, "__module__", ""))
    return ((module and module.__doc__) or "").partition("\n")[0].replace("``", "")


def _summary(job: object) -> str:
    """The first line of a job's help."""
    return (getattr(getattr(job, "request", None), "__doc__", None) or "").partition("\n")[0]


def _question(piece: object) -> str:
    return getattr(piece, "question", "")


def _groups(capability: object) -> str:
    return ", ".join(getattr(capability, "groups", ()))


def _role(task: object) -> str:
    return getattr(task, "role", "")


def _settings(piece: object) -> str:
    """The settings of a capability or task with their defaults."""
    written = [(field.name, written_default(field)) for field in setting_fields(piece)]
    return ", ".join(f"{name}={default}" if default else name for name, default in written)


_DETAILS: Mapping[str, tuple[str, Mapping[str, Callable[[object], str]]]] = {
    "models": ("scheme", {"what it is": _first_line}),
    "capabilities": (
        "capability",
        {"question": _question, "groups": _groups, "settings": _settings},
    ),
    "tasks": ("task", {"question": _question, "role asked for": _role, "settings": _settings}),
    "jobs": ("job", {"what it does": _summary}),
}
"""The first column of what is listed with its origin, and what else is said of it."""


def _metrics() -> Rows:
    from scope.metrics import METRICS, parse_metric
    from scope.registry import built_in, origins

    rows = [_metric_row(metric, built_in("", None).origin) for metric in METRICS.values()]
    for key, origin in origins("metrics").items():
        try:
            rows.append(_metric_row(parse_metric(key), origin))
        except SpecError as error:
            known = {"metric": key, "origin": origin, "status": f"broken: {error.found}"}
            rows.append(dict.fromkeys(rows[0], "") | known)
    return rows


def _metric_row(metric: Metric, origin: str) -> dict[str, str]:
    from scope.metrics import metric_name

    return {
        "metric": str(metric),
        "title": metric_name(str(metric)).label,
        "job": "audit" if metric.measured_in == "audits" else "compare",
        "range": f"{metric.low:g} to {metric.high:g}",
        "more similar": metric.more_similar,
        "meaning": metric.explanation,
        "origin": origin,
        "status": "ready",
    }


def _runs(root: Path) -> Rows:
    from scope.store import list_runs

    return [
        {
            "run": run.name,
            "date": run.changed,
            "job": run.job,
            "models": _compared(run.reference, ", ".join((*run.targets, *run.models))),
            "data": without_home(", ".join(run.data)),
            "state": f"broken: {run.broken}" if run.broken else "done" if run.finished else "begun",
            "headline": run.headline,
            "report": without_home(run.report),
            "size": f"{run.size / 1e6:.1f} MB",
        }
        for run in list_runs(expanded(root))
    ]


def _compared(reference: str, others: str) -> str:
    return f"{reference} -> {others}" if reference and others else reference or others


def _print_runs(rows: Rows) -> None:
    """Three lines a run; the JSON has all that is cut here."""
    for row in rows:
        what = (row["run"], row["date"], row["job"], row["models"], row["data"])
        say(_cut("  ".join(filter(None, what))))
        unfinished = "not finished: run its command again to resume it"
        found = row["headline"] if row["state"] == "done" else row["state"]
        say(_cut(f"  {unfinished if found == 'begun' else found}"))
        if row["report"]:
            say(f"  {row['report']}")


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


def print_rows(rows: Sequence[dict[str, str]]) -> None:
    """Print rows of one heading each as a table."""
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for heading in rows[0]:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row.values()))
    print_table(table)
