"""Next tokens in the order of their probability, in whatever order a model gives them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from scope.models.rounding import rounded
from scope.records import Prediction


def next_tokens(
    likeliest: Iterable[tuple[str, float]], most: int, *, truncated: bool = False
) -> Prediction:
    """What a model says of its next tokens: equal texts taken as one, rounded and ranked.

    Parameters
    ----------
    likeliest
        Texts of tokens with their probabilities, in any order; what these lack to 1 is the mass
        of the tokens that are not given.
    most
        How many tokens are kept.

    Examples
    --------
    >>> next_tokens([(" cat", 0.5), (" dog", 0.2), (" cat", 0.1)], 20)
    Prediction(probabilities=(0.6, 0.2), truncated=False, tokens=(' cat', ' dog'))
    """
    masses: dict[str, float] = {}
    # Sorted, so that neither sums nor rounding hang on the order.
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
    kept = sorted(both, key=lambda one: (-one[1], one[0]))[:most]
    return replace(
        prediction,
        probabilities=tuple(probability for _, probability in kept),
        tokens=tuple(token for token, _ in kept),
    )
