"""Turns the errors of libraries into messages, at loading and at inference."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from scope.errors import ModelError, ScopeError
from scope.printing import first_line

_OURS = Path(__file__).parents[1]
_ENDINGS = (KeyboardInterrupt, GeneratorExit)

Method = TypeVar("Method", bound=Callable[..., Any])


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Whatever is raised inside becomes a ModelError that names the model, and the file if known.

    Damaged files raise whatever the library that reads them raises, down to a panic of tokenizers,
    which is no Exception.

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
if it brings code of its own and you trust its author, add --trust-remote-code
    """
    try:
        yield
    except (ScopeError, *_ENDINGS):
        raise
    except BaseException as error:
        raise unreadable(name, first_line(error)) from error


def asking(method: Method) -> Method:
    """A method of a model of which what a library raises becomes a ModelError with its ``spec``.

    What our own lines raise stays as it is: that is a bug of ours, or a wrong call.
    """

    @functools.wraps(method)
    def asked(self: Any, *arguments: Any, **options: Any) -> Any:
        with _asking(self):
            return method(self, *arguments, **options)

    @functools.wraps(method)
    def asked_one_by_one(self: Any, *arguments: Any, **options: Any) -> Iterator[Any]:
        with _asking(self):
            yield from method(self, *arguments, **options)

    return asked_one_by_one if inspect.isgeneratorfunction(method) else asked  # type: ignore[return-value]


@contextmanager
def _asking(model: Any) -> Iterator[None]:
    try:
        yield
    except (ScopeError, *_ENDINGS):
        raise
    except BaseException as error:
        if _is_ours(error.__traceback__):
            raise
        raise ModelError(
            f"`{model.spec}` fails during inference ({first_line(error)})",
            expected="a model that answers every text up to its maximum length",
            fix="check that the tokenizer and the weights belong together; where memory is short, "
            "give a smaller --token-budget",
        ) from error


def _is_ours(trace: TracebackType | None) -> bool:
    """Whether the line that raised is in SCoPE's own code."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and _OURS in Path(trace.tb_frame.f_code.co_filename).parents


def unreadable(name: str, reason: str) -> ModelError:
    """The error of a checkpoint that its library cannot read."""
    return ModelError(
        f"`{name}` cannot be loaded ({reason})",
        expected="a folder with config.json, a tokenizer and *.safetensors",
        fix="check that the checkpoint is complete and that this transformers release knows it; "
        "if it brings code of its own and you trust its author, add --trust-remote-code",
    )
