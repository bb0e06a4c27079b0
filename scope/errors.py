"""Errors that a user can fix, and how foreign text and names are shown in messages.

Every message gives what was found, what was expected and how to fix it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

LINES_FOUND = 14
LINES_BESIDE = 4
"""Most lines of each part of a message, so that it fits on a screen."""


class ScopeError(Exception):
    """A mistake or a circumstance the user can fix; never raised for a bug.

    Parameters
    ----------
    found
        The problem, with the offending value.
    expected
        The accepted values.
    fix
        What to do now, as a command or an option where there is one.

    Examples
    --------
    >>> print(ScopeError("`hff:x`", expected="a scheme of hf, python", fix="write hf:x"))
    found:    `hff:x`
    expected: a scheme of hf, python
    fix:      write hf:x
    """

    summary: ClassVar[str] = "the request cannot be carried out"
    """A summary in a few words, the same for all errors of a kind."""

    def __init__(self, found: str, *, expected: str, fix: str) -> None:
        super().__init__(found, expected, fix)
        self.found = found
        self.expected = expected
        self.fix = fix

    def __str__(self) -> str:
        found = shortened(self.found, LINES_FOUND)
        expected, fix = (shortened(text, LINES_BESIDE) for text in (self.expected, self.fix))
        return f"found:    {found}\nexpected: {expected}\nfix:      {fix}"


class SpecError(ScopeError):
    """An unknown name or an invalid `scheme:rest` string."""

    summary = "invalid option or specification"


class DataError(ScopeError):
    """A data set that cannot be read or holds nothing to work on."""

    summary = "unusable data"


class ModelError(ScopeError):
    """A model that cannot be loaded, lacks a role, or answers nonsense; or code that fails."""

    summary = "unusable model or plugin"


class RunError(ScopeError):
    """A run folder that is locked, full, damaged or of another configuration."""

    summary = "unusable run"


class DamagedError(RunError):
    """A file of a run or of the cache that anything but SCoPE has changed."""


class ResourceError(ScopeError):
    """A missing resource other than the input: a lexicon, a package, a usable disk."""

    summary = "missing resource"


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
"""Halves of a pair of surrogates, and NUL: neither files nor the database take them."""

LETTERS_OF_A_LINE = 300
"""Most characters shown of an error of another library."""


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


def writable(text: str) -> str:
    r"""The text with what cannot be written as UTF-8, and NUL, replaced by U+FFFD.

    Examples
    --------
    >>> writable("a\ud800b") == "a\ufffdb", writable("plain")
    (True, 'plain')
    """
    return _UNWRITABLE.sub("\ufffd", text)


def unstorable(text: str) -> str:
    """Why a text cannot be written or stored, in words; empty where nothing is wrong.

    Examples
    --------
    >>> unstorable("fine"), unstorable("a\\0b"), unstorable("\\ud800")
    ('', 'a NUL character', 'half of a surrogate pair, which is no character,')
    """
    match = _UNWRITABLE.search(text)
    if match is None:
        return ""
    half = "half of a surrogate pair, which is no character,"
    return "a NUL character" if match[0] == "\0" else half


def shown(value: object, most: int = 60) -> str:
    """The ``repr`` of a foreign value, shortened to ``most`` characters; never fails.

    Examples
    --------
    >>> shown([0.5, 0.5]), shown("a" * 99, most=4)
    ('[0.5, 0.5]', "'aaa…")
    >>> shown(10**5000)
    'an int that cannot be shown'
    """
    text = _written(repr, value)
    if text is None:
        name = type(value).__name__
        return f"{'an' if name[:1] in 'aeiou' else 'a'} {name} that cannot be shown"
    return text if len(text) <= most else f"{text[:most]}…"


def first_line(error: BaseException) -> str:
    r"""Kind and first line of an error from elsewhere, for a message of ours; never fails.

    Examples
    --------
    >>> first_line(ValueError("one\ntwo")), first_line(KeyError())
    ('ValueError: one', 'KeyError')
    >>> first_line(ValueError("bad field 'n_layer':\n    not an integer"))
    "ValueError: bad field 'n_layer': not an integer"
    """
    name = type(error).__name__
    text = _written(lambda error: str(error).strip()[:LETTERS_OF_A_LINE], error)
    if text is None:
        return f"{name} (its text cannot be shown)"
    first, *more = text.splitlines() or [""]
    # Some libraries give the reason below what they were doing.
    first = f"{first} {more[-1].strip()}" if more and first.endswith(":") else first
    return f"{name}: {first}" if first else name


def _written(write: Callable[[Any], str], value: object) -> str | None:
    """The text that a foreign object gives of itself; None where it fails.

    `scope.protocols` could do so, but its errors are made of texts that are safe to print.
    """
    try:
        return write(value)
    except KeyboardInterrupt:
        raise
    # The ``__str__`` of a foreign object may do anything.
    except BaseException:  # noqa: BLE001
        return None


def shortened(text: str, lines: int, letters: int = 2000) -> str:
    r"""The text with at most so many lines and, about, letters: the middle is left out.

    Examples
    --------
    >>> print(shortened("1\n2\n3\n4\n5", lines=3))
    1
      … (3 lines left out)
    5
    >>> shortened("a" * 30, lines=3, letters=8)
    'aaaa … aaaa'
    """
    if len(text) > letters:
        text = f"{text[: letters // 2]} … {text[-(letters // 2) :]}"
    parts = text.split("\n")
    if len(parts) <= lines:
        return text
    head, tail = parts[: lines // 2], parts[len(parts) - (lines - 1) // 2 :]
    left_out = len(parts) - len(head) - len(tail)
    return "\n".join([*head, f"  … ({left_out} lines left out)", *tail])


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
    """The fix for an unknown name: the closest known names, or else ``otherwise``.

    Examples
    --------
    >>> did_you_mean("yi-34", ["yi-34b", "qwen-7b"], "look at the spelling")
    'did you mean `yi-34b`?'
    >>> did_you_mean("x", ["yi-34b", "qwen-7b"], "look at the spelling")
    'look at the spelling'
    """
    near = difflib.get_close_matches(name, list(known), n=most)
    return f"did you mean {' or '.join(f'`{match}`' for match in near)}?" if near else otherwise


def counted(number: int, noun: str) -> str:
    """A number and what it counts.

    Examples
    --------
    >>> counted(1, "model"), counted(0, "model"), counted(12000, "answer")
    ('1 model', '0 models', '12000 answers')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"
