"""Finds pieces by name, built in or from installed plugins.

Built-ins are written as ``module:object`` strings, so that naming them loads nothing; a plugin
declares the same under the entry-point groups ``scope.capabilities``, ``scope.tasks``,
``scope.models``, ``scope.logs``, ``scope.metrics``, ``scope.sections`` and ``scope.jobs``.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points, version
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any, Literal

from scope.errors import ModelError, SpecError
from scope.printing import did_you_mean, first_line, printable
from scope.untrusted import UntrustedCode

Group = Literal[
    "capabilities", "tasks", "models", "logs", "jobs", "metrics", "parts", "renderers", "sections"
]

_LOGS = str(Path(__file__).parent / "data" / "logs")

BUILT_IN: Mapping[Group, Mapping[str, str]] = MappingProxyType(
    {
        "capabilities": {
            "casing": "capabilities.casing:Casing",
            "contraction": "capabilities.contraction:Contraction",
            "distractor": "capabilities.distractor:Distractor",
            "identity": "capabilities.identity:Identity",
            "inflection": "capabilities.inflection:Inflection",
            "keyboard": "capabilities.keyboard:Keyboard",
            "name": "capabilities.name:Name",
            "number": "capabilities.number:Number",
            "paraphrase": "capabilities.paraphrase:Paraphrase",
            "place": "capabilities.place:Place",
            "punctuation": "capabilities.punctuation:Punctuation",
            "synonym": "capabilities.synonym:Synonym",
            "textattack": "capabilities.textattack:TextAttackRecipe",
            "typo": "capabilities.typo:Typo",
            "unicode": "capabilities.unicode:Unicode",
        },
        "tasks": {
            "choice": "capabilities.tasks:Choice",
            "cloze": "capabilities.tasks:Cloze",
            "extractive_qa": "capabilities.tasks:ExtractiveQA",
            "generation": "capabilities.tasks:Generation",
            "similarity": "capabilities.tasks:Similarity",
        },
        "models": {
            "gguf": "scope.models.gguf:SCHEME",
            "hf": "scope.models.heads:SCHEME",
            "openai": "scope.models.endpoint:SCHEME",
            "predictions": "scope.models.saved:SCHEME",
            "python": "scope.models.python:SCHEME",
        },
        # Each file of the folder is the format of a tool's logs, and a scheme of models and data.
        "logs": {
            name.replace("_", "-"): f"scope.data.logs.{name}:LOGS"
            for _, name, _ in iter_modules([_LOGS])
        },
        # Those of SCoPE are in `scope.metrics`.
        "metrics": {},
        # Plugins add sections to every page.
        "sections": {},
        # Those of SCoPE are in `scope.jobs`, in the order of the help page.
        "jobs": {},
        # What makes something of a result; those that need the job get it from `scope.jobs`.
        "renderers": {
            "html": "scope.jobs.pages:html_of",
            "json": "scope.serialization:to_json",
            "short_json": "scope.jobs.pages:to_short_json",
            "markdown": "scope.jobs.pages:markdown_of",
            "notebook": "scope.jobs.pages:notebook_html",
            "picture": "scope.jobs.pages:picture_html",
            "text": "scope.jobs.pages:terminal_text",
        },
        # Pieces that pages and files need from higher layers.
        "parts": {
            "job": "scope.jobs:job_named",
            "queries": "capabilities.measured:QUERIES",
            "accepted": "capabilities.measured:ACCEPTED",
        },
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One name in a group: where it comes from, and why it does not load if it is broken."""

    name: str
    origin: str
    target: Any = None
    error: str | None = None


def find(group: Group, name: str) -> Entry:
    """The entry of that name, loaded; a capability's name may have an argument behind a colon.

    Raises
    ------
    SpecError
        When nothing has that name, or the plugin that has it does not load.

    Examples
    --------
    >>> find("models", "gguf").target.computed
    True
    """
    kind = name.partition(":")[0] if group == "capabilities" else name
    if kind in BUILT_IN[group]:
        return built_in(name, imported(BUILT_IN[group][kind]))
    if group == "models" and name in names_in("logs"):
        return _scheme_of_logs(find("logs", name))
    plugins, known = _plugins(group), names_in(group)
    if name not in plugins:
        raise SpecError(
            f"no {_singular(group)} is called `{name}`",
            expected=f"one of: {', '.join(known)}",
            fix=did_you_mean(
                name, known, "choose one of these, or install the package that offers it"
            ),
        )
    return usable(group, _load_plugin(plugins[name]))


def usable(group: Group, entry: Entry) -> Entry:
    """The entry.

    Raises
    ------
    SpecError
        When it is broken.
    """
    if entry.error:
        raise SpecError(
            f"the {_singular(group)} `{entry.name}` of {entry.origin} does not load: {entry.error}",
            expected="a plugin that can be imported",
            fix=f"fix or reinstall {entry.origin}",
        )
    return entry


def entries(group: Group) -> tuple[Entry, ...]:
    """Everything in the group by name, broken plugins with their reason."""
    ours = [built_in(name, imported(target)) for name, target in BUILT_IN[group].items()]
    plugins = [_load_plugin(point) for point in _plugins(group).values()]
    logs = map(_scheme_of_logs, entries("logs") if group == "models" else ())
    return tuple(sorted([*ours, *plugins, *logs], key=lambda entry: entry.name))


def _scheme_of_logs(entry: Entry) -> Entry:
    """The model scheme of a format of logs."""
    scheme = None if entry.error else imported("scope.models.logs:Logs")(entry.name, entry.target)
    return replace(entry, target=scheme)


def names_in(group: Group) -> list[str]:
    """The names of everything in a group, of which nothing is imported.

    Examples
    --------
    >>> names_in("logs")
    ['eee', 'helm', 'inspect', 'lm-eval', 'openllm']
    """
    return sorted(
        {*BUILT_IN[group], *_plugins(group)} | {*(names_in("logs") if group == "models" else ())}
    )


def origins(group: Group) -> dict[str, str]:
    """The package and version behind the name of each plugin; none of them is imported."""
    return {name: _origin(point) for name, point in _plugins(group).items()}


def _plugins(group: Group) -> Mapping[str, EntryPoint]:
    return _plugins_on(tuple(sys.path), group)


@cache
def _plugins_on(path: tuple[str, ...], group: Group) -> Mapping[str, EntryPoint]:
    """The plugins on a path, read once: each reading takes some milliseconds."""
    points = entry_points(group=f"scope.{group}")
    return {point.name: point for point in points if point.name not in BUILT_IN[group]}


@cache
def _version() -> str:
    return version("scope-models")


def built_in(name: str, target: Any) -> Entry:
    """The entry of what comes with SCoPE."""
    return Entry(name=name, origin=f"scope-models {_version()}", target=target)


def imported(target: str) -> Any:
    """The object that ``module:object`` names."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


def _origin(point: EntryPoint) -> str:
    dist = point.dist
    return printable(f"{dist.name} {dist.version}") if dist else "an unnamed package"


def _load_plugin(point: EntryPoint) -> Entry:
    origin = _origin(point)
    try:
        return Entry(
            name=point.name, origin=origin, target=UntrustedCode(origin).call("import", point.load)
        )
    except ModelError as error:  # a broken plugin is listed as such
        reason = first_line(error.__cause__ or error)
        return Entry(name=point.name, origin=origin, error=reason)


def _singular(group: Group) -> str:
    irregular = {"capabilities": "capability", "models": "model scheme"}
    return irregular.get(group, group.removesuffix("s"))
