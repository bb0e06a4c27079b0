"""``scope list``."""

from __future__ import annotations

import json as json_library
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from scope.cli.output import Runs, print_json, print_table, say
from scope.printing import printable


class ListedKind(StrEnum):
    """What can be listed."""

    MODELS = "models"
    CAPABILITIES = "capabilities"
    TASKS = "tasks"
    METRICS = "metrics"
    RUNS = "runs"


Rows = list[dict[str, str]]


def list_(
    kind: Annotated[ListedKind, Parameter(help="What to list.")],
    /,
    *,
    json: Annotated[bool, Parameter(help="Print JSON.")] = False,
    runs: Runs = Path("runs"),
) -> None:
    """List model schemes, capabilities, tasks, metrics or runs, with where they come from.

    Example: scope list capabilities
    """
    rows = _rows(kind, runs)
    if json:
        print_json(json_library.dumps(rows, indent=1, ensure_ascii=False))
    elif rows:
        _print(rows)
    else:
        say(f"no {kind} here", err=True)


def _rows(kind: ListedKind, runs: Path) -> Rows:
    match kind:
        case ListedKind.MODELS:
            return _models()
        case ListedKind.CAPABILITIES:
            return _capabilities()
        case ListedKind.TASKS:
            return _tasks()
        case ListedKind.METRICS:
            return _metrics()
        case ListedKind.RUNS:
            return _runs(runs)


def _models() -> Rows:
    from scope.registry import entries

    return [
        {
            "scheme": one.name,
            "what it is": _first_line(one.target),
            "origin": one.origin,
            "status": _status(one.error),
        }
        for one in entries("models")
    ]


def _first_line(loader: object) -> str:
    """The first line of the docstring of a scheme's loader module."""
    module = sys.modules.get(getattr(loader, "__module__", ""))
    return ((module and module.__doc__) or "").partition("\n")[0].replace("``", "")


def _capabilities() -> Rows:
    from scope.registry import entries

    return [
        {
            "capability": one.name,
            "question": getattr(one.target, "question", ""),
            "origin": one.origin,
            "status": _status(one.error),
        }
        for one in entries("capabilities")
    ]


def _tasks() -> Rows:
    from scope.registry import entries

    return [
        {
            "task": one.name,
            "question": getattr(one.target, "question", ""),
            "role asked for": getattr(one.target, "role", ""),
            "origin": one.origin,
            "status": _status(one.error),
        }
        for one in entries("tasks")
    ]


def _status(error: str | None) -> str:
    return f"broken: {error}" if error else "ready"


def _metrics() -> Rows:
    from scope.metrics import METRICS, metric_name, parse_metric
    from scope.registry import origins

    return [
        {
            "metric": str(metric),
            "title": metric_name(str(metric)).label,
            "range": f"{metric.low:g}..{metric.high:g}",
            "more similar": metric.more_similar,
            "what it says": metric.explanation,
        }
        for metric in (*METRICS.values(), *map(parse_metric, origins("metrics")))
    ]


def _runs(root: Path) -> Rows:
    from scope.store import list_runs

    return [
        {
            "run": one.name,
            "job": one.job,
            "reference": one.reference,
            "models": ", ".join((*one.targets, *one.models)),
            "state": f"broken: {one.broken}" if one.broken else "done" if one.finished else "begun",
            "reproducible": one.reproducible,
            "size": f"{one.size / 1e6:.1f} MB",
        }
        for one in list_runs(root)
    ]


def _print(rows: Sequence[dict[str, str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for heading in rows[0]:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row.values()))
    print_table(table)
