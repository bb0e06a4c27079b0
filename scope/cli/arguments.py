"""What is wrong with a command's arguments, in the form of all other errors."""

from __future__ import annotations

from collections.abc import Sequence

from cyclopts import CycloptsError, MissingArgumentError, UnusedCliTokensError

from scope.errors import SpecError


def argument_error(error: CycloptsError) -> SpecError:
    """Our message for arguments that do not parse; what is wrong is in the parser's words."""
    error.verbose = False
    page = f"see `{' '.join(['scope', *(error.command_chain or ())])} --help`"
    if isinstance(error, UnusedCliTokensError):
        unused = error.unused_tokens or [""]
        return _unused(unused[0], error.root_input_tokens or (), page)
    problem = " ".join(str(error).split())
    option = error.argument.name if error.argument else ""
    if isinstance(error, MissingArgumentError) and option not in (error.root_input_tokens or ()):
        _, meant, suggestion = problem.partition(" Did you mean")
        problem = f"{option} is missing.{meant}{suggestion}"
    return SpecError(problem, expected="commands and options of the help page", fix=page)


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
    before = arguments[arguments.index(word) - 1] if arguments.count(word) == 1 else ""
    if before.startswith("--"):
        return SpecError(
            f"`{word}` after {before}, which takes no value",
            expected=f"{before} alone",
            fix=f"omit it; `> {word}` writes what a command prints to a file; {page}",
        )
    repeat = f"write {option} before each value, or quote a value with spaces"
    return SpecError(
        f"`{word}`, which belongs to no option",
        expected=f"one value after {option}" if option else "options with one value each",
        fix=f"{repeat if option else 'omit it'}; {page}",
    )
