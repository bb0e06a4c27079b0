"""What is wrong with a command's arguments, in the form of all other errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, get_args

from cyclopts import (
    App,
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    RepeatArgumentError,
    Token,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)

from scope.errors import SpecError


def argument_error(error: CycloptsError) -> SpecError:
    """The error of arguments that cyclopts refuses: found, expected and how to fix it."""
    error.verbose = False
    page = f"see `{' '.join(['scope', *(error.command_chain or ())])} --help`"
    unused = error.unused_tokens or [""]
    misspelt = [one for one in unused if one.startswith("-")]
    match error:
        case UnknownOptionError(token=token):
            refused = _unknown_option(token.keyword or token.value, error.app, page)
        case UnknownCommandError() if not misspelt:
            names = [name for name in error.app or () if not name.startswith("-")]
            refused = _unknown("command", unused[0], names, page, f"one of: {', '.join(names)}")
        case MissingArgumentError(keyword=str(name)):
            refused = _missing(f"{name} without a value", f"one value after {name}", page)
        case UnknownCommandError() | MissingArgumentError() if misspelt:
            refused = _unknown_option(misspelt[0], error.app, page)
        case MissingArgumentError(argument=argument) if argument is not None:
            refused = _missing(f"no {argument.name}", f"a value for {argument.name}", page)
        case RepeatArgumentError(token=Token(keyword=str(name))):
            refused = SpecError(f"{name} twice", expected=f"one {name}", fix="omit one of them")
        case UnusedCliTokensError():
            refused = _unused(unused[0], error.root_input_tokens or (), page)
        case CoercionError(token=Token() as token, argument=argument) if argument is not None:
            name = token.keyword or argument.name
            refused = _wrong_value(name, token.value, error.target_type, page)
        case _:
            refused = SpecError(str(error), expected="arguments of the command", fix=page)
    return refused


def _missing(found: str, expected: str, page: str) -> SpecError:
    return SpecError(found, expected=expected, fix=f"add the value; {page}")


def _unknown_option(written: str, app: App | None, page: str) -> SpecError:
    arguments = app.assemble_argument_collection() if app and app.default_command else ()
    names = [name for one in arguments if one.parse for name in one.names]
    return _unknown("option", written.partition("=")[0], names, page, "an option of the command")


def _unknown(what: str, written: str, names: Iterable[str], page: str, expected: str) -> SpecError:
    return SpecError(
        f"no {what} is called `{written}`", expected=expected, fix=_guess(written, names, page)
    )


def _guess(written: str, names: Iterable[str], page: str) -> str:
    close = get_close_matches(written, names, n=1, cutoff=0.7)
    return f"did you mean `{close[0]}`?" if close else page


def _unused(word: str, arguments: Sequence[str], page: str) -> SpecError:
    """The error of a word that belongs to no option, such as the second after one."""
    option = next(
        (
            option
            for option, value, one in zip(arguments, arguments[1:], arguments[2:], strict=False)
            if one == word and option.startswith("--") and not value.startswith("-")
        ),
        None,
    )
    repeat = f"write {option} before each value, or quote a value with spaces"
    return SpecError(
        f"`{word}`, which belongs to no option",
        expected=f"one value after {option}" if option else "options with one value each",
        fix=f"{repeat if option else 'omit it'}; {page}",
    )


def _wrong_value(name: str, value: str, kind: Any, page: str) -> SpecError:
    """The error of a value that is not of the option's type."""
    choices = [str(one) for one in get_args(kind)]
    expected = {bool: f"{name} without a value", float: "a number", int: "a whole number"}
    return SpecError(
        f"{name} {value}",
        expected=f"one of: {', '.join(choices)}"
        if choices
        else expected.get(kind, f"another value for {name}"),
        fix=_guess(value, choices, page),
    )
