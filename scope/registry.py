"""Finds the pieces by name: what is built in, and what installed plugins add.

Built-ins are written as ``module:object`` strings, so that naming them loads nothing; a plugin
declares the same under the entry-point groups ``scope.capabilities``, ``scope.tasks`` and
``scope.models``.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points, version
from types import MappingProxyType
from typing import Any, Literal

from scope.errors import ModelError, SpecError
from scope.foreign import ForeignCode
from scope.printing import first_line

Group = Literal["capabilities", "tasks", "models", "pages", "renderers", "results"]

BUILT_IN: Mapping[Group, Mapping[str, str]] = MappingProxyType(
    {
        "capabilities": {
            "synonym": "capabilities.synonym:Synonym",
            "typo": "capabilities.typo:Typo",
        },
        "tasks": {
            "choice": "capabilities.choice:Choice",
            "cloze": "capabilities.cloze:Cloze",
            "extractive_qa": "capabilities.extractive_qa:ExtractiveQA",
            "similarity": "capabilities.similarity:Similarity",
        },
        "models": {
            "gguf": "scope.models.gguf:load",
            "hf": "scope.models.families:load",
            "openai": "scope.models.endpoint:load",
            "predictions": "scope.models.saved:load",
            "python": "scope.models.python:load",
        },
        # The record of each job's result.
        "results": {
            "audit": "scope.records:AuditResult",
            "compare": "scope.records:CompareResult",
            "fleet-embed": "scope.records:FleetResult",
            "fleet-forecast": "scope.records:FleetResult",
            "fleet-map": "scope.records:FleetResult",
            "fleet-predict": "scope.records:FleetResult",
            "fleet-route": "scope.records:FleetResult",
            "probe": "scope.records:ProbeResult",
            "reuse": "scope.records:ReuseResult",
        },
        # The page of each job's result.
        "pages": {
            "audit": "scope.jobs.audit.sections:page",
            "probe": "scope.jobs.probe.sections:page",
        },
        # Functions of a comparison.
        "renderers": {
            "frame": "scope.tables:to_frame",
            "html": "reports.html:render",
            "html_blocks": "reports.html:render_blocks",
            "view": "reports.views:render",
            "json": "scope.serialization:to_json",
            "text": "scope.tables:to_text",
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
    """The entry of that name, loaded.

    Raises
    ------
    SpecError
        When nothing has that name, or the plugin that has it does not load.

    Examples
    --------
    >>> find("models", "python").target.__name__
    'load'
    """
    if name in BUILT_IN[group]:
        return _load_built_in(name, BUILT_IN[group][name])
    plugins = _plugins(group)
    if name not in plugins:
        known = sorted({*BUILT_IN[group], *plugins})
        close = difflib.get_close_matches(name, known, n=1)
        raise SpecError(
            f"no {_singular(group)} is called `{name}`",
            expected=f"one of: {', '.join(known)}",
            fix=f"did you mean `{close[0]}`?" if close else "install the plugin that offers it",
        )
    entry = _load_plugin(plugins[name])
    if entry.error:
        raise SpecError(
            f"the {_singular(group)} `{name}` of {entry.origin} does not load: {entry.error}",
            expected="a plugin that can be imported",
            fix=f"fix or reinstall {entry.origin}",
        )
    return entry


def entries(group: Group) -> tuple[Entry, ...]:
    """Everything in the group by name, broken plugins with their reason."""
    built_in = [_load_built_in(name, target) for name, target in BUILT_IN[group].items()]
    plugins = [_load_plugin(point) for point in _plugins(group).values()]
    return tuple(sorted([*built_in, *plugins], key=lambda entry: entry.name))


def _plugins(group: Group) -> dict[str, EntryPoint]:
    points = entry_points(group=f"scope.{group}")
    return {point.name: point for point in points if point.name not in BUILT_IN[group]}


def _load_built_in(name: str, target: str) -> Entry:
    module, _, attribute = target.partition(":")
    return Entry(
        name=name,
        origin=f"scope-models {version('scope-models')}",
        target=getattr(import_module(module), attribute),
    )


def _load_plugin(point: EntryPoint) -> Entry:
    origin = f"{point.dist.name} {point.dist.version}" if point.dist else "an unnamed package"
    try:
        return Entry(
            name=point.name, origin=origin, target=ForeignCode(origin).call("import", point.load)
        )
    except ModelError as error:  # a broken plugin is listed as such
        reason = first_line(error.__cause__ or error)
        return Entry(name=point.name, origin=origin, error=reason)


def _singular(group: Group) -> str:
    return {
        "capabilities": "capability",
        "tasks": "task",
        "models": "model scheme",
        "pages": "page",
        "renderers": "renderer",
        "results": "job",
    }[group]
