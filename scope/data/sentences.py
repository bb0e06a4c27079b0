"""Cuts running text into sentences by rules of its own, which need no trained model."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CLOSERS = r"[\"'”’»)\]]*"
_OPENERS = r"[\"'“‘«(\[]*"
_STOP = re.compile(rf"(\.\.\.|…|[.!?]+){_CLOSERS}\s+(?={_OPENERS}(\w+))")
_WHOLE = re.compile(rf"{_OPENERS}\w.*[.!?…]{_CLOSERS}")
_SPACED_DOTS = re.compile(r"\.(?:\s?\.)+")
_LONGEST_WORD = 30
_WORD_BEFORE = re.compile(r"[\w.]*$")
# Single letters, and letters with full stops between them.
_INITIALS = re.compile(r"[A-HJ-Z]|(?:[^\W\d_]\.)+[^\W\d_]")
_QUOTED = re.compile("“[^“”]*”")
_DEBRIS = re.compile(r"[_*<>|{}\\^~=@#]|\ufffd")

_TITLES = (
    "mr mrs ms messrs mme mlle mons dr st rev hon prof capt col gen lieut lt sgt maj gov sen rep "
    "pres supt insp sr jr mt vs viz cf"
)
BEFORE_NAMES = frozenset(_TITLES.split())
"""Abbreviations whose full stop ends no sentence."""

_COUNTED = "no nos vol chap ch fig p pp sec art"
BEFORE_NUMBERS = frozenset(_COUNTED.split())
"""Abbreviations of which the same is true where a number follows."""


def sentences(paragraph: str) -> Iterator[str]:
    """The sentences of a paragraph that stands on one line, in order.

    A full stop, question or exclamation mark, with the quotes that close after it, ends a sentence
    where a capital or a number follows; not so the full stop of an abbreviation or of initials.
    After an ellipsis, ``I`` goes on. A quote that opens in one sentence and closes in another is
    taken off both.

    Examples
    --------
    >>> list(sentences('Is it "No. 5, Mr. A. B. Hill?" he said. "Come in... I know. Sit."'))
    ['Is it "No. 5, Mr. A. B. Hill?" he said.', 'Come in... I know.', 'Sit.']
    """
    text = _SPACED_DOTS.sub("...", paragraph)
    begins = 0
    for stop in _STOP.finditer(text):
        before = text[max(0, stop.start() - _LONGEST_WORD) : stop.start()]
        if _ends_sentence(before, stop[1], stop[2]):
            yield _whole_quotes(text[begins : stop.end()].strip())
            begins = stop.end()
    if rest := text[begins:].strip():
        yield _whole_quotes(rest)


def is_clean(sentence: str) -> bool:
    """Whether it is a sentence from its first letter to its last mark, without debris.

    What was torn by a heading begins in the middle or has no end, and is none; nor is what holds
    one of two quotes.

    Examples
    --------
    >>> is_clean('"It rains," she said.'), is_clean("and went on."), is_clean("The _Beagle_ sank.")
    (True, False, False)
    """
    first = next((character for character in sentence if character.isalnum()), "")
    return (
        not first.islower()
        and _WHOLE.fullmatch(sentence) is not None
        and _DEBRIS.search(sentence) is None
        and sentence.count('"') % 2 == 0
        and not set("“”").intersection(_QUOTED.sub("", sentence))
    )


def _ends_sentence(before: str, stop: str, following: str) -> bool:
    if following[0].islower():
        return False
    if stop in ("...", "…"):
        return following != "I"
    if stop != ".":
        return True
    found = _WORD_BEFORE.search(before)
    word = found[0] if found else ""
    if following[0].isdigit() and word.casefold() in BEFORE_NUMBERS:
        return False
    return word.casefold() not in BEFORE_NAMES and not _INITIALS.fullmatch(word)


def _whole_quotes(sentence: str) -> str:
    """The sentence without a quote at its beginning or end that has no partner in it."""
    surplus = sentence.count("“") - sentence.count("”")
    odd = sentence.count('"') % 2
    if (surplus > 0 and sentence[0] == "“") or (odd and sentence[0] == '"'):
        return sentence[1:].lstrip()
    if (surplus < 0 and sentence[-1] == "”") or (odd and sentence[-1] == '"'):
        return sentence[:-1].rstrip()
    return sentence
