"""The error of a claim at one look of several: at parts of one plan, and at two runs together.

A look at part of the planned texts claims with a smaller error than `ERROR`, so that all looks
together have it: the boundaries of O'Brien and Fleming (Biometrics 35, 1979, 549-556) for equally
many texts a look ask for a normal score of c √(K / k) at look k of K. The looks of one plan
and that of a second run err .028 in all (benchmarks/verdict_error_rates_looks.py).
"""

from __future__ import annotations

import math

import numpy as np

from scope.records import ERROR
from scope.statistics.intervals import normal_quantile

SCORES = (normal_quantile(1 - 2 * ERROR), 1.9774, 2.0040, 2.0243)
"""The score that the last of one, two, three or four looks asks for."""

SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.97, 1.0)
ERRORS_OF_SECOND = (0.0031, 0.0042, 0.0062, 0.0105, 0.0167, 0.0229, ERROR)
"""By the share of the first run: with these either run errs in .028, by the two's normal scores.

Holm's correction keeps that less exactly: over fourteen endpoints it is .030.
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
    return round(math.erfc(SCORES[looks - 1] * math.sqrt(looks / look / 2)) / 2, 9)


def error_of_second(share: float) -> float:
    """The one-sided error of a claim on the texts of two runs, if the first claimed nothing.

    ``share`` is that of the first run's texts, or the squared correlation of the scores of the
    first run and of both, where texts count anew.

    Examples
    --------
    >>> error_of_second(0.5), round(error_of_second(0.6), 4)
    (0.0062, 0.0079)
    """
    return float(np.interp(share, SHARES, ERRORS_OF_SECOND))
