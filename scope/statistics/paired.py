"""One model against another, unit by unit: which of the two is more like the reference.

The units are examples whose parts are already summed. `scope.statistics.differences` does the same
for values in 0..1 from scratch, two-sided; here the differences are on any scale.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.records import Estimate, Undefined
from scope.statistics.differences import paired_difference

_RESAMPLES_AT_ONCE = 500


class PairedPValues(NamedTuple):
    """How often chance alone gives a sum at least as great as the one seen, and as small."""

    more: float
    less: float


def paired_p_values(
    differences: ArrayLike, generator: np.random.Generator, *, resamples: int = 9999
) -> PairedPValues:
    """Return the one-sided p-values of a sum of differences, by exchanging the two at random.

    Were both models alike, a unit's difference could as well have the other sign. Of ``resamples``
    random choices of signs, k give a sum at least as great (as small) as that seen, and
    p = (k + 1) / (resamples + 1). Where nothing differs, both are 1. Studentised the test would be
    the same: t rises with the sum, and the sum of squares has no sign to change.

    Parameters
    ----------
    differences
        First minus second, one number a unit; shape (units,).
    generator
        Source of the signs.

    Raises
    ------
    ValueError
        If a difference is not finite, or there are no resamples.

    Examples
    --------
    Of the four ways to give signs to two units, one has a sum as great as 5 and all as small:

    >>> p_values = paired_p_values([2, 3], np.random.default_rng(0))
    >>> round(p_values.more, 2), p_values.less
    (0.25, 1.0)
    """
    if resamples < 1:
        raise ValueError(f"a p-value takes at least one resample, not {resamples}")
    # Sorted: the generator's signs go to units by their values, whatever their order.
    moved = np.sort(_units(differences))
    moved = moved[moved != 0]
    # Equal sums must count as equal although their terms were added in another order.
    leeway = 1e-9 * float(np.abs(moved).sum())
    observed, more, less = float(moved.sum()), 0, 0
    for done in range(0, resamples, _RESAMPLES_AT_ONCE):
        count = min(_RESAMPLES_AT_ONCE, resamples - done)
        turned = generator.integers(0, 2, size=(count, len(moved)), dtype=np.bool_)
        sums = observed - 2 * (turned @ moved)
        more += int((sums >= observed - leeway).sum())
        less += int((sums <= observed + leeway).sum())
    return PairedPValues((more + 1) / (resamples + 1), (less + 1) / (resamples + 1))


def sum_estimate(
    differences: ArrayLike, *, level: float = 0.95, empty: str = "there is nothing to compare"
) -> Estimate | Undefined:
    """Return the sum of the differences, how sure it is, and the number of units.

    The interval is that of `paired_difference`, on a scale on which the greatest difference is 1:
    its two made-up units then differ as much as the greatest. Where nothing differs they differ by
    1, in the unit of the differences.

    Parameters
    ----------
    differences
        First minus second, one number a unit; shape (units,).
    level
        The interval's confidence level.
    empty
        The reason to give where there are no units.

    Raises
    ------
    ValueError
        If a difference is not finite.

    Examples
    --------
    The same as the mean of 1, 0, 1, 1, -1 and 1, 6 · 4 times as large:

    >>> print(sum_estimate([4, 0, 4, 4, -4, 4]))
    12.000 [-5.252, 23.252]
    """
    units = _units(differences)
    greatest = float(np.abs(units).max(initial=0.0)) or 1.0
    mean = paired_difference(
        units / greatest,
        np.zeros_like(units),
        [str(index) for index in range(len(units))],
        level=level,
        empty=empty,
    )
    if isinstance(mean, Undefined):
        return mean
    scale = greatest * mean.n
    return Estimate(
        value=scale * mean.value,
        low=scale * mean.low,
        high=scale * mean.high,
        n=mean.n,
        level=level,
        method="Bonett-Price, scaled to the greatest difference",
    )


def _units(differences: ArrayLike) -> NDArray[np.float64]:
    units = np.asarray(differences, dtype=np.float64)
    if units.ndim != 1 or not np.isfinite(units).all():
        raise ValueError("differences are finite numbers, one a unit")
    return units
