"""Rounds probabilities so that they still sum to one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scope.models.huggingface import DECIMALS


def rounded(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities that sum to 1, rounded so that their sum and their order stay.

    Each is rounded down, and what is missing goes to those that lost most, the first of equals
    first: so the likeliest stays the likeliest.

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
