"""Makes foreign text fit to be printed, and puts names into the words of a message."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""The text with control characters, but for tabs and line breaks, written as their codes.

    So no name moves the cursor or colours the screen. Those that turn the direction of writing
    count among them.

    Examples
    --------
    >>> printable("\x1b[31mred")
    '\\x1b[31mred'
    """
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


def listed(names: Iterable[str], most: int | None = None) -> str:
    """The names for a message, or the first of them, or the word that there is none.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], most=2), listed([])
    ('`a`, `b`, `c`', '`a`, `b`, …', '(none)')
    """
    quoted = [f"`{name:.60}`" for name in names]
    shown = ", ".join(quoted[:most]) or "(none)"
    return shown if len(quoted[:most]) == len(quoted) else f"{shown}, …"


def did_you_mean(name: str, known: Iterable[str], otherwise: str, most: int = 1) -> str:
    """How to mend a name that nothing has: by those that are near it, or else otherwise.

    Examples
    --------
    >>> did_you_mean("yi-34", ["yi-34b", "qwen-7b"], "look at the spelling")
    'did you mean `yi-34b`?'
    >>> did_you_mean("x", ["yi-34b", "qwen-7b"], "look at the spelling")
    'look at the spelling'
    """
    near = difflib.get_close_matches(name, list(known), n=most)
    return f"did you mean {' or '.join(f'`{one}`' for one in near)}?" if near else otherwise


def counted(number: int, noun: str) -> str:
    """A number and what it counts.

    Examples
    --------
    >>> counted(1, "model"), counted(0, "model"), counted(12000, "answer")
    ('1 model', '0 models', '12000 answers')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"
