"""The error of a claim at one look of several: at parts of one plan, and at two runs together.

A look at part of the planned texts claims with a smaller error than `ERROR`, so that all looks
together have it: the boundaries of O'Brien and Fleming (Biometrics 35, 1979, 549-556) for equally
many texts a look ask for a normal score of c √(K / k) at look k of K. The looks of one plan and
those of a second run with it err by `BOTH_RUNS` in all (benchmarks/verdict_error_rates_looks.py).
"""

from __future__ import annotations

import math

import numpy as np

from scope.records import ERROR
from scope.statistics.intervals import normal_quantile

SCORES = (normal_quantile(1 - 2 * ERROR), 1.9774, 2.0040, 2.0243)
"""The score that the last of one, two, three or four looks asks for."""

BOTH_RUNS = 0.028
"""One-sided error of a claim in the first of two runs, or else in the second on the texts of both.

Holm's correction keeps it less exactly: over fourteen endpoints it is at most .030.
"""


def error_at(look: int, looks: int) -> float:
    """The one-sided error of a claim at a look, the first being 1.

    Examples
    --------
    >>> [round(error_at(look, 4), 5) for look in (1, 2, 3, 4)]
    [3e-05, 0.0021, 0.00971, 0.02147]
    >>> error_at(1, 1)
    0.025
    """
    return round(_tail(SCORES[looks - 1] * math.sqrt(looks / look)), 9)


def error_of_second(correlation: float) -> float:
    """The one-sided error of a claim on the texts of two runs, if the first claimed nothing.

    ``correlation`` is that of the scores of the first run and of both; independent texts have
    the square root of the share of the first run.

    Examples
    --------
    >>> [round(error_of_second(math.sqrt(share)), 4) for share in (0.25, 0.5, 0.75, 1)]
    [0.0042, 0.0062, 0.0106, 0.025]
    """
    # Scores of the first run at which nothing is claimed, with their probabilities.
    first = np.linspace(-8, SCORES[0], 2001)
    weights = np.exp(-(first**2) / 2) / math.sqrt(2 * math.pi) * (first[1] - first[0])
    spread = math.sqrt(max(1 - correlation**2, 1e-9))
    low, high = SCORES[0], 4.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        beyond = [_tail(score) for score in (middle - correlation * first) / spread]
        missed = float((weights * beyond).sum()) > BOTH_RUNS - ERROR
        low, high = (middle, high) if missed else (low, middle)
    return _tail(low)


def _tail(score: float) -> float:
    """How likely a standard normal number is greater."""
    return math.erfc(score / math.sqrt(2)) / 2
