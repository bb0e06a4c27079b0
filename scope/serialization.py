"""A result as JSON: the same result gives the same bytes, and reads back as the same records.

The first entry is a checksum of all else. Keys are sorted, floats have at most six decimals, and
every record of the longer lists stands on a line of its own, so that two files can be compared with
``diff``. In the folder of a run the lists that may be long lie in files of their own, beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, make_dataclass, replace
from functools import cache
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    Protocol,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from scope.checksums import sealed, unsealed
from scope.errors import RunError, SpecError
from scope.records import Answer, Clock, Item, Prediction, Question, Result
from scope.records.long_lists import Long
from scope.records.result import SPARSE_FIELD
from scope.registry import find

if TYPE_CHECKING:
    from pydantic import ValidationError

FORMAT = 6
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
        [("format", Literal[6])],
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


class KeepsLists(Protocol):
    """Keeps the lists of a result that may be long elsewhere."""

    def put(self, name: str, entry: Any, values: Iterable[Any], /) -> dict[str, object]:
        """Keep a list, by its name and the type of its entries; what stands for it."""
        ...

    def close(self) -> dict[str, str]:
        """What the result says of where they are."""
        ...


ReadsLists = Callable[[Mapping[str, str]], Callable[[str, Any, int, int], Sequence[Any]]]
"""From what the result says of where its lists are to a list: name, type of entry, first, last."""


def to_json(result: Result, *, clock: bool = True, lists: KeepsLists | None = None) -> str:
    """Write a result as canonical JSON, ending in a line break.

    Parameters
    ----------
    result
        What is to be written; its floats must be finite.
    clock
        Whether to write when the run was finished. Without it the text depends on the result
        alone.
    lists
        Keeps the lists that may be long; by default they are part of the text.

    Raises
    ------
    ValueError
        When a number is not finite; records never hold such numbers unless there is a bug.
    """
    encoding = WHOLE if lists is None else Encoding(lists)
    plain: dict[str, Any] = encoding.of(cast(Any, type(result)))(result)
    plain["format"] = FORMAT
    if lists is not None and (files := lists.close()):
        plain["lists"] = files
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
def from_json(
    text: str, *, kind: type[Found], source: str = ..., lists: ReadsLists | None = ...
) -> Found: ...
@overload
def from_json(
    text: str, *, kind: None = ..., source: str = ..., lists: ReadsLists | None = ...
) -> Result: ...
def from_json(
    text: str,
    *,
    kind: type[Result] | None = None,
    source: str = "this text",
    lists: ReadsLists | None = None,
) -> Result:
    """Read a result that `to_json` wrote.

    Parameters
    ----------
    text
        The whole document.
    kind
        The record that it must be; by default that of its job.
    source
        What to call it in an error, such as its path.
    lists
        Reads the lists that lie elsewhere, if any do.

    Raises
    ------
    RunError
        When it is not JSON, lacks its lists, holds anything but a result of this format, or was
        changed.

    Examples
    --------
    >>> from_json('{"format": 6}', source="x.json")
    Traceback (most recent call last):
    ...
    scope.errors.RunError: found:    x.json is no result: at `manifest`: Field required
    expected: a result of format 6, as SCoPE writes it
    fix:      run the same command again, which rewrites the file
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        content, had_checksum = unsealed(text)
    except ValueError as error:
        raise _no_result(source, str(error)) from error
    head = _head(content, source)
    kind = kind or _kind_of(head, source)
    plain = json.loads(content) if head.lists is not None else None
    if plain is not None:
        del plain["lists"]
        content = json.dumps(_without_lists(plain))
    try:
        document = TypeAdapter(_document(cast(Any, kind))).validate_json(content)
    except ValidationError as error:
        raise _unreadable(source, error) from error
    if not had_checksum:
        raise _no_result(source, "it has no checksum")
    members = {field.name: getattr(document, field.name) for field in fields(kind)}
    result = kind(**members | {"folder": None})
    if plain is not None:
        if lists is None:
            raise _no_result(source, "its lists lie in files beside it, which are read with it")
        result = _with_lists(kind, result, plain, lists(head.lists or {}))
    return result


@dataclass(frozen=True)
class _Job:
    job: str


@dataclass(frozen=True)
class _Head:
    """What the head of a result says: its format, its job, and the files of its lists, if any."""

    format: int
    manifest: _Job
    lists: dict[str, str] | None = None


def _head(content: str, source: str) -> _Head:
    from pydantic import TypeAdapter, ValidationError

    try:
        head = TypeAdapter(_Head).validate_json(content)
    except ValidationError as error:
        raise _unreadable(source, error) from error
    if head.format != FORMAT:
        raise _other_format(source, head.format)
    return head


def _kind_of(head: _Head, source: str) -> type[Result]:
    """The record of the job that a file is of."""
    try:
        kind: type[Result] = find("parts", "job").target(head.manifest.job).result
    except SpecError as error:
        raise _no_result(source, f"{error.found}") from error
    return kind


def _is_elsewhere(plain: object) -> bool:
    """Whether this stands for a list that lies in a file."""
    match plain:
        case {"in": str(), "rows": [int(), int()], **others}:
            return not others
    return False


def _without_lists(plain: Any) -> Any:
    """The same with an empty list for each that lies in a file."""
    if _is_elsewhere(plain):
        return []
    if isinstance(plain, dict):
        return {key: _without_lists(value) for key, value in plain.items()}
    return [_without_lists(one) for one in plain] if isinstance(plain, list) else plain


def _with_lists(
    hint: Any, value: Any, plain: Any, stored: Callable[[str, Any, int, int], Sequence[Any]]
) -> Any:
    """The value with all of its lists; the same object where none lies in a file."""
    arguments = get_args(hint)
    if get_origin(hint) is Annotated:
        if not _is_elsewhere(plain):
            return _with_lists(arguments[0], value, plain, stored)
        entry = get_args(arguments[0])[0]
        return stored(plain["in"], entry, *plain["rows"])
    if is_dataclass(hint) and is_dataclass(value) and not isinstance(value, type):
        hints = get_type_hints(hint, include_extras=True)
        found = {
            name: _with_lists(hints[name], getattr(value, name), inner, stored)
            for name, inner in plain.items()
            if name in hints
        }
        changed = {name: one for name, one in found.items() if one is not getattr(value, name)}
        return replace(value, **changed) if changed else value
    if get_origin(hint) is tuple and arguments[1:] == (Ellipsis,):
        each = [_with_lists(arguments[0], *pair, stored) for pair in zip(value, plain, strict=True)]
        same = all(one is other for one, other in zip(each, value, strict=True))
        return value if same else tuple(each)
    return value


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


class Encoding:
    """Functions that turn values of a type into lists, dicts and scalars.

    The declared type decides, not the value, so that 1 and 1.0 in a field of floats, which are
    equal, are written alike.
    """

    def __init__(self, lists: KeepsLists | None = None) -> None:
        self._lists = lists
        self.of = cache(self._of)

    def _of(self, hint: Any) -> Callable[[Any], Any]:
        if hint is float or is_dataclass(hint):
            return _rounded if hint is float else self._record(hint)
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Annotated:
            return self._long(*arguments)
        if origin in (tuple, list):
            return self._tuple(arguments if origin is tuple else (*arguments, Ellipsis))
        if origin in (Union, UnionType):
            return self._union(arguments)
        if origin is not Mapping:
            return lambda value: value
        encode = self.of(arguments[1])
        return lambda mapping: {key: encode(value) for key, value in mapping.items()}

    def _long(self, hint: Any, long: Long) -> Callable[[Any], Any]:
        if self._lists is None:
            return self.of(hint)
        put, entry = self._lists.put, get_args(hint)[0]
        return lambda values: put(long.name, entry, values) if values else []

    def _record(self, record: Any) -> Callable[[Any], Any]:
        hints = get_type_hints(record, include_extras=True)
        # Where a field has no default, a mark stands for it that nothing is equal to.
        default: dict[str, Any] = {
            field.name: {} if field.default_factory is dict else field.default
            for field in fields(record)
            if record in SPARSE or SPARSE_FIELD.items() <= field.metadata.items()
        }

        # At the first use: a result of several audits holds results.
        @cache
        def members() -> tuple[tuple[str, Callable[[Any], Any]], ...]:
            return tuple((field.name, self.of(hints[field.name])) for field in fields(record))

        return lambda value: {
            name: encode(found)
            for name, encode in members()
            if (found := getattr(value, name)) != default.get(name, MISSING)
        }

    def _tuple(self, arguments: Sequence[Any]) -> Callable[[Any], Any]:
        if not arguments or arguments == ((),):
            return lambda _: []
        if arguments[-1] is Ellipsis:
            encode = self.of(arguments[0])
            return lambda values: [encode(value) for value in values]
        encoders = tuple(map(self.of, arguments))
        return lambda values: [
            encode(value) for encode, value in zip(encoders, values, strict=True)
        ]

    def _union(self, members: Sequence[Any]) -> Callable[[Any], Any]:
        encoders = tuple((member, self.of(member)) for member in members)

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


WHOLE = Encoding()
"""Without files: everything is part of the text."""


def _rounded(value: float) -> float:
    # Adding nothing turns -0.0 into 0.0.
    return round(float(value), DECIMALS) + 0.0
