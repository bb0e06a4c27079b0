"""From a distance without a unit to a score in the range that people used."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from scope.probes.checks import Scores

_WIDEST = 6.0
"""Either number lies between exp(-6) and exp(6)."""


class Calibration(NamedTuple):
    """``exp(-(scale * z) ** power)``: falls with z, and is 1 at 0 whatever the two numbers are."""

    scale: float = 1.0
    power: float = 1.0


def scores_of(
    strains: NDArray[np.float64], calibration: Calibration, low: float, high: float
) -> Scores:
    """Scores from ``low`` to ``high``, the higher the smaller the strain; exactly ``high`` at 0.

    Examples
    --------
    >>> scores_of(np.array([0.0, np.log(2), 1e9]), Calibration(), 1.0, 5.0).tolist()
    [5.0, 3.0, 1.0]
    """
    # What is too great for a number is as far apart as can be.
    with np.errstate(over="ignore"):
        powered = (calibration.scale * strains) ** calibration.power
    return np.clip(high + (high - low) * np.expm1(-powered), low, high)


def calibrate(strains: NDArray[np.float64], scores: Scores, low: float, high: float) -> Calibration:
    """The two numbers with the least squared error on scored pairs.

    The order of the pairs stays, so their rank correlation does.

    Examples
    --------
    >>> strains = np.array([0.1, 0.5, 1.0, 2.0])
    >>> found = calibrate(strains, 5 * np.exp(-((2 * strains) ** 0.5)), 0.0, 5.0)
    >>> round(found.scale, 2), round(found.power, 2)
    (2.0, 0.5)
    """

    def error(logarithms: NDArray[np.float64]) -> float:
        given = scores_of(strains, _from(logarithms), low, high)
        return float(np.square(given - scores).mean())

    return _from(minimize(error, np.zeros(2), method="Nelder-Mead").x)


def _from(logarithms: NDArray[np.float64]) -> Calibration:
    scale, power = np.exp(np.clip(logarithms, -_WIDEST, _WIDEST))
    return Calibration(float(scale), float(power))
