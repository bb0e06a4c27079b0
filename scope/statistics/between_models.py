"""Numbers over several models: their mean, which counts models and examples, and a correlation."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.records import Estimate, Undefined
from scope.statistics.intervals import LEVEL, jackknife_half, student_quantile, sum_by_example

FEWEST_MODELS = 4
"""Without one of three models, the pairs of two are left, which often lie on a line."""

Numbers = NDArray[np.float64]

_ALL = 1 - 1e-12
"""A correlation beyond this is perfect but for rounding; ``atanh`` of 1 would be infinite."""


def mean_over_models(
    values: ArrayLike, example_ids: Sequence[str], *, low: float = 0.0, high: float = 1.0
) -> Estimate | Undefined:
    """Return the mean of several models' means, how sure it is, and the number of examples.

    The variance is that of the models' means over the number of models, plus that of the models'
    common mean over the examples, clustered. Two made-up examples, one all ``low`` and one all
    ``high``, enter the second as in `mean_estimate`, so that it is never 0. Each of the two has the
    Student's t of its own degrees of freedom, and the margins add up as their squares. In
    simulations of 2 to 5 models it covers 91 to 99 %. (Rejected: Satterthwaite's degrees of freedom
    for the sum, which cover 84 to 88 % where 2 models differ much.)

    Parameters
    ----------
    values
        Shape (models, n), each in ``low..high``: the rows parallel, on the same pairs of texts.
    example_ids
        The example of each column, once for each of its trials.
    low, high
        The range of the values, which is that of the mean.

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
        return Undefined(reason="there is nothing to average")
    models = len(rows)
    # Sorted: a sum's last bits depend on the order of its terms.
    common = np.sort(rows, axis=0).mean(axis=0)
    examples = sum_by_example(np.clip(common, 0.0, 1.0), example_ids, low=0.0, high=1.0)
    if models == 1:
        return Undefined(reason="a group of one model has no spread", n=examples.examples)
    mean = min(examples.mean, 1.0)
    total = examples.sizes.sum()
    size = total / examples.distinct
    squares = ((examples.sums - mean * examples.sizes) ** 2).sum()
    squares += size**2 * (mean**2 + (1 - mean) ** 2)
    between = float(np.sort(rows.mean(axis=1)).var(ddof=1)) / models
    half = math.hypot(
        student_quantile(LEVEL, models - 1) * math.sqrt(between),
        student_quantile(LEVEL, examples.distinct) * math.sqrt(squares) / total,
    )
    return Estimate(
        value=low + (high - low) * mean,
        low=low + (high - low) * max(0.0, mean - half),
        high=low + (high - low) * min(1.0, mean + half),
        n=examples.examples,
        method=f"Student t over {models} models, clustered by example",
    )


def correlation_estimate(
    first: ArrayLike, second: ArrayLike, pairs: Sequence[tuple[str, str]]
) -> Estimate | Undefined:
    """Return Pearson's correlation over pairs of models, with a jackknife over models.

    Pairs that share a model are not independent, so the model is the unit: each is left out in
    turn, with all its pairs. Student's t, symmetric in ``atanh`` of the correlation. In simulations
    with 4 to 20 models the interval excludes a true 0 in at most 7 %, that of independent pairs
    (Fisher's) in up to 67 %. ``n`` counts pairs.

    Parameters
    ----------
    first, second
        Shape (n,), parallel.
    pairs
        The two models of each value.

    Examples
    --------
    >>> pairs = [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")]
    >>> print(correlation_estimate([1, 2, 3, 4, 5, 6], [1, 3, 2, 4, 6, 5], pairs))
    0.886 [-0.848, 0.999]
    >>> print(correlation_estimate([1, 1, 1, 1, 1, 1], [1, 3, 2, 4, 6, 5], pairs))
    undefined (one side is the same for all pairs of models)
    """
    left, right = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    models = sorted({name for pair in pairs for name in pair})
    if len(models) < FEWEST_MODELS:
        return Undefined(reason=f"fewer than {FEWEST_MODELS} models", n=len(left))
    # Sorted: a sum's last bits depend on the order of its terms.
    order = np.lexsort((right, left))
    left, right = left[order], right[order]
    value = _correlation(left, right)
    if math.isnan(value):
        return Undefined(reason="one side is the same for all pairs of models", n=len(left))
    kept = [np.array([model not in pairs[place] for place in order]) for model in models]
    without = np.array([_correlation(left[rest], right[rest]) for rest in kept])
    if np.isnan(without).any():
        reason = "without one of the models no correlation is defined, which leaves no interval"
        return Undefined(reason=reason, n=len(left))
    if max(abs(value), np.abs(without).max()) > _ALL:
        reason = "without one of the models the pairs lie on one line, which leaves no interval"
        return Undefined(reason=reason, n=len(left))
    half = float(jackknife_half(np.arctanh(without)))
    return Estimate(
        value=value,
        low=math.tanh(math.atanh(value) - half),
        high=math.tanh(math.atanh(value) + half),
        n=len(left),
        method=f"jackknife over {len(models)} models",
    )


def _correlation(left: Numbers, right: Numbers) -> float:
    """Pearson's correlation; NaN of less than two pairs, or where one side is constant."""
    if len(left) < 2 or np.ptp(left) < 1e-12 or np.ptp(right) < 1e-12:
        return math.nan
    return float(np.corrcoef(left, right)[0, 1])


_AT_ONCE = 500
_ENOUGH = 100
"""After this many resamples as far apart as the data, the p-value is not small."""


def heterogeneity_p_value(
    parts: Sequence[ArrayLike], generator: np.random.Generator, *, resamples: int = 9999
) -> float:
    """Return how often chance alone would set the means of the parts as far apart.

    If all parts are alike, values are exchangeable between parts. The distance of the parts is the
    sum of squares between them. Of m random permutations, k are at least as far apart, and
    p = (k + 1) / (m + 1); m is ``resamples``, or fewer once k reaches 100.

    Parameters
    ----------
    parts
        The values of each part, one a text; none is empty.
    generator
        Source of the permutations.

    Examples
    --------
    Of the six ways to lay two ones and two zeros into two parts, two are as far apart:

    >>> generator = np.random.default_rng(0)
    >>> round(heterogeneity_p_value([[1, 1], [0, 0]], generator), 1)
    0.3
    """
    sizes = np.array([len(np.atleast_1d(part)) for part in parts])
    # Sorted: the generator's order goes to texts by their values.
    seen = np.concatenate([np.sort(np.asarray(part, dtype=np.float64)) for part in parts])[None]

    def apart(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = np.add.reduceat(rows, np.cumsum(sizes) - sizes, axis=1)
        return np.asarray((sums**2 / sizes).sum(axis=1))

    # Equal sums must count as equal although their terms were added in another order.
    observed = float(apart(seen)[0]) - 1e-9
    as_far = done = 0
    while done < resamples and as_far < _ENOUGH:
        count = min(_AT_ONCE, resamples - done)
        drawn = generator.permuted(np.repeat(seen, count, axis=0), axis=1)
        as_far += int((apart(drawn) >= observed).sum())
        done += count
    return (as_far + 1) / (done + 1)
