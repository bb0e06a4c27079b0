"""Finds pieces by name, built in or from installed plugins, and makes capabilities and tasks.

Built-ins are written as ``module:object`` strings, so that naming them loads nothing; a plugin
declares the same under the entry-point groups ``scope.capabilities``, ``scope.tasks``,
``scope.models``, ``scope.logs``, ``scope.metrics``, ``scope.sections``, ``scope.regions`` and
``scope.jobs``.
Capabilities and tasks of third parties run behind the boundary of foreign code.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points, version
from pathlib import Path
from pkgutil import iter_modules, resolve_name
from types import MappingProxyType
from typing import Any, Literal, get_args

from scope.errors import (
    ModelError,
    SpecError,
    did_you_mean,
    first_line,
    printable,
    shown,
    unstorable,
)
from scope.protocols import AskedRole, PairData, PairRole, TaskData, UntrustedCode
from scope.records import CapabilityCard, DataCard, Item, ScoredPair, Setting

Group = Literal["capabilities", "tasks", "models", "logs", "jobs", "metrics", "sections", "regions"]

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
            "gguf": "scope.models.llama_cpp:SCHEME",
            "hf": "scope.models.huggingface:SCHEME",
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
        # Plugins add conditions on texts to those of `scope.estimation.conditions`.
        "regions": {},
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
    ours = [built_in(name, resolve_name(target)) for name, target in BUILT_IN[group].items()]
    plugins = [_load_plugin(point) for point in _plugins(group).values()]
    logs = map(_scheme_of_logs, entries("logs") if group == "models" else ())
    return tuple(sorted([*ours, *plugins, *logs], key=lambda entry: entry.name))


def _scheme_of_logs(entry: Entry) -> Entry:
    """The model scheme of a format of logs."""
    make = resolve_name("scope.models.logs:Logs")
    return replace(entry, target=None if entry.error else make(entry.name, entry.target))


def names_in(group: Group) -> list[str]:
    """The names of everything in a group, of which nothing is imported.

    Examples
    --------
    >>> names_in("logs")
    ['eee', 'helm', 'inspect', 'lm-eval', 'openllm']
    """
    logs = names_in("logs") if group == "models" else []
    return sorted({*BUILT_IN[group], *_plugins(group), *logs})


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


_OWN = "capabilities."
_VALUES = ("name", "question", "role", "low", "high", "max_characters", "scorers")
_CALLS = ("load", "load_pairs", "left_alone", "estimate_queries")
_SEARCHES = ("search", "draw_random")
_GREATEST = 10**300
"""Python writes and reads no number of more than 4,300 digits."""


_DATA = {
    "load": (get_args(AskedRole), TaskData, "items", Item),
    "load_pairs": (get_args(PairRole), PairData, "pairs", ScoredPair),
}
"""The methods that load data: the roles of their tasks, and the record that they return, with a
tuple of other records in one of its fields."""

_NAME = re.compile(r"\w[\w-]{0,59}")

_TAKES = {
    "int": ((int,), "a whole number"),
    "float": ((float, int), "a number"),
    "bool": ((bool,), "yes or no"),
    "str": ((str,), "a text; ./5 for a file with the name 5"),
}
"""The values of a setting by its type, and in words."""


def make_piece(entry: Entry, settings: Mapping[str, Setting]) -> Any:
    """The capability or task of an entry of the registry, with those of the settings it has.

    Raises
    ------
    SpecError
        When it does not take a value.
    ModelError
        When its code fails in another way.
    """
    known = settings_of(entry.target)
    chosen = settings_for(entry.name, known, settings)
    _refuse_other_types(entry, chosen)
    with UntrustedCode(f"{entry.name} of {entry.origin}").entered("__init__"):
        try:
            return entry.target(**chosen)
        except (TypeError, ValueError) as error:
            if not chosen:
                raise
            raise SpecError(
                f"`{entry.name}`: {first_line(error).removeprefix('ValueError: ')}",
                expected="another value",
                fix=f"correct the value, or omit {' and '.join(chosen)}",
            ) from error


def _refuse_other_types(entry: Entry, chosen: Mapping[str, Setting]) -> None:
    """Refuse a value that is not of the setting's type: whole number, number, or yes or no."""
    for field in fields(entry.target) if chosen else ():
        # A type, or its text as the source has it.
        kind = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", "")
        kind = kind.removesuffix(" | None")
        if field.name not in chosen or kind not in _TAKES:
            continue
        # A text of digits comes as a number, which a piece that is not ours may take.
        if kind == "str" and not entry.target.__module__.startswith(_OWN):
            continue
        value, (types, expected) = chosen[field.name], _TAKES[kind]
        # To Python yes and no are whole numbers.
        if not isinstance(value, types) or isinstance(value, bool) != (kind == "bool"):
            raise SpecError(
                f"the setting {field.name}={value} of `{entry.name}`",
                expected=expected,
                fix=f"correct the value, or omit {field.name}",
            )


GROUPS = ("all", "robustness", "meaning", "fairness", "format")
"""What ``--capability`` takes beside names; ``all`` are those that are in any group."""


def expand_groups(requested: Sequence[str | object]) -> tuple[str | object, ...]:
    """The capabilities with the members of each group in its place; these are named once.

    Raises
    ------
    SpecError
        When a group has no member.

    Examples
    --------
    >>> expand_groups(["punctuation", "format"])
    ('punctuation', 'casing', 'contraction', 'unicode')
    """
    capabilities: list[str | object] = []
    for capability in requested:
        if not isinstance(capability, str) or capability not in GROUPS:
            capabilities.append(capability)
            continue
        others = [*capabilities, *requested]
        members = _members(capability)
        capabilities += [name for name in members if name not in others]
    return tuple(capabilities)


def _members(group: str) -> list[str]:
    offered = {entry.name: getattr(entry.target, "groups", ()) for entry in entries("capabilities")}
    members = [
        name for name, groups in offered.items() if group in groups or (groups and group == "all")
    ]
    if not members:
        known = sorted({name for groups in offered.values() for name in groups})
        raise SpecError(
            f"the group of capabilities `{group}`, which has no member here",
            expected=f"one of: all, {', '.join(known)}",
            fix="choose one of these, or install a package that offers such a capability",
        )
    return members


def settings_for(
    name: str, known: Collection[str], settings: Mapping[str, Setting]
) -> dict[str, Setting]:
    """The settings of one capability or task: ``FIELD``, or ``NAME.FIELD``, which comes first.

    Examples
    --------
    >>> given = {"min_letters": 5, "typo.max_letters": 20, "synonym.preset": "strong"}
    >>> settings_for("typo", {"min_letters", "max_letters"}, given)
    {'min_letters': 5, 'max_letters': 20}
    """
    prefix = f"{name}."
    prefixed = {key[len(prefix) :]: settings[key] for key in settings if key.startswith(prefix)}
    return {key: value for key, value in {**settings, **prefixed}.items() if key in known}


def refuse_unused_settings(
    settings: Mapping[str, Setting], takes: Mapping[str, Collection[str]]
) -> None:
    """Refuse a setting that none of the capabilities or tasks has; ``takes`` is theirs by name.

    Raises
    ------
    SpecError
        When there is one.
    """
    known = {
        key
        for name, names in takes.items()
        for field in names
        for key in (field, f"{name}.{field}")
    }
    if unused := sorted(set(settings) - known):
        listed = [f"{name}: {', '.join(sorted(names)) or 'none'}" for name, names in takes.items()]
        raise SpecError(
            f"no requested capability or task has the setting `{unused[0]}`",
            expected=f"a setting of {'; '.join(listed)}" if listed else "no setting",
            fix=did_you_mean(unused[0], known, "leave it out, or check the spelling"),
        )


def require_distinct(kind: str, names: Sequence[str], example: str) -> None:
    """Refuse an empty list of capabilities or tasks, and duplicate names."""
    if not names or len(set(names)) < len(names):
        raise SpecError(
            f"the {kind} {names}",
            expected=f"one or more {kind}, each once",
            fix=f"write for example {example}",
        )


def settings_of(piece: Any) -> set[str]:
    """The names of the settings that a capability or task, or its class, takes."""
    if isinstance(piece, ForeignPiece):
        return piece.takes
    return {field.name for field in fields(piece) if field.init} if is_dataclass(piece) else set()


def with_settings(piece: Any, settings: Mapping[str, Setting]) -> Any:
    """The capability or task with these of its settings changed."""
    if isinstance(piece, ForeignPiece):
        return piece.changed(settings)
    return replace(piece, **settings)


def piece_card(piece: Any, origin: str) -> CapabilityCard:
    """The manifest's entry of a capability or task."""
    return CapabilityCard(
        name=piece.name, question=piece.question, origin=origin, settings=piece.settings()
    )


def guarded_piece(piece: Any) -> Any:
    """The capability or task, behind the boundary of foreign code unless it is SCoPE's own.

    Raises
    ------
    ModelError
        When its code fails.
    SpecError
        When its name, question or settings cannot be shown in a report.
    """
    return piece if is_built_in(piece) else ForeignPiece(piece)


def is_built_in(piece: object) -> bool:
    """Whether a capability or task is SCoPE's own."""
    return type(piece).__module__.startswith(_OWN)


class ForeignPiece:
    """A capability or task of a user or a plugin.

    It has what the object has; what describes it is looked up and checked once.

    Parameters
    ----------
    piece
        An object with the members of `scope.protocols.Capability`, ``Task`` or ``PairTask``.
    """

    name: str
    question: str

    def __init__(self, piece: Any) -> None:
        kind = type(piece)
        self._piece = piece
        self._code = UntrustedCode(f"{kind.__module__}:{kind.__qualname__}")
        with self._code.entered("its attributes"):
            require_members(piece)
            for name in _VALUES:
                if hasattr(piece, name):
                    setattr(self, name, getattr(piece, name))
            self.takes = settings_of(piece)
            self._settings = plain_settings(shown(piece.name), piece.settings())
            offered = {name: getattr(piece, name, None) for name in (*_CALLS, *_SEARCHES)}
            methods = {name: method for name, method in offered.items() if callable(method)}
            _require_description(self, methods)
        for name, method in methods.items():
            if name in _SEARCHES:
                setattr(self, name, partial(self._searching, method))
            else:
                check = partial(_checked_data, self.name, name) if name in _DATA else None
                setattr(self, name, partial(self._code.call, name, method, check=check))

    def settings(self) -> Mapping[str, Setting]:
        """Its settings, as plain values."""
        return self._settings

    def changed(self, settings: Mapping[str, Setting]) -> ForeignPiece:
        """The same with these settings changed."""
        return ForeignPiece(self._code.call("__init__", lambda: replace(self._piece, **settings)))

    def _searching(self, method: Any, *arguments: Any) -> Iterator[Any]:
        """The results of a search; its errors pass unchanged: an audit records it as failed."""
        with self._code.entered(None):
            results = method(*arguments)
        yield from self._code.each(None, results)


def plain_settings(name: str, settings: object) -> dict[str, Setting]:
    """The settings of a capability or task as plain values.

    Raises
    ------
    SpecError
        When they are not a mapping, or a value cannot be written.

    Examples
    --------
    >>> plain_settings("typo", {"candidates": 10, "order": "random"})
    {'candidates': 10, 'order': 'random'}
    """
    if not isinstance(settings, Mapping):
        raise SpecError(
            f"`{name}` has settings of class {type(settings).__name__}",
            expected="a mapping from names to values",
            fix="return a dict, empty if there are no settings",
        )
    for key, value in settings.items():
        if not isinstance(key, str) or unstorable(key) or not _is_plain(value):
            raise SpecError(
                f"`{name}` has the setting {shown(key)}: {shown(value)}",
                expected="a name with a text, a finite number, a truth value or None",
                fix="write the value as text",
            )
    return dict(settings)


def _is_plain(value: object) -> bool:
    match value:
        case str():
            return not unstorable(value)
        case int():
            return abs(value) < _GREATEST
        case float():
            return math.isfinite(value)
    return value is None


def _checked_data(piece: str, method: str, loaded: Any, _data: object) -> Any:
    """The loaded data of a task with its members; to be called inside the boundary."""
    _, kind, field, member = _DATA[method]
    if isinstance(loaded, TaskData | PairData) and isinstance(loaded, kind):
        members, card = getattr(loaded, field), loaded.card
        # A generator may have no end.
        if isinstance(members, tuple | list) and isinstance(card, DataCard):
            fetched = tuple(members)
            if all(isinstance(item, member) for item in fetched):
                return kind(**{field: fetched, "card": card})
    raise SpecError(
        f"{shown(loaded)} from `{method}` of the task `{piece}`",
        expected=f"a `scope.protocols.{kind.__name__}` with a `scope.records.DataCard` and a tuple "
        f"of `scope.records.{member.__name__}`",
        fix="change the code of the task",
    )


def require_members(piece: Any, names: Collection[str] = ("name", "question", "settings")) -> None:
    """Check that a capability or task is an object with these members.

    Raises
    ------
    SpecError
        When it is a class, or lacks one.
    """
    if isinstance(piece, type):
        raise SpecError(
            f"the class {piece.__name__}",
            expected="a capability or task, which is an object",
            fix=f"make an object of it: {piece.__name__}()",
        )
    if missing := [name for name in names if not hasattr(piece, name)]:
        raise SpecError(
            f"the {type(piece).__name__} {shown(piece)} as a capability or task",
            expected="an object with the members of `scope.protocols.Capability` or `Task`",
            fix=f"add {', '.join(missing)}",
        )


def _require_description(piece: ForeignPiece, methods: Mapping[str, Any]) -> None:
    """Refuse a name, a question or a role that cannot be; the role is that of the task's data."""
    if not isinstance(piece.name, str) or not _NAME.fullmatch(piece.name):
        raise SpecError(
            f"a capability or task with the name {shown(piece.name)}",
            expected="one word, of letters, digits, `_` and `-`",
            fix="choose a name such as `synonym`",
        )
    if not isinstance(piece.question, str) or unstorable(piece.question):
        raise SpecError(
            f"`{piece.name}` with the question {shown(piece.question)}",
            expected="what is asked of the models, in words that can be written as UTF-8",
            fix="write it as the report should show it",
        )
    role = getattr(piece, "role", None)
    for method in _DATA.keys() & methods.keys() if "search" not in methods else ():
        roles = _DATA[method][0]
        if not isinstance(role, str) or str.__str__(role) not in roles:
            raise SpecError(
                f"the task `{piece.name}` with the role {shown(role)}",
                expected=f"one of {', '.join(roles)}",
                fix="change `role` in its code",
            )
