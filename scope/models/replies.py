"""What of a language model's reply is the answer."""

from __future__ import annotations

import re
import string

_MARKS = string.punctuation + "“”‘’«»…–—"
_QUOTED = re.compile(r'["“«]([^"“”«»]*\w[^"“”«»]*)["”»]')
_QUOTES = ('""', "''", "``", "“”", "‘’", "«»")


def is_line(reply: str) -> bool:
    """Whether a line of the reply is over that says something.

    Examples
    --------
    >>> is_line(chr(10) + "In Paris"), is_line("In Paris" + chr(10))
    (False, True)
    """
    return "\n" in reply.lstrip()


def line(reply: str) -> str:
    """The first line that says something, without quotation marks around it.

    Examples
    --------
    >>> line(' "In Paris" '), line("“Go” by Ann")
    ('In Paris', '“Go” by Ann')
    """
    first = reply.strip().partition("\n")[0].strip()
    is_quoted = len(first) > 1 and first[0] + first[-1] in _QUOTES
    return first[1:-1].strip() if is_quoted else first


def is_filler(reply: str) -> bool:
    """Whether what follows in the reply cannot change its filler.

    Examples
    --------
    >>> is_filler("The word"), is_filler('The word is "river"'), is_filler("river" + chr(10))
    (False, True, True)
    """
    return is_line(reply) or _QUOTED.search(reply) is not None


def filler(reply: str) -> str | None:
    """The word that a reply puts in a blank, without the marks around it; None if there is none.

    It is the first word of the first line. Small chat models rather say: the word is "river". So
    where the line quotes something, it is the first word of the quotation.

    Examples
    --------
    >>> filler("river, of course"), filler('The missing word is "river."'), filler("____")
    ('river', 'river', None)
    """
    said = line(reply)
    quoted = _QUOTED.search(said)
    return _first_word(quoted[1]) if quoted else _first_word(said)


def _first_word(text: str) -> str | None:
    words = (word.strip(_MARKS) for word in text.split())
    return next((word for word in words if word), None)
