"""Whether a value that Python passes is of the type of its field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

_WIDER: Mapping[Any, Any] = MappingProxyType({float: Real, int: Real, Path: str | Path})
"""What is taken for a type, too."""


def fits(value: object, hint: Any) -> bool:
    """Whether the value is of the type; the keys and values of a mapping are not looked at.

    Examples
    --------
    >>> fits(("a",), Sequence[str]), fits(("a", 1), Sequence[str]), fits("l3", Literal["l1", "kl"])
    (True, False, False)
    """
    kind, inner = get_origin(hint), get_args(hint)
    if kind is Literal:
        return isinstance(value, tuple(map(type, inner))) and value in inner
    if kind in (Union, UnionType):
        return any(fits(value, one) for one in inner)
    if kind is Sequence:
        if isinstance(value, str) or not isinstance(value, Sequence):
            return False
        return all(fits(one, inner[0]) for one in value)
    plain = kind or hint
    # Any is a class, too.
    return plain is Any or isinstance(value, _WIDER.get(plain, plain))


def described_type(hint: Any) -> str:
    """The type in words.

    Examples
    --------
    >>> described_type(Sequence[str] | None), described_type(Literal["l1", "kl"])
    ('a list of texts, or None', 'one of: l1, kl')
    """
    kind, inner = get_origin(hint), get_args(hint)
    if kind is Literal:
        return f"one of: {', '.join(map(str, inner))}"
    if kind in (Union, UnionType):
        return ", or ".join(dict.fromkeys(map(described_type, inner)))
    if kind is Sequence:
        return f"a list of {described_type(inner[0]).removeprefix('a ')}s"
    if kind is Mapping:
        return "a dict"
    names = {str: "a text", NoneType: "None", Path: "a path", bool: "True or False"}
    return names.get(hint) or f"a {getattr(hint, '__name__', hint)}"
