"""How the field of a request becomes an option: its panel, spelling, limits and type."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from cyclopts import Group, Parameter

from scope.errors import SpecError
from scope.records import Setting

MODELS = Group.create_ordered("Models")
DATA = Group.create_ordered("Data")
METHOD = Group.create_ordered("Method")
OUTPUT = Group.create_ordered("Output")
"""The panels of a help page, in their order."""

HIDDEN = Parameter(parse=False)
"""A field for Python alone."""

FLAT = Parameter(name="*")
"""A field whose own fields are options of the command."""


@dataclass(frozen=True)
class Limits:
    """The numbers that a field accepts.

    Parameters
    ----------
    least, most
        The smallest and the greatest of them.
    above, below
        Bounds that are not part of the range themselves.

    Examples
    --------
    >>> Limits(above=0, below=1).describe()
    'above 0 and below 1'
    """

    least: float = -math.inf
    most: float = math.inf
    above: float = -math.inf
    below: float = math.inf

    def check(self, option: str, value: Any) -> None:
        """Refuse a value outside the limits.

        Raises
        ------
        SpecError
            When the value is not a number or out of range.
        """
        number = isinstance(value, Real) and not isinstance(value, bool)
        if number and self.least <= value <= self.most and self.above < value < self.below:
            return
        raise SpecError(
            f"{option} {value}",
            expected=f"a number {self.describe()}",
            fix=f"omit {option} for its default, or give another number",
        )

    def describe(self) -> str:
        """The limits in words."""
        named = (
            ("at least", self.least),
            ("above", self.above),
            ("at most", self.most),
            ("below", self.below),
        )
        return " and ".join(f"{word} {limit:g}" for word, limit in named if math.isfinite(limit))


class _OutsideIdentity:
    """Marks a field that does not identify a result: where its run is kept, how fast it is made."""


OUTSIDE_IDENTITY = _OutsideIdentity()
"""Such a field is left out of the command that reproduces a result."""


def option(
    panel: Group,
    name: str | tuple[str, ...] | None = None,
    *,
    metavar: str | None = None,
    negative: str | None = None,
    default: str | None = None,
    once: bool = False,
) -> Parameter:
    """An option on this panel; ``default`` describes a default that is computed."""
    plain = Parameter(
        name=name,
        group=panel,
        metavar=metavar,
        negative=negative or (),
        show_default=(lambda _: default) if default else None,
    )
    # Elsewhere the last of several counts; a second model would be dropped in silence.
    return Parameter.combine(plain, Parameter(allow_repeating=False)) if once else plain


def whole_number(panel: Group, *, default: str | None = None) -> Parameter:
    """An option of a whole number: 1.5 is refused, where cyclopts would round it."""
    plain = option(panel, metavar="INT", default=default)
    return Parameter.combine(plain, Parameter(converter=_whole))


def _whole(_: object, tokens: Sequence[Any]) -> int:
    (token,) = tokens
    try:
        return int(token.value)
    except ValueError:
        raise not_whole(token.keyword, token.value) from None


def not_whole(option: str, value: object) -> SpecError:
    """The error of an option whose value should be a whole number."""
    return SpecError(
        f"{option} {value}",
        expected="a whole number",
        fix=f"omit {option} for its default, or write a whole number",
    )


def named_values(
    panel: Group,
    name: str,
    *,
    metavar: str = "NAME=VALUE",
    example: str,
    value: Callable[[str], object] = str,
) -> Parameter:
    """An option of a mapping, repeated as ``--name KEY=VALUE``."""

    def convert(written: Sequence[str]) -> dict[str, object]:
        texts = pairs(written, name, metavar, example)
        return {key: value(text) for key, text in texts.items()}

    return repeated(panel, name, metavar=metavar, convert=convert)


def settings_option(panel: Group, example: str = "min_words=10") -> Parameter:
    """The option of a capability's or a task's own settings; their spelling suggests the type."""
    return named_values(
        panel, "--setting", metavar="[NAME.]FIELD=VALUE", example=example, value=setting_value
    )


def setting_value(text: str) -> Setting:
    """What a setting's spelling suggests: a number, yes or no, or text.

    Examples
    --------
    >>> setting_value("10"), setting_value("no"), setting_value("short")
    (10, False, 'short')
    """
    if text.casefold() in ("yes", "true", "no", "false"):
        return text.casefold() in ("yes", "true")
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def repeated(
    panel: Group, name: str, *, metavar: str, convert: Callable[[Sequence[str]], object] = list
) -> Parameter:
    """An option that is repeated, whose values are read together."""
    return Parameter(
        name=name,
        group=panel,
        metavar=metavar,
        converter=lambda _, tokens: convert([token.value for token in tokens]),
        # Each occurrence of the option is one entry; without it the last one alone would count.
        n_tokens=-1,
        accepts_keys=False,
        show_default=False,
    )


def pairs(entries: Sequence[str], option: str, form: str, example: str) -> dict[str, str]:
    """Values by name, from entries of a form such as ``NAME=VALUE``.

    Raises
    ------
    SpecError
        When an entry has no name or no value, or a name occurs twice.

    Examples
    --------
    >>> pairs(["a=1", "b=x=y"], "--column", "ROLE=NAME", "model=system")
    {'a': '1', 'b': 'x=y'}
    """
    values: dict[str, str] = {}
    for entry in entries:
        name, _, value = (part.strip() for part in entry.partition("="))
        if not (name and value) or name in values:
            raise SpecError(
                f"{option} {entry}",
                expected=f"{form}, each name once",
                fix=f"write for example {option} {example}",
            )
        values[name] = value
    return values


_WIDER: Mapping[Any, Any] = MappingProxyType({float: Real, int: Real, Path: str | Path})
"""What is taken for a type, too."""


def fits(value: object, hint: Any) -> bool:
    """Whether the value is of the type; the keys and values of a mapping are not checked.

    Examples
    --------
    >>> fits(("a",), Sequence[str]), fits(("a", 1), Sequence[str]), fits("l3", Literal["l1", "kl"])
    (True, False, False)
    """
    kind, inner = get_origin(hint), get_args(hint)
    if kind is Literal:
        return isinstance(value, tuple(map(type, inner))) and value in inner
    if kind in (Union, UnionType):
        return any(fits(value, alternative) for alternative in inner)
    if kind is Sequence:
        if isinstance(value, str) or not isinstance(value, Sequence):
            return False
        return all(fits(entry, inner[0]) for entry in value)
    plain = kind or hint
    # Any is a class, too.
    return plain is Any or isinstance(value, _WIDER.get(plain, plain))


def described_type(hint: Any) -> str:
    """The type in words.

    Examples
    --------
    >>> described_type(Sequence[str] | None), described_type(Literal["l1", "kl"])
    ('a list of texts, or None', 'one of: l1, kl')
    >>> described_type(Sequence[str | object]), described_type(int)
    ('a list of texts or objects', 'an int')
    """
    kind, inner = get_origin(hint), get_args(hint)
    if kind is Literal:
        return f"one of: {', '.join(map(str, inner))}"
    if kind in (Union, UnionType):
        return ", or ".join(dict.fromkeys(map(described_type, inner)))
    if kind is Sequence:
        members = get_args(inner[0]) if get_origin(inner[0]) in (Union, UnionType) else inner[:1]
        several = (f"{described_type(member).partition(' ')[2]}s" for member in members)
        return f"a list of {' or '.join(several)}"
    if kind is Mapping:
        return "a dict"
    known = {str: "a text", NoneType: "None", Path: "a path", bool: "True or False"}
    name = "object" if hint is Any else getattr(hint, "__name__", str(hint))
    return known.get(hint) or f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"
