"""A result as JSON: the same result gives the same bytes, and reads back as the same records.

The first entry is a checksum of all else. Keys are sorted, floats have at most six decimals, and
every record of the longer lists stands on a line of its own, so that two files can be compared with
``diff``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, make_dataclass
from functools import cache
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from scope.checksums import sealed, unsealed
from scope.consistency import contradictions
from scope.errors import RunError, SpecError
from scope.records import Answer, Clock, Item, Prediction, Question, Result
from scope.records.result import SPARSE_FIELD
from scope.registry import find

if TYPE_CHECKING:
    from pydantic import ValidationError

FORMAT = 4
"""Changes whenever an older release could no longer read what this one writes."""

DECIMALS = 6

SPARSE = (Answer, Clock, Item, Prediction, Question)
"""Records of which there may be a million: a field that holds its default is left out."""


Found = TypeVar("Found", bound=Result)


@cache
def _document(result: Any) -> Any:
    """The type of a result in a file: its fields and the number of the format."""
    return make_dataclass(
        "_Document",
        [("format", Literal[4])],
        bases=(result,),
        namespace={
            # Pydantic hands this down to every record inside, so that no unknown key goes
            # unnoticed.
            "__pydantic_config__": {"extra": "forbid", "strict": True, "allow_inf_nan": False}
        },
        frozen=True,
        kw_only=True,
        repr=False,
    )


def to_json(result: Result, *, clock: bool = True) -> str:
    """Write a result as canonical JSON, ending in a line break.

    Parameters
    ----------
    result
        What is to be written; its floats must be finite.
    clock
        Whether to write when the run was finished. Without it the text depends on the result
        alone.

    Raises
    ------
    ValueError
        When a number is not finite; records never hold such numbers unless there is a bug.
    """
    plain: dict[str, Any] = _encoder(cast(Any, type(result)))(result)
    plain["format"] = FORMAT
    # Where a run lies is no part of its result.
    del plain["folder"]
    if not clock or result.clock is None:
        del plain["clock"]
    encode = json.JSONEncoder(
        ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    ).encode
    lines = ",\n".join(f"{encode(key)}:{_lines(plain[key], encode)}" for key in sorted(plain))
    return sealed(f"{{\n{lines}\n}}\n")


@overload
def from_json(text: str, *, kind: type[Found], source: str = ...) -> Found: ...
@overload
def from_json(text: str, *, kind: None = ..., source: str = ...) -> Result: ...
def from_json(text: str, *, kind: type[Result] | None = None, source: str = "this text") -> Result:
    """Read a result that `to_json` wrote.

    Parameters
    ----------
    text
        The whole document.
    kind
        The record that it must be; by default that of its job.
    source
        What to call it in an error, such as its path.

    Raises
    ------
    RunError
        When it is not JSON, holds anything but a result of this format, or was changed.

    Examples
    --------
    >>> from_json('{"format": 4}', source="x.json")
    Traceback (most recent call last):
    ...
    scope.errors.RunError: found:    x.json is no result: at `manifest`: Field required
    expected: a result of format 4, as SCoPE writes it
    fix:      run the same command again, which rewrites the file
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        content, had_checksum = unsealed(text)
    except ValueError as error:
        raise _no_result(source, str(error)) from error
    kind = kind or _kind_of(content, source)
    try:
        document = TypeAdapter(_document(cast(Any, kind))).validate_json(content)
    except ValidationError as error:
        raise _unreadable(source, error) from error
    if not had_checksum:
        raise _no_result(source, "it has no checksum")
    members = {field.name: getattr(document, field.name) for field in fields(kind)}
    result = kind(**members | {"folder": None})
    if reason := next(contradictions(result), None):
        raise _no_result(source, reason)
    return result


@dataclass(frozen=True)
class _Job:
    job: str


@dataclass(frozen=True)
class _Head:
    """What the head of every result says: which format, and which job it is of."""

    format: int
    manifest: _Job


def _kind_of(content: str, source: str) -> type[Result]:
    """The record of the job that a file is of."""
    from pydantic import TypeAdapter, ValidationError

    try:
        head = TypeAdapter(_Head).validate_json(content)
    except ValidationError as error:
        raise _unreadable(source, error) from error
    if head.format != FORMAT:
        raise _other_format(source, head.format)
    try:
        kind: type[Result] = find("parts", "job").target(head.manifest.job).result
    except SpecError as error:
        raise _no_result(source, f"{error.found}") from error
    return kind


def _unreadable(source: str, error: ValidationError) -> RunError:
    """The first of the reader's complaints."""
    first = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(map(str, first["loc"]))
    where = f"at `{place}`: " if place else ""
    return _no_result(source, f"{where}{first['msg']}")


def _other_format(source: str, found: object) -> RunError:
    return RunError(
        f"{source} has format {found!r}",
        expected=f"format {FORMAT}",
        fix="read it with the release of SCoPE that wrote it, or run the job again",
    )


def _no_result(source: str, reason: str) -> RunError:
    return RunError(
        f"{source} is no result: {reason}",
        expected=f"a result of format {FORMAT}, as SCoPE writes it",
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
    if origin in (tuple, list):
        return _tuple_encoder(arguments if origin is tuple else (*arguments, Ellipsis))
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
    # Where a field has no default, a mark stands for it that nothing is equal to.
    default: dict[str, Any] = {
        field.name: {} if field.default_factory is dict else field.default
        for field in fields(record)
        if record in SPARSE or SPARSE_FIELD.items() <= field.metadata.items()
    }

    # At the first use: a result of several audits holds results.
    @cache
    def members() -> tuple[tuple[str, Callable[[Any], Any]], ...]:
        return tuple((field.name, _encoder(hints[field.name])) for field in fields(record))

    return lambda value: {
        name: encode(found)
        for name, encode in members()
        if (found := getattr(value, name)) != default.get(name, MISSING)
    }


def _tuple_encoder(arguments: Sequence[Any]) -> Callable[[Any], Any]:
    if not arguments or arguments == ((),):
        return lambda _: []
    if arguments[-1] is Ellipsis:
        encode = _encoder(arguments[0])
        return lambda values: [encode(value) for value in values]
    encoders = tuple(map(_encoder, arguments))
    return lambda values: [encode(value) for encode, value in zip(encoders, values, strict=True)]


def _union_encoder(members: Sequence[Any]) -> Callable[[Any], Any]:
    encoders = tuple((member, _encoder(member)) for member in members)

    def encode_union(value: Any) -> Any:
        for member, encode in encoders:
            if get_origin(member) is Literal:
                if value in get_args(member):
                    return value
            elif isinstance(value, get_origin(member) or member):
                return encode(value)
        # A whole number where `float | None` is declared, which the type checker allows.
        return _rounded(value)

    return encode_union
