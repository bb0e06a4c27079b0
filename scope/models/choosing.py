"""From the scores of a question's options to an answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scope.models.rounding import rounded
from scope.records import Answer


def chosen(scores: Sequence[float], *, truncated: bool) -> Answer:
    """The likeliest option, the first of equals, with the softmax of the scores.

    Examples
    --------
    >>> chosen([0.0, 0.0, -1000.0], truncated=False).probabilities
    (0.5, 0.5, 0.0)
    """
    exponentials = np.exp(np.array(scores) - max(scores))
    probabilities = rounded(exponentials / exponentials.sum())
    return Answer(
        choice=int(probabilities.argmax()),
        probabilities=tuple(probabilities.tolist()),
        truncated=truncated,
    )
