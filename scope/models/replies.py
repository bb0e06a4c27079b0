"""What of a language model's reply is the answer, the same for every kind of model."""

from __future__ import annotations

import re
import unicodedata

_QUOTED = re.compile(r'["“«]([^"“”«»]*\w[^"“”«»]*)["”»]')
_ENDED = re.compile(r'([^"“”«»]*\w)[.,;!?]?["”»]')
"""The end of a quotation that the prompt began."""

_QUOTES = ('""', "''", "``", "“”", "‘’", "«»", "„“")


def is_line(reply: str) -> bool:
    """Whether a line of the reply is over that says something.

    Examples
    --------
    >>> is_line(chr(10) + "In Paris"), is_line("In Paris" + chr(10))
    (False, True)
    """
    return "\n" in reply.lstrip()


def line(reply: str) -> str:
    """The first line that is not blank, without quotation marks around it.

    Examples
    --------
    >>> line(' "In Paris" '), line("“Go” by Ann"), line("“‘Go’”")
    ('In Paris', '“Go” by Ann', 'Go')
    """
    said = reply.strip().partition("\n")[0].strip()
    while len(said) > 1 and said[0] + said[-1] in _QUOTES:
        inner = said[1:-1]
        # The marks at the ends of a line may belong to two quotations; apostrophes to none.
        if any(mark in inner for mark in (said[0], said[-1]) if mark not in "'’"):
            break
        said = inner.strip()
    return said


def answer_text(reply: str) -> str | None:
    """The answer to a question: the reply's first line; None where that says nothing.

    Silence is no answer. It is not taken for the statement that a question cannot be answered,
    which is an empty text: else a model that says nothing would be right wherever nothing is to
    be found. No prompt that comes with SCoPE tells a model what to say there, so whatever it says
    is its answer as it stands. Only models that have a null answer, and answers that are given as
    an empty text, say that a question cannot be answered.

    Examples
    --------
    >>> answer_text(" In Paris"), answer_text(" "), answer_text('""')
    ('In Paris', None, None)
    """
    return line(reply) or None


def is_filler(reply: str) -> bool:
    """Whether what follows in the reply cannot change its filler.

    Examples
    --------
    >>> is_filler("The word"), is_filler('The word is "river"'), is_filler("river" + chr(10))
    (False, True, True)
    """
    return is_line(reply) or _quotation(reply.lstrip()) is not None


def filler(reply: str) -> str | None:
    """The word that a reply puts in a blank, without the marks around it; None if there is none.

    It is the first word of the first line. Small chat models rather say: the word is "river". So
    where the line quotes something, or ends a quotation that the prompt began, it is the first
    word of the quotation.

    Examples
    --------
    >>> filler("river, of course"), filler('The missing word is "river."'), filler("____")
    ('river', 'river', None)
    >>> filler('river". The next word is "sea".')
    'river'
    """
    said = line(reply)
    return _first_word(_quotation(said) or said)


def _quotation(said: str) -> str | None:
    found = _ENDED.match(said) or _QUOTED.search(said)
    return found[1] if found else None


def _first_word(text: str) -> str | None:
    """The first word that is more than punctuation; None where there is none."""
    for word in text.split():
        kept = [place for place, one in enumerate(word) if not _is_mark(one)]
        if kept:
            return word[kept[0] : kept[-1] + 1]
    return None


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"
