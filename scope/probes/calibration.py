"""From a distance without a unit to a score in the range that people used."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from scope.probes.checks import Scores

_WIDEST = 6.0
"""Scale and power lie between exp(-6) and exp(6)."""

_STARTS = ((0.0, 0.0), (-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0))
"""Logarithms of scale and power from which the least error is sought."""


class Calibration(NamedTuple):
    """``exp(-(scale * z / unit) ** power)``: falls with z, and is 1 at 0 whatever the numbers are.

    ``unit`` is a usual z, so that the scale is near 1 however small the distances of a model are.
    """

    scale: float = 1.0
    power: float = 1.0
    unit: float = 1.0


def scores_of(
    dissimilarities: NDArray[np.float64], calibration: Calibration, low: float, high: float
) -> Scores:
    """Scores from ``low`` to ``high``: the smaller the dissimilarity, the higher; ``high`` at 0.

    Examples
    --------
    >>> scores_of(np.array([0.0, np.log(2), 1e9]), Calibration(), 1.0, 5.0).tolist()
    [5.0, 3.0, 1.0]
    """
    # What is too great for a number is as far apart as can be.
    with np.errstate(over="ignore"):
        powered = (calibration.scale * (dissimilarities / calibration.unit)) ** calibration.power
    return np.clip(high + (high - low) * np.expm1(-powered), low, high)


def calibrate(
    dissimilarities: NDArray[np.float64], scores: Scores, low: float, high: float
) -> Calibration:
    """The scale and the power with the least squared error on scored pairs.

    The unit is the median of the dissimilarities above 0. The order of the pairs stays, so their
    rank correlation does.

    Examples
    --------
    >>> dissimilarities = np.array([0.1, 0.5, 1.0, 2.0])
    >>> found = calibrate(dissimilarities, 5 * np.exp(-((2 * dissimilarities) ** 0.5)), 0.0, 5.0)
    >>> round(found.scale / found.unit, 2), round(found.power, 2), found.unit
    (2.0, 0.5, 0.75)
    """
    some = dissimilarities[dissimilarities > 0]
    unit = float(np.median(some)) if some.size else 1.0

    def error(logarithms: NDArray[np.float64]) -> float:
        given = scores_of(dissimilarities, _from(logarithms, unit), low, high)
        return float(np.square(given - scores).mean())

    found = [minimize(error, np.array(start), method="Nelder-Mead") for start in _STARTS]
    # The first of equals.
    return _from(min(found, key=lambda one: float(one.fun)).x, unit)


def _from(logarithms: NDArray[np.float64], unit: float) -> Calibration:
    scale, power = np.exp(np.clip(logarithms, -_WIDEST, _WIDEST))
    return Calibration(float(scale), float(power), unit)
