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
from pkgutil import resolve_name
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Protocol,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from scope.errors import RunError, SpecError
from scope.paths import sealed, unsealed
from scope.records import Answer, Clock, Item, Prediction, Question, Result
from scope.records.examples import PLACES, SPARSE_FIELD

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

FORMAT = 10
"""Changes whenever an older release could no longer read what this one writes."""

DECIMALS = 6

SPARSE = (Answer, Clock, Item, Prediction, Question)
"""Records of which there may be a million: a field that holds its default is left out."""


@cache
def _document(result: Any) -> TypeAdapter[Any]:
    """Reads the type of a result in a file: its fields, the number of the format and its lists."""
    from pydantic import TypeAdapter

    document = make_dataclass(
        "_Document",
        [("format", Literal[10]), ("lists", dict[str, str] | None, None)],
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
    return TypeAdapter(document)


class KeepsLists(Protocol):
    """Keeps the lists of a result that may be long elsewhere."""

    def put(self, name: str, entry: Any, values: Iterable[Any], /) -> dict[str, object]:
        """Store a list by its name and the type of its entries; return its placeholder."""
        ...

    def close(self) -> dict[str, str]:
        """The files of the lists, as stored in the result."""
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
    # Where a run lies is no part of its result.
    content: dict[str, Any] = plain(replace(result, folder=None), lists)
    content["format"] = FORMAT
    if lists is not None and (files := lists.close()):
        content["lists"] = files
    del content["folder"]
    if not clock or result.clock is None:
        del content["clock"]
    encode = json.JSONEncoder(
        ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    ).encode
    lines = ",\n".join(f"{encode(key)}:{_lines(content[key], encode)}" for key in sorted(content))
    return sealed(f"{{\n{lines}\n}}\n")


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
    >>> from_json('{"format": 10}', source="x.json")
    Traceback (most recent call last):
    ...
    scope.errors.RunError: found:    x.json is no result: at `manifest`: Field required
    expected: a result of format 10, as SCoPE writes it
    fix:      run the same command again, which rewrites the file
    """
    from pydantic import ValidationError

    try:
        content, had_checksum = unsealed(text)
    except ValueError as error:
        raise _no_result(source, str(error)) from error
    head = _head(content, source)
    kind = kind or _kind_of(head, source)
    if head.lists is not None and lists is None:
        raise _no_result(source, "its lists lie in files beside it, which are read with it")
    stored = lists(head.lists or {}) if lists is not None else None
    try:
        document = _document(cast(Any, kind)).validate_json(content, context=stored)
    except ValidationError as error:
        raise _unreadable(source, error) from error
    if not had_checksum:
        raise _no_result(source, "it has no checksum")
    members = {field.name: getattr(document, field.name) for field in fields(kind)}
    return kind(**members | {"folder": None})


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
        raise RunError(
            f"{source} has format {head.format!r}",
            expected=f"format {FORMAT}",
            fix="read it with the release of SCoPE that wrote it, or run the job again",
        )
    return head


def _kind_of(head: _Head, source: str) -> type[Result]:
    """The record of the job that a file is of."""
    try:
        kind: type[Result] = resolve_name(
            resolve_name("scope.jobs:job_named")(head.manifest.job).result
        )
    except SpecError as error:
        raise _no_result(source, error.found) from error
    except (AttributeError, ImportError) as error:
        raise _no_result(source, f"the record of its job: {error}") from error
    return kind


def _unreadable(source: str, error: ValidationError) -> RunError:
    """The first of the reader's complaints."""
    first = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"] if part not in PLACES)
    where = f"at `{place}`: " if place else ""
    return _no_result(source, f"{where}{first['msg']}")


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


class _Member(NamedTuple):
    """A field of a record: its type, the value that is left out, and whether it holds floats."""

    name: str
    hint: Any
    left_out: Any
    floats: bool
    is_long: bool


@cache
def _members(record: Any) -> tuple[_Member, ...]:
    hints = get_type_hints(record, include_extras=True)
    return tuple(
        _Member(
            field.name,
            hint := hints[field.name],
            _left_out(record, field),
            _holds_floats(hint),
            any(get_origin(inner) is Annotated for inner in (hint, *get_args(hint))),
        )
        for field in fields(record)
    )


def _left_out(record: Any, field: Any) -> Any:
    """The default of a field that a file leaves out; a mark that nothing is equal to otherwise."""
    if record in SPARSE or SPARSE_FIELD.items() <= field.metadata.items():
        return {} if field.default_factory is dict else field.default
    return MISSING


def _holds_floats(hint: Any) -> bool:
    """Whether numbers of this type are written as floats, also where they are whole."""
    inner = get_args(hint)
    return hint is float or (int not in inner and any(map(_holds_floats, inner)))


def plain(value: Any, lists: KeepsLists | None = None, *, floats: bool = False) -> Any:
    """A record or a value of one as JSON has it: in dicts and lists, floats with six decimals.

    Parameters
    ----------
    lists
        Keeps the lists that may be long.
    floats
        Whether whole numbers are written as floats: 1 and 1.0, which are equal, are written alike.
    """
    if isinstance(value, float) or (floats and isinstance(value, int)):
        # Adding nothing turns -0.0 into 0.0.
        return round(float(value), DECIMALS) + 0.0
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Mapping):
        return {key: plain(entry, lists, floats=floats) for key, entry in value.items()}
    if not is_dataclass(value):
        return [plain(entry, lists, floats=floats) for entry in value]
    return {
        member.name: _kept(member.hint, content, lists)
        if member.is_long and lists
        else plain(content, lists, floats=member.floats)
        for member in _members(cast(Any, type(value)))
        if (content := getattr(value, member.name)) != member.left_out
    }


def _kept(hint: Any, value: Any, lists: KeepsLists) -> Any:
    """The placeholder of a long list, or of each of several lists."""
    inner = get_args(hint)
    if get_origin(hint) is not Annotated:
        return [_kept(inner[0], part, lists) for part in value]
    return lists.put(inner[1].name, get_args(inner[0])[0], value) if value else []
