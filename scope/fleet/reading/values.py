"""What the values in a table's columns mean: names, texts, and whether an answer is right."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from scope.data.values import plain_label
from scope.fleet.reading.cells import UNKNOWN

_RIGHT: Mapping[str, int] = MappingProxyType(
    {"1": 1, "true": 1, "right": 1, "0": 0, "false": 0, "wrong": 0, "": UNKNOWN, "nan": UNKNOWN}
)


class UnreadableError(ValueError):
    """A value that cannot be read; ``found`` and ``expected`` say why."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(found, expected)
        self.found = found
        self.expected = expected


def name_of(value: object) -> str | None:
    """The value as a short name: a whole number is written without a point.

    Raises
    ------
    UnreadableError
        When it is neither a text nor a number.

    Examples
    --------
    >>> name_of(" llama "), name_of(7.0), name_of("7.0"), name_of("")
    ('llama', '7', '7', None)
    """
    if is_missing(value):
        return None
    if not isinstance(value, str | int | float):
        raise UnreadableError(f"{value!r:.60}", "a text or a number")
    return _storable(plain_label(str(value))) or None


def text_of(value: object) -> str | None:
    """The value as a text, as it is written; None where nothing is.

    Raises
    ------
    UnreadableError
        When it is no text.
    """
    if is_missing(value):
        return None
    if not isinstance(value, str | int | float):
        raise UnreadableError(f"{value!r:.60}", "a text")
    return _storable(str(value)) if str(value).strip() else None


def correct_of(value: object) -> int:
    """Whether an answer is right: 1 or 0, or -1 where nothing is said, or NaN.

    Raises
    ------
    UnreadableError
        When it is neither 0 or 1, nor true or false, nor right or wrong.

    Examples
    --------
    >>> correct_of("Right"), correct_of(False), correct_of(1.0), correct_of(None), correct_of("NaN")
    (1, 0, 1, -1, -1)
    """
    if is_missing(value):
        return UNKNOWN
    found = _RIGHT.get(plain_label(str(value)).casefold())
    if found is None:
        raise UnreadableError(
            f"{value!r:.60} for whether the answer is right",
            "0 or 1, true or false, right or wrong, or nothing where it is not known",
        )
    return found


def options_of(value: object) -> tuple[str, ...]:
    """The options of a question: a list of texts, ``{"text": […], …}`` as on the hub, or a text.

    Raises
    ------
    UnreadableError
        When it is nothing of these.

    Examples
    --------
    >>> options_of(["Ann", "Bob"]), options_of("A) Ann"), options_of(None)
    (('Ann', 'Bob'), ('A) Ann',), ())
    """
    listed = value.get("text") if isinstance(value, Mapping) else value
    if is_missing(listed) or isinstance(listed, str):
        alone = text_of(listed)
        return () if alone is None else (alone,)
    if not isinstance(listed, list | tuple) or not all(isinstance(one, str) for one in listed):
        raise UnreadableError(f"{value!r:.60} as the options", "a list of texts")
    return tuple(map(_storable, listed))


def whole_text(question: str | None, context: str | None, options: Sequence[str]) -> str | None:
    """A question with all that is to be read of it: its context and options on lines of their own.

    Examples
    --------
    >>> whole_text("Who?", None, ("Ann", "Bob"))
    'Who?\\nAnn\\nBob'
    """
    if question is None:
        return None
    return "\n".join([question, *([context] if context else []), *options])


def is_missing(value: object) -> bool:
    """Whether nothing is said: a null, or the NaN that stands for it in tables of numbers."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _storable(text: str) -> str:
    if "\0" in text:
        raise UnreadableError(f"a NUL character in {text!r:.60}", "text without one")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UnreadableError(
            f"half of a surrogate pair in {text!r:.60}", "text that can be written as UTF-8"
        ) from None
    return text
