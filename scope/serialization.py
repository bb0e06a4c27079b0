"""A comparison as JSON: the same result gives the same bytes, and reads back as the same records.

The first entry is a checksum of all else. Keys are sorted, floats have at most six decimals, and
every record of the longer lists stands on a line of its own, so that two files can be compared with
``diff``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from scope.checksums import sealed, unsealed
from scope.consistency import contradictions
from scope.errors import RunError
from scope.records import Answer, Clock, Comparison, Item, Prediction, Question

if TYPE_CHECKING:
    from pydantic import ValidationError

FORMAT = 3
"""Changes whenever an older release could no longer read what this one writes."""

DECIMALS = 6

SPARSE = (Answer, Clock, Item, Prediction, Question)
"""Records of which there may be a million: a field that holds its default is left out."""


@dataclass(frozen=True, kw_only=True)
class _Document(Comparison):
    """A comparison in a file: its fields and the number of the format."""

    # Pydantic hands this down to every record inside, so that no unknown key goes unnoticed.
    __pydantic_config__: ClassVar[Mapping[str, object]] = {
        "extra": "forbid",
        "strict": True,
        "allow_inf_nan": False,
    }
    format: Literal[3]


def to_json(comparison: Comparison, *, clock: bool = True) -> str:
    """Write a comparison as canonical JSON, ending in a line break.

    Parameters
    ----------
    comparison
        What is to be written; its floats must be finite.
    clock
        Whether to write when the run was finished. Without it the text depends on the result
        alone.

    Raises
    ------
    ValueError
        When a number is not finite; records never hold such numbers unless there is a bug.
    """
    plain: dict[str, Any] = _encoder(Comparison)(comparison)
    plain["format"] = FORMAT
    # Where a run lies is no part of its result.
    del plain["folder"]
    if not clock or comparison.clock is None:
        del plain["clock"]
    for of_few_jobs in ("answer_shares", "task_shares", "verdicts", "fleet", "probe"):
        if not plain[of_few_jobs]:
            # Files of jobs that give none stay readable by releases that know none.
            del plain[of_few_jobs]
    encode = json.JSONEncoder(
        ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    ).encode
    lines = ",\n".join(f"{encode(key)}:{_lines(plain[key], encode)}" for key in sorted(plain))
    return sealed(f"{{\n{lines}\n}}\n")


def from_json(text: str, *, source: str = "this text") -> Comparison:
    """Read a comparison that `to_json` wrote.

    Parameters
    ----------
    text
        The whole document.
    source
        What to call it in an error, such as its path.

    Raises
    ------
    RunError
        When it is not JSON, holds anything but a comparison of this format, or was changed.

    Examples
    --------
    >>> from_json('{"format": 3}', source="x.json")
    Traceback (most recent call last):
    ...
    scope.errors.RunError: found:    x.json is no comparison: at `manifest`: Field required
    expected: a comparison of format 3, as SCoPE writes it
    fix:      run the same command again, which rewrites the file
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        content, had_checksum = unsealed(text)
    except ValueError as error:
        raise _no_comparison(source, str(error)) from error
    try:
        document = TypeAdapter(_Document).validate_json(content)
    except ValidationError as error:
        raise _unreadable(source, error) from error
    if not had_checksum:
        raise _no_comparison(source, "it has no checksum")
    comparison = Comparison(
        **{field.name: getattr(document, field.name) for field in fields(Comparison)}
    )
    comparison = replace(comparison, folder=None)
    if reason := next(contradictions(comparison), None):
        raise _no_comparison(source, reason)
    return comparison


def _unreadable(source: str, error: ValidationError) -> RunError:
    """The first of the reader's complaints; another format outweighs all others."""
    complaints = error.errors(include_url=False, include_context=False)
    for complaint in complaints:
        if complaint["loc"] == ("format",) and complaint["type"] == "literal_error":
            return RunError(
                f"{source} has format {complaint['input']!r}",
                expected=f"format {FORMAT}",
                fix="read it with the release of SCoPE that wrote it, or run the job again",
            )
    first = complaints[0]
    place = ".".join(map(str, first["loc"]))
    where = f"at `{place}`: " if place else ""
    return _no_comparison(source, f"{where}{first['msg']}")


def _no_comparison(source: str, reason: str) -> RunError:
    return RunError(
        f"{source} is no comparison: {reason}",
        expected=f"a comparison of format {FORMAT}, as SCoPE writes it",
        fix="run the same command again, which rewrites the file",
    )


def _lines(value: object, encode: Callable[[object], str]) -> str:
    """The JSON of one top-level value, with each item of a list on its own line."""
    if not isinstance(value, list) or not value:
        return encode(value)
    items = ",\n".join(map(encode, value))
    return f"[\n{items}\n]"


@cache
def _encoder(hint: Any) -> Callable[[Any], Any]:
    """Make a function that turns a value of this type into lists, dicts and scalars.

    The declared type decides, not the value, so that 1 and 1.0 in a field of floats, which are
    equal, are written alike.
    """
    if hint is float:
        return _rounded
    if is_dataclass(hint):
        return _record_encoder(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple:
        return _tuple_encoder(arguments)
    if origin is Mapping:
        encode = _encoder(arguments[1])
        return lambda mapping: {key: encode(value) for key, value in mapping.items()}
    if origin in (Union, UnionType):
        return _union_encoder(arguments)
    return lambda value: value


def _rounded(value: float) -> float:
    # Adding nothing turns -0.0 into 0.0.
    return round(float(value), DECIMALS) + 0.0


def _record_encoder(record: Any) -> Callable[[Any], Any]:
    hints = get_type_hints(record)
    members = tuple((field.name, _encoder(hints[field.name])) for field in fields(record))
    if record not in SPARSE:
        return lambda value: {name: encode(getattr(value, name)) for name, encode in members}
    # Where a field has no default, a mark stands for it that nothing is equal to.
    default = {field.name: field.default for field in fields(record)}
    return lambda value: {
        name: encode(found)
        for name, encode in members
        if (found := getattr(value, name)) != default[name]
    }


def _tuple_encoder(arguments: Sequence[Any]) -> Callable[[Any], Any]:
    if arguments[-1] is Ellipsis:
        encode = _encoder(arguments[0])
        return lambda values: [encode(value) for value in values]
    encoders = tuple(map(_encoder, arguments))
    return lambda values: [encode(value) for encode, value in zip(encoders, values, strict=True)]


def _union_encoder(members: Sequence[Any]) -> Callable[[Any], Any]:
    encoders = tuple((member, _encoder(member)) for member in members)

    def encode_union(value: Any) -> Any:
        for member, encode in encoders:
            if isinstance(value, member):
                return encode(value)
        # A whole number where `float | None` is declared, which the type checker allows.
        return _rounded(value)

    return encode_union
