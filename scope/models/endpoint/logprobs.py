"""From the log-probabilities of tokens to the probabilities of options."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from scope.models.endpoint.letters import Letter, option_of
from scope.models.endpoint.replies import Position
from scope.models.rounding import rounded
from scope.records import Probabilities

LEAST_MASS = 0.5
"""What the letters must have together where none is written: else the model rather says more."""


def option_probabilities(
    positions: Sequence[Position], options: int, text: str, written: Letter | None
) -> Probabilities:
    """One probability per option, rounded to six decimals; empty where no letter was likely.

    They are read where the model writes the letter of an option as its answer. Where it writes
    none, they are read at the first position where the letters are likelier than all else
    together, or as likely, save those at which it writes a letter as a word. The spellings of a
    letter are added up. The letters are scaled to a sum of 1: what the model might have said
    instead of a letter is no option, and an option that is not among the likeliest tokens gets 0.

    Parameters
    ----------
    positions
        The tokens of the reply.
    options
        How many there are.
    text
        What the tokens say.
    written
        The letter that is the text's answer, if it gives one.

    Examples
    --------
    >>> likeliest = (("B", 0.5), (" B", 0.1), ("A", 0.2), ("The", 0.1))
    >>> option_probabilities([Position(token="B", likeliest=likeliest)], 3, "B", Letter(1, 0))
    (0.25, 0.75, 0.0)
    >>> refusal = Position(token="I", likeliest=(("I", 0.999), ("B", 1e-9)))
    >>> option_probabilities([refusal], 2, "I", None)
    ()
    """
    if written:
        return _scaled(_masses(_position_of(written, positions, text), options))
    for position in positions:
        masses = _masses([position], options)
        if option_of(position.token, options) is None and math.fsum(masses) >= LEAST_MASS:
            return _scaled(masses)
    return ()


def _position_of(written: Letter, positions: Sequence[Position], text: str) -> Sequence[Position]:
    """The position at which the letter is written, if the tokens say what the text says."""
    tokens = [position.token for position in positions]
    start = "".join(tokens).find(text)
    if start < 0:
        return []
    position = positions[bisect_right(list(accumulate(map(len, tokens))), start + written.place)]
    # Of a token that says more, such as `B. cat`, the others do not show which letter it was.
    return [position] if option_of(position.token, written.option + 1) is not None else []


def _masses(positions: Sequence[Position], options: int) -> list[float]:
    masses = [0.0] * options
    for position in positions:
        for token, probability in position.likeliest:
            if (option := option_of(token, options)) is not None:
                masses[option] += probability
    return masses


def _scaled(masses: Sequence[float]) -> Probabilities:
    total = math.fsum(masses)
    if not total:
        return ()
    return tuple(rounded(np.array(masses) / total).tolist())
