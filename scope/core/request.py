"""One dataclass per job: the Python signature, the command's options and the reproduce command.

A job: its name, its request, its implementation and its gates.
"""

from __future__ import annotations

import ast
import inspect
import shlex
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set, ValuesView
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import cache, wraps
from itertools import pairwise
from numbers import Integral
from pathlib import Path
from types import UnionType
from typing import (
    Annotated,
    Any,
    NamedTuple,
    ParamSpec,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from cyclopts import Parameter

from scope.core.options import (
    HIDDEN,
    OUTPUT,
    OUTSIDE_IDENTITY,
    Limits,
    described_type,
    fits,
    not_whole,
    option,
)
from scope.errors import SpecError, shown, unstorable
from scope.progress import Silent
from scope.protocols import Progress

_SEVERAL = (Sequence, Set, Iterator, ValuesView)

P = ParamSpec("P")
Asked = TypeVar("Asked", bound="Request")
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of every job.

    A field that takes several values takes one alone, too. Limits are checked when a request is
    made, whether from Python or from the command line.
    """

    run: Annotated[str | Path | None, option(OUTPUT, metavar="NAME"), OUTSIDE_IDENTITY] = None
    """Name or path of the run; by default a name computed from the configuration."""

    runs: Annotated[Path, option(OUTPUT, metavar="FOLDER"), OUTSIDE_IDENTITY] = Path("runs")
    """Folder under which runs are kept."""

    progress: Annotated[Progress, HIDDEN] = field(default_factory=Silent)
    """Progress display; none by default."""

    def __post_init__(self) -> None:
        for member in described(type(self)):
            value = getattr(self, member.name)
            if value is None and member.hidden:
                object.__setattr__(self, member.name, member.default)
            elif value is not None and member.repeats:
                # A data frame and a model of several modules are iterable, too.
                several = isinstance(value, _SEVERAL) and not isinstance(value, str)
                object.__setattr__(self, member.name, tuple(value) if several else (value,))
        check_values(self)

    def take(self, read: Callable[[Any], Any], *names: str) -> None:
        """Replace what Python passes in these fields by what ``read`` makes of it, if any."""
        for member in described(type(self)):
            value = getattr(self, member.name)
            if member.name in names and (value is not None or member.default is MISSING):
                taken = tuple(map(read, value or ())) if member.repeats else read(value)
                object.__setattr__(self, member.name, taken)


class Described(NamedTuple):
    """A field of a request: its option, and what decides how it is read and written."""

    name: str
    option: str
    default: Any
    limits: Limits | None
    whole: bool
    repeats: bool
    by_name: bool
    identifies: bool
    hidden: bool
    offers: type | None
    kind: Any


def described(kind: Any) -> tuple[Described, ...]:
    """The fields of a request's class, or of a dataclass of options; its own before inherited."""
    return _fields(kind)


@cache
def _fields(kind: Any) -> tuple[Described, ...]:
    hints = get_type_hints(kind, include_extras=True)
    known = {member.name: member for member in fields(kind)}
    names = dict.fromkeys(name for base in kind.__mro__ for name in inspect.get_annotations(base))
    return tuple(_described(known[name], hints[name]) for name in names if name in known)


def _described(member: Field[Any], hint: Any) -> Described:
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    parameter = next((note for note in notes if isinstance(note, Parameter)), Parameter())
    names = tuple(parameter.name or ()) or (f"--{member.name.replace('_', '-')}",)
    alternatives = get_args(kind) if get_origin(kind) in (Union, UnionType) else ()
    return Described(
        name=member.name,
        option=names[0],
        default=member.default if member.default_factory is MISSING else member.default_factory(),
        limits=next((note for note in notes if isinstance(note, Limits)), None),
        whole=kind is int or kind == int | None,
        repeats=Sequence in (get_origin(kind), *map(get_origin, alternatives)),
        by_name="=" in (parameter.metavar or ""),
        identifies=OUTSIDE_IDENTITY not in notes,
        hidden=parameter.parse is False,
        offers=next((note for note in notes if isinstance(note, type)), None),
        kind=kind,
    )


def check_values(options: object) -> None:
    """Refuse the first number outside its limits, and the first value of another type.

    Raises
    ------
    SpecError
        When a value is invalid.
    """
    for member in described(type(options)):
        value = getattr(options, member.name)
        if value is None and fits(None, member.kind):
            continue
        if member.whole:
            if not isinstance(value, Integral) or isinstance(value, bool):
                raise not_whole(member.option, value)
            object.__setattr__(options, member.name, int(value))
        if member.limits:
            member.limits.check(member.option, value)
            continue
        broken = next(filter(unstorable, _texts(value)), None)
        if broken or not fits(value, member.kind):
            name = member.name if member.hidden else member.option
            writable = "text that can be written as UTF-8"
            raise SpecError(
                f"{name} {shown(broken or value)}",
                expected=writable if broken else described_type(member.kind),
                fix=f"omit {name} for its default, or give such a value",
            )


def _texts(value: Any) -> Iterator[str]:
    """The texts that a field holds, alone, in a list or in a mapping."""
    parts = value if isinstance(value, tuple) else [value]
    if isinstance(value, Mapping):
        parts = [*value, *value.values()]
    return (part for part in parts if isinstance(part, str))


def changed(options: Any, kind: type | None = None) -> Iterator[tuple[Described, Any]]:
    """The options whose values are not their defaults, with these values.

    Of the models' options they are those that the command offers.
    """
    for member in described(kind or type(options)):
        value = getattr(options, member.name)
        if member.offers is not None:
            yield from changed(value, member.offers)
        elif not member.hidden and not _is_default(value, member.default):
            yield member, value


def _is_default(value: object, default: object) -> bool:
    """Whether the value equals the default.

    The default decides: a DataFrame or an array would compare its cells one by one.
    """
    if isinstance(value, tuple) and isinstance(default, tuple):
        return len(value) == len(default) and all(map(_is_default, value, default))
    return value is default or default.__eq__(value) is True


def refuse_unused(
    options: object, names: Collection[str], circumstance: str, expected: str, *, instead: str = ""
) -> None:
    """Refuse options that have no effect in a circumstance, such as "without --gate".

    Raises
    ------
    SpecError
        When one of these fields is not its default; the fix is to omit it, or ``instead``.
    """
    if unused := [member.option for member, _ in changed(options) if member.name in names]:
        named = " and ".join(unused)
        raise SpecError(
            f"{named} {circumstance}",
            expected=expected,
            fix=f"omit {named}{f', or {instead}' if instead else ''}",
        )


def reproduce(command: str, request: object) -> str:
    """The command with the same configuration: the options that identify a result and differ from
    their defaults.

    Examples
    --------
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Greeting:
    ...     names: Annotated[Sequence[str], Parameter(name="--name")] = ()
    ...     loud: bool = False
    >>> reproduce("greet", Greeting(names=("a b", "c"), loud=True))
    "scope greet --name 'a b' --name c --loud"
    """
    known = [pair for pair in changed(request) if pair[0].identifies]
    return " ".join(["scope", command, *(word for pair in known for word in _words(*pair))])


def _words(member: Described, value: Any) -> Iterator[str]:
    """The words of an option; none for values that Python accepts and a command does not."""
    if isinstance(value, bool):
        yield member.option if value else f"--no-{member.option.removeprefix('--')}"
        return
    if isinstance(value, Mapping):
        # In place of a file, a mapping is for Python alone.
        values = [(f"{key}=", each) for key, each in value.items()] if member.by_name else []
    elif isinstance(value, Sequence) and not isinstance(value, str):
        values = [("", each) for each in value or ("none",)]
    else:
        values = [("", "none" if value is None else value)]
    for key, each in values:
        # A prompt that is given as text has no file that a command could name.
        if not (member.option == "--prompt" and isinstance(each, str)):
            yield from (member.option, shlex.quote(f"{key}{_spelled(each)}"))


def _spelled(value: Any) -> str:
    """A value as a command spells it: objects by the spec or the name that they carry."""
    if isinstance(value, tuple):
        return ",".join(map(_spelled, value))
    if not isinstance(value, str | int | float | Path | None):
        value = getattr(value, "spec", None) or getattr(value, "name", None) or type(value).__name__
    return str(value)


def as_function(request: Callable[P, Asked], run: Callable[[Asked], Result]) -> Callable[P, Result]:
    """The Python function of a job: its signature and its parameters are the request's own."""

    kind: Any = request
    name, signature = run.__name__.removeprefix("run_"), _signature(request, run)

    def call(*args: P.args, **kwargs: P.kwargs) -> Result:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}(): {error}{_hint(request, kwargs)}") from None
        return run(request(*args, **kwargs))

    call.__module__ = run.__module__
    call.__name__ = call.__qualname__ = name
    call.__signature__ = signature  # type: ignore[attr-defined]
    # The request's docstring is followed by those of its fields.
    parameters = "\n".join(
        f"{name}\n{textwrap.indent(text, '    ')}" for name, text in documentation(kind).items()
    )
    about = inspect.cleandoc(kind.__doc__)
    call.__doc__ = f"{about}\n\nParameters\n----------\n{parameters}\n{_ENDS}"
    return call


def with_words(function: Callable[..., Result], words: str) -> Callable[..., Result]:
    """The function of a job; the values of this field may be given by position, too."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Result:
        return function(**({words: args} if args else {}), **kwargs)

    return call


def _hint(request: Any, arguments: Mapping[str, Any]) -> str:
    """A hint to pass options of models in ``model_options``."""
    offered = next(
        (member.offers for member in described(request) if member.offers is not None), None
    )
    names = [
        name for name in arguments if name in {member.name for member in fields(offered or request)}
    ]
    options = [name for name in names if name not in {member.name for member in fields(request)}]
    example = ", ".join(f"{name}=…" for name in options)
    return f"; write model_options=scope.ModelOptions({example})" if options else ""


def _signature(request: Any, run: Any) -> inspect.Signature:
    """The request's parameters with their plain types, the required ones first."""
    types = get_type_hints(request)
    defaults = {member.name: member.default for member in described(request)}
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=types[name],
            default=inspect.Parameter.empty if default is MISSING else default,
        )
        for name, default in sorted(defaults.items(), key=lambda pair: pair[1] is not MISSING)
    ]
    returned = run.__annotations__.get("return", inspect.Signature.empty)
    return inspect.Signature(parameters, return_annotation=returned)


_ENDS = """
Returns
-------
Result
    Prints as a table; ``to_frame``, ``to_json`` and ``to_html`` convert it. ``folder`` is the
    folder of its run.

Raises
------
ScopeError
    Whatever the user can fix: see `scope.errors`.
"""


def documentation(kind: type) -> dict[str, str]:
    """The docstring below each field of a dataclass and of its bases, the bases' fields last."""
    texts: dict[str, str] = {}
    for base in kind.__mro__:
        if is_dataclass(base):
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
            for pair in pairwise(tree.body if isinstance(tree, ast.ClassDef) else []):
                match pair:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(ast.Constant(text)):
                        texts.setdefault(name, inspect.cleandoc(str(text)))
    return texts


class Gates(Protocol):
    """Options that let a command fail by what was measured; a dataclass of such options."""

    def checked(self, request: Any) -> Any:
        """The request that the job gets, by default as it is; refuse what cannot be judged."""
        return request

    def judged(self, request: Any, result: Any) -> Mapping[str, Sequence[str]]:
        """The failures of each gate, a line each; a verdict's gate is named after its subject."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """One command of `scope` and one function of the package, from the same request.

    Parameters
    ----------
    name
        The command; two words for a command of a group, such as ``fleet embed``.
    request
        The dataclass of the job's arguments.
    run
        The function that takes the request and returns the result, as ``module:name``; it is
        imported when the job begins, so that help pages stay quick.
    result
        The record that it returns, as ``module:name``.
    page
        The function that makes the sections of the report of a result, as ``module:name``.
    gates
        The class of the gates that the command offers; None for none.
    prepare
        The function that takes the request and returns a `scope.jobs.runner.Prepared`, as
        ``module:name``; the command then offers ``--dry-run``.
    words
        The field whose values the words before the first option are, such as ``models``.
    """

    name: str
    request: type[Request]
    run: str
    result: str
    page: str
    gates: type[Gates] | None = None
    prepare: str = ""
    words: str = ""

    @property
    def key(self) -> str:
        """Its name in manifests: one word."""
        return self.name.replace(" ", "-")
