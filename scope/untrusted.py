"""The boundary between SCoPE and code that is not its own: a user's model, a plugin, a library.

Such code may fail in any way, even by ``sys.exit(0)``, which would end the command without an
error. There are two ways to call it:

- `converting`: its failure becomes an error of SCoPE's. `loading` and `during_inference` do so for
  the libraries that read and run a checkpoint. `UntrustedCode` does for the code of users and
  plugins: `UntrustedCode.call` calls a piece of it and checks the result.
- `attempt`: its failure is a value, to be recorded or replaced by a default.

Changes by users' code to the working folder, ``sys.path`` and the standard streams are undone, so
that SCoPE's own paths and imports mean the same as before.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from scope.errors import ModelError, ScopeError, first_line

_OURS = tuple(
    str(Path(__file__).parents[1] / name) + os.sep
    for name in ("scope", "perturbations", "capabilities", "reports")
)

# Not the attribute: a class of errors may have one of its own.
_TRACE = vars(BaseException)["__traceback__"].__get__

Value = TypeVar("Value")
Method = TypeVar("Method", bound=Callable[..., Any])
Errors = tuple[type[BaseException], ...]

NOT_THEIRS: Errors = (ScopeError, KeyboardInterrupt)
"""The errors that pass unchanged: messages for the user, and Ctrl-C."""

# A generator of ours that is closed.
_ENDINGS = (*NOT_THEIRS, GeneratorExit)


class Failed(NamedTuple):
    """An exception raised by foreign code."""

    error: BaseException


def attempt(code: Callable[[], Value], *, passing: Errors = (KeyboardInterrupt,)) -> Value | Failed:
    """The result of the code, or its failure of any kind.

    Examples
    --------
    >>> attempt(lambda: 2)
    2
    >>> attempt(sys.exit)
    Failed(error=SystemExit())
    """
    try:
        return code()
    except passing:
        raise
    # Foreign code may raise anything.
    except BaseException as error:  # noqa: BLE001
        return Failed(error)


@contextmanager
def converting(
    into: Callable[[BaseException], BaseException | None], *, passing: Errors = NOT_THEIRS
) -> Iterator[None]:
    """Convert every exception that is raised inside with ``into``.

    Parameters
    ----------
    into
        Returns None for an error that passes unchanged.
    passing
        Errors that pass unchanged.
    """
    try:
        yield
    except passing:
        raise
    # Foreign code may raise anything.
    except BaseException as error:
        ours = into(error)
        if ours is None:
            raise
        raise ours from error


class UntrustedCode:
    """Code of a user or a plugin; every call into it passes `call` or `entered`.

    Parameters
    ----------
    name
        The spec of the model, or another name of the code in messages.
    folders
        Folders that are searched first for its modules while it runs.

    Examples
    --------
    >>> UntrustedCode("python:mine:model").call("classify", len, [1, 2])
    2
    >>> UntrustedCode("python:mine:model").call("classify", sys.exit, 0)
    Traceback (most recent call last):
    ...
    scope.errors.ModelError: found:    `python:mine:model` failed in `classify`: SystemExit: 0
    expected: code that runs without an error
    fix:      fix the code there
    """

    def __init__(self, name: str, *, folders: Iterable[str] = ()) -> None:
        self.name = name
        self._path = list(folders)

    def call(
        self,
        what: str,
        code: Callable[..., Any],
        *arguments: Any,
        check: Callable[..., Any] | None = None,
        **options: Any,
    ) -> Any:
        """The result of the code; what an iterator yields is fetched inside the boundary, too.

        Parameters
        ----------
        what
            Names the method in messages.
        check
            Gets the result and the arguments, inside the boundary; returns plain values, or refuses
            the result.

        Raises
        ------
        ModelError
            When the code fails in any way.
        """
        with self.entered(what):
            result = code(*arguments, **options)
            if check is not None:
                result = check(result, *arguments)
        return self.each(what, result) if isinstance(result, Iterator) else result

    def each(self, what: str | None, values: Iterable[Any]) -> Iterator[Any]:
        """The values of an iterable of such code, each fetched inside the boundary."""
        with self.entered(what):
            iterator = iter(values)
        nothing_left = object()
        while True:
            with self.entered(what):
                value = next(iterator, nothing_left)
            if value is nothing_left:
                return
            yield value

    @contextmanager
    def entered(self, what: str | None) -> Iterator[None]:
        """Foreign code runs inside; ``sys.path`` is its own, and everything is restored after it.

        Raises
        ------
        ModelError
            When it fails in any way; where ``what`` is None, its errors pass unchanged.
        """
        folder = _working_folder()
        streams = sys.stdin, sys.stdout, sys.stderr
        path, entries = sys.path, list(sys.path)
        path[:0] = [entry for entry in self._path if entry not in entries]
        try:
            with converting(partial(self._failure, what)) if what else nullcontext():
                yield
        finally:
            known = set(entries) - set(self._path)
            self._path = [
                entry for entry in sys.path if isinstance(entry, str) and entry not in known
            ]
            sys.path = path
            path[:] = entries
            sys.stdin, sys.stdout, sys.stderr = streams
            if folder is not None and _working_folder() != folder:
                with suppress(OSError):
                    os.chdir(folder)

    def _failure(self, what: str, error: BaseException) -> ModelError | None:
        # Imported here, so that the command line starts sooner.
        from greenlet import GreenletExit, getcurrent

        # A greenlet is ended by whoever switches between them; the first has no parent.
        if isinstance(error, GreenletExit) and getcurrent().parent is not None:
            return None
        return ModelError(
            f"`{self.name}` failed in `{what}`: {first_line(error)}{_place(_TRACE(error))}",
            expected="code that runs without an error",
            fix="fix the code there",
        )


def _place(trace: TracebackType | None) -> str:
    """The last line outside of SCoPE that was running, in brackets; empty if there is none."""
    place = ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(_OURS):
            place = f" ({file}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return place


def _working_folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - sys.path and messages hold strings
    except OSError:
        return None


def loading(name: str) -> AbstractContextManager[None]:
    """Every exception raised inside becomes a ModelError that names the model, and any known file.

    Damaged files raise any error of the library that reads them, even a panic of tokenizers, which
    is no Exception.

    Raises
    ------
    ModelError
        In place of every error that is not a ScopeError.

    Examples
    --------
    >>> with loading("mine"):
    ...     raise OSError("no weights")
    Traceback (most recent call last):
    ...
    scope.errors.ModelError: found:    `mine` cannot be loaded (OSError: no weights)
    expected: a folder with config.json, a tokenizer and *.safetensors
    fix:      check that the checkpoint is complete and that this transformers release knows it; \
if it brings code of its own and you trust its author, add --trust-remote-code; a model that needs \
another machine can be served there and named openai:URL#MODEL
    """
    return converting(lambda error: unreadable(name, first_line(error)), passing=_ENDINGS)


def unreadable(name: str, reason: str) -> ModelError:
    """The error of a checkpoint that its library cannot read."""
    return ModelError(
        f"`{name}` cannot be loaded ({reason})",
        expected="a folder with config.json, a tokenizer and *.safetensors",
        fix="check that the checkpoint is complete and that this transformers release knows it; "
        "if it brings code of its own and you trust its author, add --trust-remote-code; a model "
        "that needs another machine can be served there and named openai:URL#MODEL",
    )


def during_inference(method: Method) -> Method:
    """A model's method; errors that a library raises become a ModelError with the model's ``spec``.

    Errors raised by SCoPE's own lines pass unchanged: they are bugs, or wrong calls.
    """

    @functools.wraps(method)
    def asked(self: Any, *arguments: Any, **options: Any) -> Any:
        with converting(partial(_inference_failure, self), passing=_ENDINGS):
            return method(self, *arguments, **options)

    @functools.wraps(method)
    def asked_one_by_one(self: Any, *arguments: Any, **options: Any) -> Iterator[Any]:
        with converting(partial(_inference_failure, self), passing=_ENDINGS):
            yield from method(self, *arguments, **options)

    return asked_one_by_one if inspect.isgeneratorfunction(method) else asked  # type: ignore[return-value]


def _inference_failure(model: Any, error: BaseException) -> ModelError | None:
    """None where the line that raised is in SCoPE's own code."""
    trace = _TRACE(error)
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is not None and trace.tb_frame.f_code.co_filename.startswith(_OURS):
        return None
    return ModelError(
        f"`{model.spec}` fails during inference ({first_line(error)})",
        expected="a model that answers every text up to its maximum length",
        fix="check that the tokenizer and the weights belong together; where memory is short, "
        "give a smaller --token-budget",
    )
