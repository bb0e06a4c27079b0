"""How sure a number is, from what it comes to without each group of pairs in turn.

Pairs that share a sentence are not independent, so they leave together: the group is the unit.
Nothing is supposed of how scores are distributed, and what two correlations share of their errors
is made up for by leaving the same group out of both.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from scope.probes.checks import Scores, checked_groups
from scope.records.estimates import Undefined

Groups = NDArray[np.intp]
"""Shape (pairs,): numbers of groups from 0, each of which occurs."""

METHOD = "jackknife over groups of pairs"

_FEWEST = 4
"""Groups; without one of three there may be two pairs left, which always lie on a line."""


def groups_of(groups: NDArray[np.int64] | None, pairs: int) -> Groups | Undefined:
    """The groups numbered from 0, each pair by itself where none are given; if they are enough."""
    found = np.arange(pairs) if groups is None else checked_groups(groups, pairs)
    if len(found) == 0 or found.max() + 1 < _FEWEST:
        unit = "pairs" if groups is None else "groups of pairs"
        return Undefined(reason=f"fewer than {_FEWEST} {unit}", n=pairs)
    return found


def half_width(without: Scores, level: float) -> float:
    """Half the interval around a number, from what it is without each group.

    The jackknife's variance, and Student's t of one degree of freedom fewer than groups.

    Examples
    --------
    A mean of 1, 2 and 6 is 4, 3.5 and 1.5 without one of them; its error is the root of 7 / 3:

    >>> round(half_width(np.array([4, 3.5, 1.5]), 0.95) / 4.302653, 4), (7 / 3) ** 0.5
    (1.5275, 1.5275252316519468)
    """
    groups = len(without)
    variance = (groups - 1) * float(without.var())
    return float(student.ppf((1 + level) / 2, groups - 1)) * math.sqrt(variance)
