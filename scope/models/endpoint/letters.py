"""Which option a reply names, and the probabilities of all options.

A reply names an option by its letter, or in full. Probabilities come from the log-probabilities of
tokens.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from scope.models.endpoint.protocol import Position
from scope.models.probabilities import rounded
from scope.models.prompts import option_letter
from scope.models.replies import line, without_thought
from scope.records import Probabilities

MOST_OPTIONS = 26
"""The number of letters."""

_AROUND = " \t\n.,:;()[]{}<>*_\"'`"
"""Characters allowed around a letter in a token or a text: ``(A)``, `` A.``, ``**A**``."""

_OPENS = re.compile(r"[(\[*_`]*([A-Z])[.:)\]*_`]+(?=\s|$)")
_FOLLOWS = re.compile(
    r"(?:\b(?:answer\s+is|answer\s*:|(?<!not )option(?:\s+is)?)|\\boxed\s*\{(?:\\text\w*\{)?)"
    r"[\s:(\[*_`\"']*(?-i:([A-Z]))"
    # Else it may be a word: the answer is A cat.
    r"(?=[.,;:!?)\]}$*_`\"'’]+(?:\s|$)|\s*(?:\n|$)|\s+(?:[-–—(\[]|(?:because|since|as|or|and)\b"
    r"|is\s+(?:the\s+)?(?:correct|right|best)\b))",
    re.IGNORECASE,
)

_SEVERAL = re.compile(r"[^\w\n]*(?:\b(?:or|and)\b|[&/])|,\s*[A-HJ-Z]\b")
"""Follows a letter that is not the only answer."""


class Letter(NamedTuple):
    """A letter written as the answer: the index of its option, and its position in the text."""

    option: int
    place: int


def option_of(token: str, options: int) -> int | None:
    """The option whose letter the token is, with or without space and punctuation around it.

    Examples
    --------
    >>> [option_of(token, 4) for token in ("A", " B", "C.", "(D", "E", "a", "An")]
    [0, 1, 2, 3, None, None, None]
    """
    bare = token.strip(_AROUND)
    letters = [option_letter(index) for index in range(options)]
    return letters.index(bare) if bare in letters else None


def is_letter(reply: str) -> bool:
    """Whether the first line of a reply is over, and is a letter.

    Examples
    --------
    >>> is_letter("B" + chr(10)), is_letter("B"), is_letter("A cat" + chr(10))
    (True, False, False)
    """
    first, *over = (without_thought(reply) or "").lstrip().split("\n")
    return bool(over) and option_of(first, MOST_OPTIONS) is not None


def written_letter(text: str, options: int) -> Letter | None:
    """The letter that a text gives as its answer; None where it gives none, or several.

    Some letters are words, and any text may contain letters. So a letter counts only if it is the
    whole first line; if it opens the text and is marked, as in ``B.``, ``(B)`` or ``**B**``; or if
    it follows ``answer is``, ``answer:``, ``option`` or ``\\boxed{``, and the next word, if any,
    gives a reason or confirms the answer. Letters joined by ``or`` or ``and`` do not count.

    Examples
    --------
    >>> written_letter("(B)", 4), written_letter("The answer is C, since", 4)
    (Letter(option=1, place=1), Letter(option=2, place=14))
    >>> written_letter("I would say B", 9), written_letter("Option A or option B", 4)
    (None, None)
    """
    start = len(text) - len(text.lstrip())
    first = text[start:].partition("\n")[0]
    option = option_of(first, options)
    if option is not None:
        return Letter(option, start + first.index(option_letter(option)))
    opening = _OPENS.match(text, start)
    for matches in ([opening] if opening else [], list(_FOLLOWS.finditer(text))):
        named = [
            Letter(option, match.start(1))
            for match in matches
            if (option := option_of(match[1], options)) is not None
        ]
        if named:
            alone = not any(_SEVERAL.match(text, letter.place + 1) for letter in named)
            return named[0] if alone and len({letter.option for letter in named}) == 1 else None
    return None


def spelled_option(text: str, options: Sequence[str]) -> int | None:
    """The option whose text is the first line, ignoring case and surrounding marks.

    Examples
    --------
    >>> spelled_option("Paris.", ("Rome", "Paris")), spelled_option("In Paris", ("Rome", "Paris"))
    (1, None)
    >>> spelled_option("Paris", ("Paris", "paris"))
    """
    words = _bare(line(text))
    same = [index for index, option in enumerate(options) if words and _bare(option) == words]
    return same[0] if len(same) == 1 else None


def _bare(text: str) -> str:
    return text.strip(_AROUND).casefold()


_AFTER_TEXT = re.compile(r"\s*(?:(?:<[^<>\s]*>|\[/?[A-Z]+\])\s*)*")
"""What may follow a text among the tokens: those that end it."""

LEAST_MASS = 0.5
"""Least sum of the letters' probabilities where no letter is written, but for labels."""


def option_probabilities(
    positions: Sequence[Position],
    options: int,
    text: str,
    written: Letter | None,
    *,
    least: float = LEAST_MASS,
) -> Probabilities:
    """One probability per option, rounded to six decimals; empty where no letter was likely.

    The text is the end of the tokens, which may begin with the model's thought; where it is not,
    nothing is known of its probabilities. They are read at the position of the letter that the
    model writes as its answer. If it writes none, they are read at the first position where the
    letters together are at least as likely as all other tokens, except positions where it writes a
    letter as a word. The spellings of a letter are summed. The letters are scaled to a sum of 1,
    since other tokens are not options; an option that is not among the likeliest tokens gets 0.

    Parameters
    ----------
    positions
        The tokens of the reply, with those of a thought.
    options
        Number of options.
    text
        The text that answers.
    written
        The letter that is the text's answer, if it gives one.
    least
        Least sum of the letters' probabilities where no letter is written.

    Examples
    --------
    >>> likeliest = (("B", 0.5), (" B", 0.1), ("A", 0.2), ("The", 0.1))
    >>> option_probabilities([Position(token="B", likeliest=likeliest)], 3, "B", Letter(1, 0))
    (0.25, 0.75, 0.0)
    >>> refusal = Position(token="I", likeliest=(("I", 0.999), ("B", 1e-9)))
    >>> option_probabilities([refusal], 2, "I", None)
    ()
    """
    tokens = "".join(position.token for position in positions)
    start = tokens.rfind(text)
    if start < 0 or not _AFTER_TEXT.fullmatch(tokens, start + len(text)):
        return ()
    ends = list(accumulate(len(position.token) for position in positions))
    if written:
        position = positions[bisect_right(ends, start + written.place)]
        # If a token is longer, such as `B. cat`, its alternatives do not show the letters.
        is_letter = option_of(position.token, written.option + 1) is not None
        return _scaled(_masses(position, options)) if is_letter else ()
    for position in positions[bisect_right(ends, start) :]:
        masses = _masses(position, options)
        if option_of(position.token, options) is None and math.fsum(masses) >= least:
            return _scaled(masses)
    return ()


def _masses(position: Position, options: int) -> list[float]:
    masses = [0.0] * options
    for token, probability in position.likeliest:
        if (option := option_of(token, options)) is not None:
            masses[option] += probability
    return masses


def _scaled(masses: Sequence[float]) -> Probabilities:
    total = math.fsum(masses)
    return tuple(rounded(np.array(masses) / total).tolist()) if total else ()
