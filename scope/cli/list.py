"""``scope list``, and all that a capability or task says of itself, which the docs show, too."""

from __future__ import annotations

import inspect
import json as json_library
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, asdict, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from scope.cli.output import Runs, print_json, print_rows, say
from scope.errors import SpecError
from scope.paths import expanded, without_home
from scope.printing import shown
from scope.registry import Entry, built_in, entries, find, origins

if TYPE_CHECKING:
    from scope.metrics import Metric

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
        _describe(kind, as_json=json)
        return
    rows = _rows(kind, runs)
    if json:
        print_json(json_library.dumps(rows, indent=1, ensure_ascii=False))
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


def _describe(kind: Listed, *, as_json: bool) -> None:
    if kind not in ("capabilities", "tasks"):
        raise SpecError(
            f"--long for {kind}",
            expected="scope list capabilities --long, or scope list tasks --long",
            fix="leave out --long",
        )
    pieces = [describe(entry.name, entry.target) for entry in entries(kind) if not entry.error]
    if as_json:
        print_json(
            json_library.dumps([asdict(piece) for piece in pieces], indent=1, ensure_ascii=False)
        )
        return
    for number, piece in enumerate(pieces):
        for line in ("", *piece.lines()) if number else piece.lines():
            say(line)


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
    match kind:
        case "models":
            # Of the module with its loader.
            summary = _docstring(piece).partition("\n")[0].replace("``", "")
            about = {"scheme": entry.name, "what it is": summary}
        case "capabilities":
            groups = ", ".join(getattr(piece, "groups", ()))
            about = {"capability": entry.name, "question": question, "groups": groups}
            about["settings"] = _settings(piece)
        case "tasks":
            role = getattr(piece, "role", "")
            about = {"task": entry.name, "question": question, "role asked for": role}
            about["settings"] = _settings(piece)
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


def _settings(piece: object) -> str:
    """The settings of a capability or task with their defaults."""
    written = [(field.name, written_default(field)) for field in setting_fields(piece)]
    return ", ".join(f"{name}={default}" if default else name for name, default in written)


def _metrics() -> Rows:
    from scope.metrics import METRICS, parse_metric

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


@dataclass(frozen=True, kw_only=True)
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
        yield from _wrapped(self.question)
        for paragraph in self.about.replace("``", "").split("\n\n"):
            yield from _wrapped(paragraph)
        if self.example is not None:
            yield from _wrapped(f"before: {self.example[0]}")
            yield from _wrapped(f"after:  {self.example[1]}")
        if self.needs:
            yield from _wrapped(f"needs: {self.needs}")
        if self.queries is not None:
            yield from _wrapped(f"cost: about {self.queries} queries for a text that it can change")
        if self.accepted:
            yield from _wrapped(f"{READ}: {self.accepted}")
        for setting in self.settings:
            text = f"{setting.name}={setting.default}  {setting.meaning.replace('``', '')}"
            yield from _wrapped(text, hanging="    ")


def describe(name: str, piece: Any) -> Description:
    """What a capability or task says of itself."""
    meanings = _parameters(piece)
    return Description(
        name=name,
        question=getattr(piece, "question", ""),
        about=_about(piece),
        groups=tuple(getattr(piece, "groups", ())),
        example=getattr(piece, "example", None),
        needs=getattr(piece, "needs", ""),
        queries=find("parts", "queries").target.get(name),
        accepted=find("parts", "accepted").target.get(name, ""),
        settings=tuple(
            SettingText(
                name=field.name,
                default=written_default(field),
                meaning=meanings.get(field.name, ""),
            )
            for field in setting_fields(piece)
        ),
    )


def _about(piece: object) -> str:
    """The description in a docstring: of the module, or of a task, which shares its module."""
    text = _docstring(piece)
    if not hasattr(piece, "groups"):
        text = inspect.cleandoc(piece.__doc__ or "").partition("Parameters\n---")[0]
    return inspect.cleandoc(text).partition("\n\n")[2].strip()


def setting_fields(piece: object) -> list[Field[Any]]:
    """The fields of a capability or task that ``--setting`` takes, those of its bases last."""
    if not is_dataclass(piece):
        return []
    kind = piece if isinstance(piece, type) else type(piece)
    inherited = {
        field.name for base in kind.__mro__[1:] if is_dataclass(base) for field in fields(base)
    }
    return sorted(
        (field for field in fields(kind) if field.init), key=lambda field: field.name in inherited
    )


def written_default(setting: Field[Any]) -> str:
    """The default as a command would write it; empty where there is none."""
    if setting.default is MISSING:
        return ""
    default = setting.default
    return default if isinstance(default, str) else shown(default)


def _parameters(piece: Any) -> Mapping[str, str]:
    """The descriptions under "Parameters" in a class's docstring, by the parameter's name."""
    _, _, section = inspect.cleandoc(piece.__doc__ or "").partition("Parameters\n----------\n")
    described: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", section.strip()):
        names, _, text = entry.partition("\n")
        for name in names.split(","):
            described[name.strip()] = " ".join(text.split())
    return described


def _wrapped(text: str, hanging: str = "") -> list[str]:
    return textwrap.wrap(
        text.replace("\n", " "),
        WIDTH,
        initial_indent="  ",
        subsequent_indent=f"  {hanging}",
        break_on_hyphens=False,
    )
