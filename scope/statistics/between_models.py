"""Numbers over several models: their mean, which counts models and examples, and a correlation."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from scope.records import Estimate, Undefined
from scope.statistics.intervals import normal_quantile, sum_by_example

FEWEST_PAIRS = 4
"""With fewer, Fisher's z has no standard error."""

_ALL = 1 - 1e-12
"""A correlation beyond this is perfect but for rounding; ``atanh`` of 1 would be infinite."""


def mean_over_models(
    values: ArrayLike,
    example_ids: Sequence[str],
    *,
    low: float = 0.0,
    high: float = 1.0,
    level: float = 0.95,
    empty: str = "there is nothing to average",
) -> Estimate | Undefined:
    """Return the mean of several models' means, how sure it is, and the number of examples.

    The variance is that of the models' means over the number of models, plus that of the models'
    common mean over the examples, clustered. Two made-up examples, one all ``low`` and one all
    ``high``, enter the second as in `mean_estimate`, so that it is never 0. Student's t has one
    degree of freedom fewer than models: the conservative choice.

    Parameters
    ----------
    values
        Shape (models, n), each in ``low..high``: the rows parallel, on the same pairs of texts.
    example_ids
        The example of each column, once for each of its trials.
    low, high
        The range of the values, which is that of the mean.
    level
        The interval's confidence level.
    empty
        The reason to give where there are no values.

    Raises
    ------
    ValueError
        If the lengths differ or a value is outside the range.

    Examples
    --------
    >>> print(mean_over_models([[1, 1, 0, 1], [1, 0, 0, 1]], ["a", "b", "c", "d"]))
    0.625 [0.000, 1.000]
    >>> print(mean_over_models([[1, 1, 0, 1]], ["a", "b", "c", "d"]))
    undefined (a group of one model has no spread)
    """
    rows = (np.asarray(values, dtype=np.float64) - low) / (high - low)
    if not rows.size:
        return Undefined(reason=empty)
    models = len(rows)
    # Sorted: a sum's last bits depend on the order of its terms.
    common = np.sort(rows, axis=0).mean(axis=0)
    examples = sum_by_example(np.clip(common, 0.0, 1.0), example_ids, low=0.0, high=1.0)
    if models == 1:
        return Undefined(reason="a group of one model has no spread", n=examples.distinct)
    mean = min(examples.mean, 1.0)
    total = examples.sizes.sum()
    size = total / examples.distinct
    squares = ((examples.sums - mean * examples.sizes) ** 2).sum()
    squares += size**2 * (mean**2 + (1 - mean) ** 2)
    between = float(np.sort(rows.mean(axis=1)).var(ddof=1)) / models
    half = _student_quantile(level, models - 1) * math.sqrt(between + float(squares) / total**2)
    return Estimate(
        value=low + (high - low) * mean,
        low=low + (high - low) * max(0.0, mean - half),
        high=low + (high - low) * min(1.0, mean + half),
        n=examples.distinct,
        level=level,
        method=f"Student t over {models} models, clustered by example",
    )


def correlation_estimate(
    first: ArrayLike, second: ArrayLike, *, level: float = 0.95
) -> Estimate | Undefined:
    """Return Pearson's correlation with Fisher's interval; ``n`` counts pairs.

    The interval is that of independent pairs.

    Parameters
    ----------
    first, second
        Shape (n,), parallel.
    level
        The interval's confidence level.

    Raises
    ------
    ValueError
        If the lengths differ.

    Examples
    --------
    >>> print(correlation_estimate([1, 2, 3, 4], [1, 3, 2, 4]))
    0.800 [-0.697, 0.996]
    >>> print(correlation_estimate([1, 1, 1, 1], [1, 3, 2, 4]))
    undefined (one side is the same for all pairs of models)
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != other.shape or one.ndim != 1:
        raise ValueError(f"first has the shape {one.shape}, second {other.shape}")
    if len(one) < FEWEST_PAIRS:
        return Undefined(reason=f"fewer than {FEWEST_PAIRS} pairs of models", n=len(one))
    if np.ptp(one) < 1e-12 or np.ptp(other) < 1e-12:
        return Undefined(reason="one side is the same for all pairs of models", n=len(one))
    # Sorted: a sum's last bits depend on the order of its terms.
    order = np.lexsort((other, one))
    value = float(np.corrcoef(one[order], other[order])[0, 1])
    if abs(value) > _ALL:
        reason = f"all {len(one)} pairs of models lie on one line, which leaves no interval"
        return Undefined(reason=reason, n=len(one))
    centre = math.atanh(value)
    half = normal_quantile(level) / math.sqrt(len(one) - 3)
    return Estimate(
        value=value,
        low=math.tanh(centre - half),
        high=math.tanh(centre + half),
        n=len(one),
        level=level,
        method="Fisher z",
    )


def _student_quantile(level: float, freedom: int) -> float:
    # Here and not above: scipy.stats takes half a second, which few audits need.
    from scipy.stats import t as student

    return float(student.ppf((1 + level) / 2, freedom))
