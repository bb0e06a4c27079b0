"""Checks of a capability's settings, each with its message."""

from __future__ import annotations

from typing import Any, get_args

from scope.errors import SpecError


def check_choice(setting: str, value: object, choices: Any) -> None:
    """Refuse what is none of these: the values of a Literal, or of a sequence.

    Examples
    --------
    >>> from typing import Literal
    >>> check_choice("words", "some", Literal["one", "all"])
    Traceback (most recent call last):
    ...
    scope.errors.SpecError: found:    the setting words=some
    expected: one of: one, all
    fix:      write for example --setting words=one
    """
    known = get_args(choices) or tuple(choices)
    if value not in known:
        raise SpecError(
            f"the setting {setting}={value}",
            expected=f"one of: {', '.join(known)}",
            fix=f"write for example --setting {setting}={known[0]}",
        )


def check_whole(setting: str, value: int, least: int, most: int) -> None:
    """Refuse a number beyond these limits.

    Examples
    --------
    >>> check_whole("max_words", 0, 1, 100)
    Traceback (most recent call last):
    ...
    scope.errors.SpecError: found:    the setting max_words=0
    expected: a whole number from 1 to 100
    fix:      correct the value, or omit max_words
    """
    if not isinstance(value, int) or not least <= value <= most:
        raise SpecError(
            f"the setting {setting}={value}",
            expected=f"a whole number from {least} to {most}",
            fix=f"correct the value, or omit {setting}",
        )
