"""Names in a gate: those with commas, brackets or quotes are quoted."""

from __future__ import annotations

import re

from scope.errors import SpecError

QUOTED = r""" "[^"]*" | '[^']*' """.replace(" ", "")
"""A name in quotes."""

_NAME = re.compile(rf"\s*({QUOTED}|[^,\"']*?)\s*(?:,|$)")


def names_in(listed: str, text: str) -> tuple[str, ...]:
    """The names that commas separate; those in quotes may hold commas and brackets.

    Parameters
    ----------
    listed
        The text in the brackets.
    text
        The whole gate, for the message.

    Raises
    ------
    SpecError
        When a quote is inside a name.

    Examples
    --------
    >>> names_in("typo, 'our model [v2, tuned]'", "a gate")
    ('typo', 'our model [v2, tuned]')
    """
    found, place = [], 0
    while place < len(listed):
        match = _NAME.match(listed, place)
        if match is None:
            raise SpecError(
                f"the gate `{text}` has a quote inside a name",
                expected="names separated by commas",
                fix="put the whole name in quotes of the other kind",
            )
        found.append(unquoted(match[1]))
        place = match.end()
    return tuple(filter(None, found))


def unquoted(name: str) -> str:
    """A name without the quotes around it.

    Examples
    --------
    >>> unquoted('"a,b"'), unquoted("student")
    ('a,b', 'student')
    """
    return name[1:-1] if re.fullmatch(QUOTED, name) else name
