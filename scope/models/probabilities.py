"""From scores to the probabilities of options and of next tokens: rounded, and ranked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from scope.metrics.arrays import normalized
from scope.records import Answer, Prediction, Probabilities

DECIMALS = 6
"""Probabilities are rounded here: finer digits are noise of the hardware."""


def rounded(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities that sum to 1, rounded so that their sum and order are preserved.

    Each is rounded down, and the remainder goes to those that lost most, the first of equals first:
    so the likeliest stays the likeliest.

    Examples
    --------
    >>> rounded(np.array([1, 1, 1]) / 3).tolist()
    [0.333334, 0.333333, 0.333333]
    """
    units = probabilities * 10**DECIMALS
    whole = np.floor(units)
    missing = max(0, round(10**DECIMALS - whole.sum()))
    whole[np.argsort(whole - units, kind="stable")[:missing]] += 1
    return np.asarray(np.round(whole / 10**DECIMALS, DECIMALS))


def shares_of(numbers: Sequence[float]) -> Probabilities:
    """The probabilities that a user gives, so that they sum to 1, with six decimals."""
    return tuple(round(share, DECIMALS) for share in normalized(numbers).tolist())


def chosen(scores: Sequence[float], *, truncated: bool) -> Answer:
    """The likeliest option, the first of equals, with the softmax of the scores.

    There is no answer where a score is NaN, or none is finite.

    Examples
    --------
    >>> chosen([0.0, 0.0, -1000.0], truncated=False).probabilities
    (0.5, 0.5, 0.0)
    >>> chosen([0.0, math.nan], truncated=False).missing
    'no number'
    """
    if any(map(math.isnan, scores)) or math.isinf(max(scores)):
        return Answer(missing="no number", truncated=truncated)
    exponentials = np.exp(np.array(scores) - max(scores))
    probabilities = rounded(exponentials / exponentials.sum())
    return Answer(
        choice=int(probabilities.argmax()),
        probabilities=tuple(probabilities.tolist()),
        truncated=truncated,
    )


def next_tokens(
    likeliest: Iterable[tuple[str, float]], most: int, *, truncated: bool = False
) -> Prediction:
    """A prediction of next tokens: equal texts merged, rounded and ranked.

    Parameters
    ----------
    likeliest
        Texts of tokens with their probabilities, in any order; the remainder to 1 is the mass of
        all other tokens.
    most
        Number of tokens to keep.

    Examples
    --------
    >>> next_tokens([(" cat", 0.5), (" dog", 0.2), (" cat", 0.1)], 20)
    Prediction(probabilities=(0.6, 0.2), truncated=False, tokens=(' cat', ' dog'))
    """
    masses: dict[str, float] = {}
    # Sorted, so that neither sums nor rounding depend on the order.
    for token, probability in sorted(likeliest):
        masses[token] = masses.get(token, 0.0) + probability
    rest = max(0.0, 1 - math.fsum(masses.values()))
    shown = rounded(np.array([*masses.values(), rest]))[:-1].tolist()
    together = Prediction(probabilities=tuple(shown), tokens=tuple(masses), truncated=truncated)
    return ranked(together, most)


def ranked(prediction: Prediction, most: int) -> Prediction:
    """The likeliest tokens of a prediction, by falling probability; of equals, by text.

    Examples
    --------
    >>> ranked(Prediction(probabilities=(0.2, 0.2, 0.6), tokens=("b", "a", "c")), 2)
    Prediction(probabilities=(0.6, 0.2), truncated=False, tokens=('c', 'a'))
    """
    both = zip(prediction.tokens, prediction.probabilities, strict=True)
    kept = sorted(both, key=lambda pair: (-pair[1], pair[0]))[:most]
    return replace(
        prediction,
        probabilities=tuple(probability for _, probability in kept),
        tokens=tuple(token for token, _ in kept),
    )
