"""Makes capabilities and tasks; those of third parties run behind the boundary."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any, NamedTuple, get_args

from scope.errors import SpecError
from scope.printing import did_you_mean, first_line, shown, unstorable
from scope.protocols import AskedRole, PairData, PairRole, TaskData
from scope.records import CapabilityCard, DataCard, Item, ScoredPair, Setting
from scope.registry import BUILT_IN, Entry, entries
from scope.untrusted import UntrustedCode, each_within

_OWN = frozenset(
    target.partition(":")[0]
    for group in ("capabilities", "tasks")
    for target in BUILT_IN[group].values()
)
_VALUES = ("name", "question", "role", "low", "high", "max_characters", "scorers")
_CALLS = ("load", "load_pairs", "left_alone", "estimate_queries")
_SEARCHES = ("search", "draw_random")
_GREATEST = 10**300
"""Python writes and reads no number of more than 4,300 digits."""


class _Data(NamedTuple):
    """What a method of a task returns: a record, one of whose fields is a tuple of others."""

    roles: tuple[str, ...]
    kind: type
    field: str
    member: type


_DATA = {
    "load": _Data(get_args(AskedRole), TaskData, "items", Item),
    "load_pairs": _Data(get_args(PairRole), PairData, "pairs", ScoredPair),
}

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
        if kind == "str" and entry.target.__module__ not in _OWN:
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
    return type(piece).__module__ in _OWN


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
            methods = {name: getattr(piece, name, None) for name in (*_CALLS, *_SEARCHES)}
            _require_description(self, methods)
        for name, method in methods.items():
            if callable(method):
                check = partial(_checked_data, self.name, name) if name in _DATA else None
                call = partial(self._code.call, name, method, check=check)
                searches = name in _SEARCHES
                setattr(self, name, partial(self._searching, method) if searches else call)

    def settings(self) -> Mapping[str, Setting]:
        """Its settings, as plain values."""
        return self._settings

    def changed(self, settings: Mapping[str, Setting]) -> ForeignPiece:
        """The same with these settings changed."""
        return ForeignPiece(self._code.call("__init__", lambda: replace(self._piece, **settings)))

    def _searching(self, method: Any, *arguments: Any) -> Iterator[Any]:
        """The results of a search; its errors pass unchanged: an audit records it as failed."""
        with self._code.surroundings():
            results = method(*arguments)
        yield from each_within(self._code.surroundings, results)


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
    for method, (roles, *_) in _DATA.items() if not callable(methods["search"]) else ():
        wrong = not isinstance(role, str) or str.__str__(role) not in roles
        if callable(methods[method]) and wrong:
            raise SpecError(
                f"the task `{piece.name}` with the role {shown(role)}",
                expected=f"one of {', '.join(roles)}",
                fix="change `role` in its code",
            )
