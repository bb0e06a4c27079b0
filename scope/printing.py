"""Makes foreign text fit to be printed: no name may move the cursor or colour the screen."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""The text with control characters, but for tabs and line breaks, written as their codes.

    Those that turn the direction of writing count among them.

    Examples
    --------
    >>> printable("\x1b[31mred")
    '\\x1b[31mred'
    """
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)
