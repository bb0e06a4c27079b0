"""The boundary between SCoPE and code that is not its own: a user's model, a plugin.

Such code may fail in any way, also by ``sys.exit(0)``, which would end the command as if all were
well. Every call into it passes here, and every failure becomes a `ModelError` that names it. What
it leaves changed around it (the working folder, ``sys.path``, the standard streams) is put back,
so that paths and imports of SCoPE's own mean the same as before.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from scope.errors import ModelError, ScopeError
from scope.printing import first_line

_OURS = tuple(
    str(Path(__file__).parents[1] / name) + os.sep
    for name in ("scope", "perturbations", "capabilities", "reports")
)

# Not the attribute: a class of errors may have one of its own.
_TRACE = vars(BaseException)["__traceback__"].__get__


class ForeignCode:
    """Code of a user or a plugin; every call into it passes `call` or `entered`.

    Parameters
    ----------
    name
        The spec of the model, or what else names the code in messages.
    folders
        Where its modules are looked for first, as long as it runs.

    Examples
    --------
    >>> ForeignCode("python:mine:model").call("classify", len, [1, 2])
    2
    >>> ForeignCode("python:mine:model").call("classify", sys.exit, 0)
    Traceback (most recent call last):
    ...
    scope.errors.ModelError: found:    `python:mine:model` failed in `classify`: SystemExit: 0
    expected: code that runs without an error
    fix:      fix the code there
    """

    def __init__(self, name: str, *, folders: Iterable[str] = ()) -> None:
        self.name = name
        self._path = list(folders)

    def call(self, what: str, code: Callable[..., Any], *arguments: Any) -> Any:
        """What the code returns.

        Raises
        ------
        ModelError
            When it fails in whatever way; ``what`` names the method in the message.
        """
        with self.entered(what):
            return code(*arguments)

    def each(self, what: str, values: Iterable[Any]) -> Iterator[Any]:
        """The values of an iterable of such code, each fetched inside the boundary."""
        return each_within(partial(self.entered, what), values)

    @contextmanager
    def entered(self, what: str) -> Iterator[None]:
        """What is called inside is foreign code.

        Raises
        ------
        ModelError
            When it fails in whatever way.
        """
        # Here and not above: the command line starts sooner.
        from greenlet import GreenletExit, getcurrent

        with self.surroundings():
            try:
                yield
            # Ctrl-C is the user's.
            except (ScopeError, KeyboardInterrupt):
                raise
            # The one place for it: foreign code may raise anything.
            except BaseException as error:
                # A greenlet is ended by whoever switches between them; the first has no parent.
                if isinstance(error, GreenletExit) and getcurrent().parent is not None:
                    raise
                raise failure(self.name, what, error) from error

    @contextmanager
    def surroundings(self) -> Iterator[None]:
        """Give the code its own ``sys.path`` and put everything back when it has returned."""
        folder = _working_folder()
        streams = sys.stdin, sys.stdout, sys.stderr
        path, entries = sys.path, list(sys.path)
        path[:0] = [one for one in self._path if one not in entries]
        try:
            yield
        finally:
            known = set(entries) - set(self._path)
            self._path = [one for one in sys.path if isinstance(one, str) and one not in known]
            sys.path = path
            path[:] = entries
            sys.stdin, sys.stdout, sys.stderr = streams
            open_closed_descriptors()
            if folder is not None and _working_folder() != folder:
                with suppress(OSError):
                    os.chdir(folder)


def each_within(
    boundary: Callable[[], AbstractContextManager[None]], values: Iterable[Any]
) -> Iterator[Any]:
    """The values of an iterable, each fetched inside the boundary and used outside of it."""
    with boundary():
        iterator = iter(values)
    nothing_left = object()
    while True:
        with boundary():
            value = next(iterator, nothing_left)
        if value is nothing_left:
            return
        yield value


def failure(name: str, what: str, error: BaseException) -> ModelError:
    """The error of foreign code that has failed, with the line in that code."""
    return ModelError(
        f"`{name}` failed in `{what}`: {first_line(error)}{_place(_TRACE(error))}",
        expected="code that runs without an error",
        fix="fix the code there",
    )


def _place(trace: TracebackType | None) -> str:
    """The last line outside of SCoPE that was running, in brackets; empty if there is none."""
    found = ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(_OURS):
            found = f" ({file}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return found


def open_closed_descriptors() -> None:
    """Let closed standard streams lead nowhere.

    The next file that is opened would be taken for one.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)


def _working_folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - sys.path and messages hold strings
    except OSError:
        return None
