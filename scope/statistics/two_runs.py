"""Two runs of one task, counted: the exact test, the share of accuracy kept, what n can detect.

Items are independent and either right or wrong in each run; *lost* are right in the first run
alone, *gained* in the second alone.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from scope.records import Estimate, Undefined
from scope.statistics.intervals import LEVEL, normal_quantile
from scope.statistics.margins import Discordance, Numbers, Tails, fewest_texts, loss_tails

_HALVINGS = 60

POWER = 0.8
"""How likely a difference that can be detected is found."""
FEWEST_ITEMS = 4
"""With fewer items even a model that loses all of them is not detected."""


def mcnemar_p_value(gained: int, lost: int) -> float:
    """Return the two-sided p-value of McNemar's exact test: are gains as likely as losses?

    1 where no item changes.

    Examples
    --------
    One of six falls to one side: 2 · (1 + 6) / 64.

    >>> round(mcnemar_p_value(1, 5), 5), mcnemar_p_value(0, 0)
    (0.21875, 1.0)
    """
    # Here and not above: scipy.special takes half a second to import.
    from scipy.special import bdtr

    changed = gained + lost
    return min(1.0, 2 * float(bdtr(min(gained, lost), changed, 0.5))) if changed else 1.0


def recovery(
    both: float, lost: float, gained: float, n: int, *, level: float = LEVEL
) -> Estimate | Undefined:
    """Return the second run's accuracy over the first's, with the interval of `recovery_tails`.

    Parameters
    ----------
    both, lost, gained
        Number of items right in both runs, in the first alone, in the second alone; not whole
        where items weigh differently.
    n
        Number of items.

    Returns
    -------
    Estimate or Undefined
        At least 0; above 1 where the second run is more accurate.

    Examples
    --------
    >>> print(recovery(60, 20, 10, 100))
    0.875 [0.749, 1.010]
    >>> print(recovery(0, 0, 10, 100))
    undefined (the reference is right on no item)
    """
    first, second, z = both + lost, both + gained, normal_quantile(level)
    if first <= 0:
        return Undefined(reason="the reference is right on no item", n=n)
    # As a share of the sum of both the ratio has an end.
    value, share = second / first, second / (first + second)
    low, high = _end(both, lost, gained, z, 0.0, share), _end(both, lost, gained, -z, share, 1.0)
    return Estimate(
        value=value,
        low=min(value, low),
        high=max(value, high),
        n=n,
        level=level,
        method="score of Nam and Blackwelder, ratio of paired shares",
    )


def recovery_tails(both: ArrayLike, lost: ArrayLike, gained: ArrayLike, least: float) -> Tails:
    """Return how likely such a recovery is if the true one is ``least``, below 1.

    Nam and Blackwelder's score (Statistics in Medicine 21, 2002, 689-699): what the second run has
    more than ``least`` of the first's right items, over its deviation were that the true recovery.
    *Beyond* is also the binomial tail of the net losses among the items that the first has right.

    Chosen by simulation, .025 wanted (accuracy .35 to .9, 100 to 2,000 items of which 1 to 15 %
    differ, recovery .95 to .99): it errs up to .027 *within*. Bonett and Price's interval (2006)
    errs up to .092, a normal one of each item's difference with two made-up items .049.

    Examples
    --------
    Nothing is lost of the 125 right items that 0.97 asks for at least:

    >>> round(float(recovery_tails(125, 0, 0, 0.97).within), 4)
    0.0246
    """
    # Here and not above: scipy.special takes half a second to import.
    from scipy.special import ndtr

    score, first = recovery_score(both, lost, gained, least), np.add(both, lost)
    net = loss_tails(Discordance(np.zeros(()), np.subtract(lost, gained), first), 1 - least)
    enough = first >= fewest_texts(1 - least)
    return Tails(np.where(enough, ndtr(-score), 1.0), np.maximum(ndtr(score), net.beyond))


def recovery_score(both: ArrayLike, lost: ArrayLike, gained: ArrayLike, ratio: float) -> Numbers:
    """Return a number that is standard normal where ``ratio`` is the true recovery.

    The shares of lost and gained items are their likeliest ones at that ratio, in closed form.

    Examples
    --------
    >>> round(float(recovery_score(125, 0, 0, 0.97)), 2)
    1.97
    """
    kept, losses, gains = (np.asarray(count, dtype=np.float64) for count in (both, lost, gained))
    first, second = kept + losses, kept + gains
    root = np.sqrt((second - ratio**2 * first) ** 2 + 4 * ratio**2 * gains * losses)
    likely = (ratio**2 * (first + 2 * gains) - second + root) / (2 * ratio * (ratio + 1))
    variance = ratio * ((1 + ratio) * likely + (1 - ratio) * (first + gains))
    return np.asarray((second - ratio * first) / np.sqrt(np.maximum(variance, 1e-12)))


def _end(both: float, lost: float, gained: float, z: float, low: float, high: float) -> float:
    """Return the ratio at which the score is z, searched as a share of ratio + 1."""
    for _ in range(_HALVINGS):
        middle = min(max((low + high) / 2, 1e-12), 1 - 1e-12)
        score = recovery_score(both, lost, gained, middle / (1 - middle))
        low, high = (middle, high) if score > z else (low, middle)
    return middle / (1 - middle)


def detectable_difference(changed: Estimate) -> Estimate | Undefined:
    """Return the smallest true difference of accuracy that ``n`` items show with a power of 0.8.

    By the normal approximation of McNemar's test (Connor, Biometrics 43, 1987), two-sided, solved
    for the difference; a share of changed items below the difference is raised to it.

    Parameters
    ----------
    changed
        Share of the items that are right in one run alone. Its interval gives that of the result.

    Examples
    --------
    >>> share = Estimate(value=0.1, low=0.08, high=0.12, n=1000, method="Wilson")
    >>> print(detectable_difference(share))
    0.028 [0.025, 0.031]
    """
    if changed.n < FEWEST_ITEMS:
        return Undefined(reason=f"fewer than {FEWEST_ITEMS} items", n=changed.n)
    value, low, high = (
        _detectable(changed.n, share) for share in (changed.value, changed.low, changed.high)
    )
    return Estimate(
        value=value,
        low=low,
        high=high,
        n=changed.n,
        level=changed.level,
        method="McNemar's normal approximation, by the share of changed items",
    )


def _detectable(n: int, changed: float) -> float:
    """Return the difference at which the statistic reaches both quantiles; it rises from 0 on."""
    # normal_quantile is two-sided: -z..z.
    error, wanted = normal_quantile(LEVEL), normal_quantile(2 * POWER - 1)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        share = max(changed, middle)
        needed = error * math.sqrt(share) + wanted * math.sqrt(share - middle**2)
        low, high = (low, middle) if math.sqrt(n) * middle >= needed else (middle, high)
    return high
