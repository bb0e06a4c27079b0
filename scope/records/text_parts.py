"""Texts of several parts, such as a premise and a hypothesis, or a passage and a question.

Such a text is one string, with a separator between its parts, wherever a text is a key: in the
search, in kept answers and in the records of a result.
"""

from __future__ import annotations

from collections.abc import Sequence

SEPARATOR = "\x1e"
"""The record separator of ASCII, which no ordinary text holds."""


def joined(parts: Sequence[str]) -> str:
    """The parts as one text; a separator within a part becomes a space.

    Examples
    --------
    >>> joined(["A man sleeps.", "He is awake."])
    'A man sleeps.\\x1eHe is awake.'
    """
    return SEPARATOR.join(part.replace(SEPARATOR, " ") for part in parts)


def parts_of(text: str) -> tuple[str, ...]:
    """The parts of a text; most texts have one.

    Examples
    --------
    >>> parts_of("A man sleeps.\\x1eHe is awake.")
    ('A man sleeps.', 'He is awake.')
    >>> parts_of("He is awake.")
    ('He is awake.',)
    """
    return tuple(text.split(SEPARATOR))


def readable(text: str) -> str:
    """The text on one line of a message, with a bar between its parts.

    Examples
    --------
    >>> readable("A man sleeps.\\x1eHe is awake.")
    'A man sleeps. | He is awake.'
    """
    return " | ".join(parts_of(text))


def with_part(text: str, place: int, part: str) -> str:
    """The text with another part at this place, from 0; -1 is the last.

    Examples
    --------
    >>> with_part("A man sleeps.\\x1eHe is awake.", -1, "He dreams.")
    'A man sleeps.\\x1eHe dreams.'
    """
    parts = [*parts_of(text)]
    parts[place] = part
    return joined(parts)
