"""Answers over an open vocabulary as rows: a column for each token named, one for all others.

A language model names its likeliest next tokens, other ones for every text. Answers are compared
over the union of what they name; the last column, the rest, holds the mass of what they do not.
"""

import math
from collections.abc import Sequence

import numpy as np

from scope.metrics.arrays import ProbabilityRows
from scope.records import Prediction


def open_rows(predictions: Sequence[Prediction]) -> ProbabilityRows:
    """Return one row a prediction over the union of their tokens, and the rest.

    A token that a prediction does not name counts 0 there: its mass stands in the rest. Columns
    are sorted by token, so that of equally probable tokens the first is the same in any company.

    Parameters
    ----------
    predictions
        Each with tokens.

    Returns
    -------
    ProbabilityRows
        Shape (predictions, tokens + 1); every row sums to 1.

    Examples
    --------
    >>> one = Prediction(tokens=(" sea", " end"), probabilities=(0.5, 0.25))
    >>> other = Prediction(tokens=(" sea", " war"), probabilities=(0.75, 0.25))
    >>> open_rows([one, other]).tolist()  # end, sea, war, rest
    [[0.25, 0.5, 0.0, 0.25], [0.0, 0.75, 0.25, 0.0]]
    """
    tokens = sorted({token for one in predictions for token in one.tokens})
    column = {token: place for place, token in enumerate(tokens)}
    rows = np.zeros((len(predictions), len(tokens) + 1))
    for row, prediction in zip(rows, predictions, strict=True):
        row[[column[token] for token in prediction.tokens]] = prediction.probabilities
        row[-1] = max(0.0, 1 - math.fsum(prediction.probabilities))
    return rows


def widened(rows: ProbabilityRows, columns: int) -> ProbabilityRows:
    """Return rows of `open_rows` with tokens that nobody names put in before the rest.

    Examples
    --------
    >>> widened(np.array([[0.75, 0.25]]), 4).tolist()
    [[0.75, 0.0, 0.0, 0.25]]
    """
    unnamed = np.zeros((len(rows), columns - rows.shape[1]))
    return np.hstack([rows[:, :-1], unnamed, rows[:, -1:]])
