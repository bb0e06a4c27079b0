"""Finds pieces by name, built in or from installed plugins.

Built-ins are written as ``module:object`` strings, so that naming them loads nothing; a plugin
declares the same under the entry-point groups ``scope.capabilities``, ``scope.tasks``,
``scope.models``, ``scope.metrics``, ``scope.sections`` and ``scope.jobs``.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points, version
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any, Literal

from scope.errors import ModelError, SpecError
from scope.printing import did_you_mean, first_line, printable
from scope.untrusted import UntrustedCode

Group = Literal["capabilities", "tasks", "models", "jobs", "metrics", "sections"]

LOCAL_LOGS = ("eee", "helm", "inspect", "lm-eval")
"""Schemes of the logs that are files of the user."""

LOGS = (*LOCAL_LOGS, "openllm")
"""Schemes of the logs of evaluation tools; each is a module of `scope.data.logs`."""

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
            "choice": "capabilities.choice:Choice",
            "cloze": "capabilities.cloze:Cloze",
            "extractive_qa": "capabilities.extractive_qa:ExtractiveQA",
            "generation": "capabilities.generation:Generation",
            "similarity": "capabilities.similarity:Similarity",
        },
        "models": {
            "eee": "scope.models.logs:EEE",
            "gguf": "scope.models.gguf:SCHEME",
            "helm": "scope.models.logs:HELM",
            "hf": "scope.models.huggingface:SCHEME",
            "inspect": "scope.models.logs:INSPECT",
            "lm-eval": "scope.models.logs:LM_EVAL",
            "openai": "scope.models.endpoint:SCHEME",
            "openllm": "scope.models.logs:OPENLLM",
            "predictions": "scope.models.saved:SCHEME",
            "python": "scope.models.python:SCHEME",
        },
        # Those of SCoPE are in `scope.metrics`.
        "metrics": {},
        # Plugins add sections to every page.
        "sections": {},
        # Those of SCoPE are in `scope.jobs`, in the order of the help page.
        "jobs": {},
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
        return built_in(name, resolve_name(BUILT_IN[group][kind]))
    plugins = _plugins(group)
    if name not in plugins:
        known = sorted({*BUILT_IN[group], *plugins})
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
    ours = [built_in(name, resolve_name(target)) for name, target in BUILT_IN[group].items()]
    plugins = [_load_plugin(point) for point in _plugins(group).values()]
    return tuple(sorted([*ours, *plugins], key=lambda entry: entry.name))


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
