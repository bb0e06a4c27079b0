"""From the log-probabilities of tokens to the probabilities of options and next tokens."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from scope.models.endpoint.replies import Position
from scope.models.prompts import letter
from scope.records import Prediction, Probabilities

MOST_OPTIONS = 26
"""As many as there are letters."""

DECIMALS = 6
"""Finer digits are noise of the server's hardware."""

_AROUND = " \t\n.,:;()[]{}<>*_\"'`"
"""What may stand around a letter in a token or a text: ``(A)``, `` A.``, ``**A**``."""


def option_of(token: str, options: int) -> int | None:
    """The option whose letter the token is, with or without space and punctuation around it.

    Examples
    --------
    >>> [option_of(token, 4) for token in ("A", " B", "C.", "(D", "E", "a", "An")]
    [0, 1, 2, 3, None, None, None]
    """
    bare = token.strip(_AROUND)
    letters = [letter(index) for index in range(options)]
    return letters.index(bare) if bare in letters else None


def option_in(text: str, options: int) -> int | None:
    """The first option whose letter stands by itself in the text.

    Examples
    --------
    >>> option_in("The answer is (B).", 4), option_in("Because", 4)
    (1, None)
    """
    for match in re.finditer(r"(?<!\w)[A-Z](?!\w)", text):
        if (option := option_of(match[0], options)) is not None:
            return option
    return None


def option_probabilities(positions: Sequence[Position], options: int) -> Probabilities:
    """One probability an option, rounded to six decimals; empty where no letter was likely.

    They are read where the model writes the letter of an option, or, if it writes none, at the
    first position where one is among the likeliest tokens. The spellings of a letter are added
    up. The letters are scaled to a sum of 1: what the model might have said instead of a letter
    is no option, and an option that is not among the likeliest tokens gets 0.

    Examples
    --------
    >>> likeliest = (("B", 0.5), (" B", 0.1), ("A", 0.2), ("The", 0.1))
    >>> option_probabilities([Position(token="B", likeliest=likeliest)], 3)
    (0.25, 0.75, 0.0)
    """
    written = [one for one in positions if option_of(one.token, options) is not None]
    for position in (*written, *positions):
        masses = [0.0] * options
        for token, probability in position.likeliest:
            if (option := option_of(token, options)) is not None:
                masses[option] += probability
        if total := math.fsum(masses):
            return tuple(round(mass / total, DECIMALS) for mass in masses)
    return ()


def next_tokens(position: Position, most: int) -> Prediction:
    """The likeliest tokens at a position, the likeliest first, equal texts taken as one.

    Examples
    --------
    >>> likeliest = ((" cat", 0.5), (" dog", 0.2), (" cat", 0.1))
    >>> next_tokens(Position(token=" cat", likeliest=likeliest), 20)
    Prediction(probabilities=(0.6, 0.2), truncated=False, tokens=(' cat', ' dog'))
    """
    merged: dict[str, float] = {}
    for token, probability in position.likeliest:
        merged[token] = merged.get(token, 0.0) + probability
    ranked = _ranked({token: round(mass, DECIMALS) for token, mass in merged.items()})[:most]
    return Prediction(
        probabilities=tuple(mass for _, mass in ranked), tokens=tuple(token for token, _ in ranked)
    )


def _ranked(masses: Mapping[str, float]) -> list[tuple[str, float]]:
    """By falling probability; of equals, by text, since servers put them in any order."""
    return sorted(masses.items(), key=lambda entry: (-entry[1], entry[0]))
