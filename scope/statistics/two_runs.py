"""Two runs of one task, counted: the exact test, the share of accuracy kept, what n can detect.

Items are independent and either right or wrong in each run; *lost* are right in the first run
alone, *gained* in the second alone.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scope.records import ERROR, Estimate, PooledDifference, Undefined
from scope.statistics.intervals import LEVEL, normal_quantile, wilson
from scope.statistics.paired import paired_difference, paired_p_values

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


def recovery(both: int, lost: int, gained: int, n: int) -> Estimate | Undefined:
    """Return the second run's accuracy over the first's, with an interval for paired shares.

    The interval is Bonett and Price's (Biometrical Journal 48, 2006): Wilson's bounds of both
    shares, among the items that either answers correctly, narrowed by what the pairing saves.

    Parameters
    ----------
    both, lost, gained
        Number of items right in both runs, in the first alone, in the second alone.
    n
        Number of items.

    Returns
    -------
    Estimate or Undefined
        At least 0; above 1 where the second run is more accurate.

    Examples
    --------
    >>> print(recovery(60, 20, 10, 100))
    0.875 [0.757, 1.012]
    >>> print(recovery(0, 0, 10, 100))
    undefined (the reference is right on no item)
    """
    first, second, some = both + lost, both + gained, both + lost + gained
    if not first:
        return Undefined(reason="the reference is right on no item", n=n)
    apart = math.sqrt((lost + gained + 2) / ((first + 1) * (second + 1)))
    errors = [math.sqrt((1 - (of + 1) / (some + 2)) / (of + 1)) for of in (first, second)]
    z = normal_quantile(LEVEL) * apart / sum(errors)
    low_first, high_first = wilson(first / some, some, z)
    low_second, high_second = wilson(second / some, some, z)
    value = second / first
    return Estimate(
        value=value,
        # Wilson's bounds enclose each share but for the last bit.
        low=min(value, max(0.0, low_second) / high_first),
        high=max(value, high_second / low_first),
        n=n,
        method="Bonett-Price, ratio of paired shares",
    )


def items_to_decide(difference: Estimate, limit: float, *, targets: int = 1) -> int | None:
    """Return how many items show on which side of a limit a difference is, if it is as seen here.

    With a power of 0.8, by the normal approximation: the width of the interval gives the deviation
    of an item's difference. Corrected over ``targets`` as Holm's first step is; None at the limit.

    Examples
    --------
    >>> seen = Estimate(value=-0.026, low=-0.044, high=-0.009, n=1000, method="Tango's score")
    >>> items_to_decide(seen, -0.02), items_to_decide(seen, -0.026)
    (17382, None)
    """
    beyond = abs(difference.value - limit)
    deviation = (difference.high - difference.low) / (2 * normal_quantile(difference.level))
    quantiles = normal_quantile(1 - 2 * ERROR / targets) + normal_quantile(2 * POWER - 1)
    if beyond < 1e-9 or not deviation:
        return None
    return math.ceil(difference.n * (quantiles * deviation / beyond) ** 2)


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


def pooled_differences(
    changes: Mapping[str, Sequence[int]], first: str, second: str, *, seed: int = 0
) -> tuple[PooledDifference, ...]:
    """Return the difference of accuracy of two runs of several tasks, pooled in four ways.

    *Pooled*, *max drop* and *Fisher* are those of Kübler et al. (ICLR 2026, arXiv 2602.10144), who
    find a degradation where one of the three p-values is at most a third of the error rate.

    - *pooled*: all items as those of one task, by McNemar's exact test. Long tasks weigh most.
    - *mean of tasks*: each task weighs the same, by weights of its items. Its p-value is that of
      random signs; its interval also holds the spread between the tasks.
    - *max drop*: the task whose standardized drop, (lost - gained) / √(lost + gained), is greatest.
      The p-value is that of the greatest of all tasks, exact where Kübler et al. simulate; the
      interval is corrected for the number of tasks.
    - *Fisher*: the exact p-values of the tasks, combined; there is no difference to it.

    Parameters
    ----------
    changes
        By task, 1 for each item that the second run gained, -1 for each that it lost, else 0.
    first, second
        Names of the runs, for the record.
    seed
        Of the random signs.

    Examples
    --------
    The second task loses all of 4 items, which chance does with 1/16; the two changed items of the
    first could not lose as much:

    >>> changes = {"a": [1, -1, 0, 0], "b": [-1, -1, -1, -1]}
    >>> for way in pooled_differences(changes, "old", "new"):
    ...     print(way.way, getattr(way.estimate, "value", None), round(way.p_value, 3))
    pooled -0.5 0.109
    mean of tasks -0.5 0.108
    max drop -1.0 0.062
    Fisher None 0.19
    """
    from scipy.special import bdtr, chdtrc

    each = [np.asarray(signs, dtype=np.float64) for signs in changes.values()]
    gained = np.array([(signs > 0).sum() for signs in each])
    changed = np.array([np.count_nonzero(signs) for signs in each])
    p_values, spread = bdtr(gained, changed, 0.5), np.sqrt(np.maximum(changed, 1))
    drops = (changed - 2 * gained) / spread
    worst = int(drops.argmax())
    # So few gains are a drop as great in another task; the last bit must not decide.
    few = np.floor((changed - drops[worst] * spread) / 2 + 1e-9)
    as_great = np.where(few < 0, 0.0, bdtr(np.maximum(few, 0), changed, 0.5))
    every, tasks = np.concatenate(each), tuple(changes)
    weights = np.concatenate([np.full(len(signs), 1 / len(signs)) for signs in each])
    weighted = weights * every * len(every) / len(each)
    by_signs = paired_p_values(weighted, np.random.default_rng(seed)).less
    none = Undefined(reason="it combines p-values, not differences", n=len(every))
    of_worst = _mean(each[worst], level=1 - 0.05 / len(each))
    # There is no logarithm of 0.
    fisher = -2 * np.log(np.maximum(p_values, 1e-300)).sum()
    any_as_great = -np.expm1(np.log1p(-np.minimum(as_great, 1 - 1e-16)).sum())
    width = float(weights.max()) * len(every) / len(each)
    ways: Any = (
        ("pooled", tasks, _mean(every), bdtr(gained.sum(), changed.sum(), 0.5)),
        ("mean of tasks", tasks, _mean(weighted, width), by_signs),
        ("max drop", tasks[worst : worst + 1], of_worst, any_as_great),
        ("Fisher", tasks, none, chdtrc(2 * len(each), fisher)),
    )
    record = partial(PooledDifference, first=first, second=second)
    return tuple(
        record(way=way, tasks=of, estimate=estimate, p_value=float(p))
        for way, of, estimate, p in ways
    )


def _mean(
    values: NDArray[np.float64], width: float = 1.0, level: float = 0.95
) -> Estimate | Undefined:
    ids = list(map(str, range(len(values))))
    return paired_difference(values, np.zeros_like(values), ids, width=width, level=level)
