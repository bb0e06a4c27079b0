"""Two models compared on the same examples: differences, intervals, p-values, corrections.

`paired_p_values` takes units whose parts are already summed, on any scale, one-sided: which of two
models is more like the reference. `paired_difference` starts from values in 0..1, two-sided. `holm`
and `benjamini_hochberg` correct several such tests.

Two runs of one task, counted: the exact test, the share of accuracy kept, what n can detect.

Items are independent and either right or wrong in each run; *lost* are right in the first run
alone, *gained* in the second alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.records import Estimate, Undefined
from scope.statistics.intervals import (
    LEVEL,
    Discordance,
    ExampleSums,
    Numbers,
    Sums,
    Tails,
    fewest_texts,
    loss_tails,
    normal_quantile,
    sum_by_example,
)

_RESAMPLES_AT_ONCE = 500


def resamples_for(tests: int) -> int:
    """The number of resamples with which each test can be significant after correction.

    At least 100 for each test: the smallest p-value is then below a hundredth of 1 / tests.

    Examples
    --------
    >>> resamples_for(3), resamples_for(710)
    (9999, 71000)
    """
    return max(9999, 100 * tests)


class PairedPValues(NamedTuple):
    """How often chance gives a sum at least as great, and at most as small, as the observed one."""

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

    Examples
    --------
    Of the four ways to give signs to two units, one has a sum as great as 5 and all as small:

    >>> p_values = paired_p_values([2, 3], np.random.default_rng(0))
    >>> round(p_values.more, 2), p_values.less
    (0.25, 1.0)
    """
    # Sorted: the generator's signs then do not depend on the order of the units.
    moved = np.sort(np.asarray(differences, dtype=np.float64))
    moved = moved[moved != 0]
    # Equal sums must count as equal although their terms were added in another order.
    leeway = 1e-9 * float(np.abs(moved).sum())
    observed, more, less = float(moved.sum()), 0, 0
    for sums in _flipped_sums(moved, resamples, generator):
        more += int((sums >= observed - leeway).sum())
        less += int((sums <= observed + leeway).sum())
    return PairedPValues((more + 1) / (resamples + 1), (less + 1) / (resamples + 1))


def sum_estimate(differences: ArrayLike) -> Estimate | Undefined:
    """Return the sum of the differences, how sure it is, and the number of units.

    The interval is that of `paired_difference`, on a scale on which the greatest difference is 1:
    its two made-up units then differ as much as the greatest. Where nothing differs they differ by
    1, in the unit of the differences.

    Parameters
    ----------
    differences
        First minus second, one number a unit; shape (units,).

    Examples
    --------
    The same as the mean of 1, 0, 1, 1, -1 and 1, 6 · 4 times as large:

    >>> print(sum_estimate([4, 0, 4, 4, -4, 4]))
    12.000 [-5.252, 23.252]
    """
    units = np.asarray(differences, dtype=np.float64)
    greatest = float(np.abs(units).max(initial=0.0)) or 1.0
    ids = [str(index) for index in range(len(units))]
    mean = paired_difference(units / greatest, np.zeros_like(units), ids)
    if isinstance(mean, Undefined):
        return mean
    scale = greatest * mean.n
    return replace(
        mean,
        value=scale * mean.value,
        low=scale * mean.low,
        high=scale * mean.high,
        method="Bonett-Price, scaled to the greatest difference",
    )


def paired_difference(
    first: ArrayLike,
    second: ArrayLike,
    example_ids: Sequence[str],
    *,
    width: float = 1.0,
    empty: str = "there is nothing to compare",
) -> Estimate | Undefined:
    """Return the mean of first minus second, how sure it is, and the number of examples.

    The interval is Bonett and Price's (2012) for paired proportions, carried over to clusters:
    normal, with two made-up examples, one all 1 and one all -1, so that it has a width even
    where first and second never differ. The value is the plain mean difference.

    Parameters
    ----------
    first, second
        Shape (n,), rows parallel: the same pairs of texts.
    example_ids
        The example of each row, once for each of its trials.
    width
        That of the values' range: no difference is greater.
    empty
        The reason to give where there are no values.

    Returns
    -------
    Estimate or Undefined
        In -width..width; ``n`` counts distinct examples.

    Raises
    ------
    ValueError
        If the lengths differ or a difference is greater than the width.

    Examples
    --------
    >>> print(paired_difference([1, 1, 1, 0], [0, 1, 0, 0], ["a", "b", "c", "d"]))
    0.500 [-0.263, 0.930]
    """
    z = normal_quantile(LEVEL)
    examples = summed_differences(first, second, example_ids, width)
    if not examples.distinct:
        return Undefined(reason=empty)
    mean = min(max(examples.mean, -1.0), 1.0)
    centre, error = _adjusted(examples)
    return Estimate(
        value=width * mean,
        # The made-up examples draw the centre towards 0, and the mean must stay inside.
        low=width * max(-1.0, min(centre - z * error, mean)),
        high=width * min(1.0, max(centre + z * error, mean)),
        n=examples.examples,
        method="Bonett-Price, clustered by example",
    )


def sign_flip_p_value(
    first: ArrayLike,
    second: ArrayLike,
    example_ids: Sequence[str],
    generator: np.random.Generator,
    *,
    width: float = 1.0,
    resamples: int = 9999,
) -> float:
    """Return how often chance alone would set first and second as far apart, two-sided.

    Were both alike, an example's first and second could as well be exchanged: its differences
    change sign together. Of ``resamples`` random exchanges, k lie as far from 0 as the data, and
    p = (k + 1) / (resamples + 1). Where nothing differs, p is 1.

    Parameters
    ----------
    first, second, example_ids, width
        As for `paired_difference`.
    generator
        Source of the random exchanges.

    Raises
    ------
    ValueError
        If the lengths differ or a difference is greater than the width.

    Examples
    --------
    Of the four ways to exchange two examples, two lie as far from 0 as the data:

    >>> generator = np.random.default_rng(0)
    >>> round(sign_flip_p_value([1, 1], [0, 0], ["a", "b"], generator), 1)
    0.5
    """
    sums = summed_differences(first, second, example_ids, width).sums
    # Equal sums must count as equal although their terms were added in another order.
    observed = abs(float(sums.sum())) - 1e-9
    # Sorted: the generator's signs then do not depend on the order of the examples.
    moved = np.sort(sums[sums != 0])
    flipped = _flipped_sums(moved, resamples, generator)
    as_far = sum(int((np.abs(some) >= observed).sum()) for some in flipped)
    return (as_far + 1) / (resamples + 1)


def absolute(estimate: Estimate | Undefined) -> Estimate | Undefined:
    """Return the distance from 0 of a signed estimate; its interval starts at 0 if it holds 0.

    Examples
    --------
    >>> print(absolute(Estimate(value=-0.1, low=-0.3, high=0.2, n=9, method="any")))
    0.100 [0.000, 0.300]
    """
    if isinstance(estimate, Undefined):
        return estimate
    nearest, farthest = sorted((abs(estimate.low), abs(estimate.high)))
    low = 0.0 if estimate.low <= 0 <= estimate.high else nearest
    return replace(estimate, value=abs(estimate.value), low=low, high=farthest)


def summed_differences(
    first: ArrayLike, second: ArrayLike, example_ids: Sequence[str], width: float = 1.0
) -> ExampleSums:
    """Sum the rows of each example: first minus second, as a share of the width."""
    left, right = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if left.shape != right.shape:
        raise ValueError(f"first has the shape {left.shape}, second {right.shape}")
    return sum_by_example((left - right) / width, example_ids, low=-1.0, high=1.0)


def _adjusted(examples: ExampleSums) -> tuple[float, float]:
    """Return mean and standard error with the two made-up examples among the others."""
    total = examples.sizes.sum()
    size = total / examples.distinct
    adjusted_total = total + 2 * size
    centre = float(examples.sums.sum() / adjusted_total)
    squares = ((examples.sums - centre * examples.sizes) ** 2).sum()
    squares += size**2 * ((1 - centre) ** 2 + (1 + centre) ** 2)
    return centre, float(np.sqrt(squares) / adjusted_total)


def _flipped_sums(moved: Sums, resamples: int, generator: np.random.Generator) -> Iterator[Sums]:
    """The sums with random signs, in parts: memory stays small for any number of examples."""
    for done in range(0, resamples, _RESAMPLES_AT_ONCE):
        count = min(_RESAMPLES_AT_ONCE, resamples - done)
        turned = generator.integers(0, 2, size=(count, len(moved)), dtype=np.bool_)
        yield moved.sum() - 2 * (turned @ moved)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return Holm's adjusted p-values, in the order given.

    Rejecting all those below 0.05 has a family-wise error rate of at most 0.05, for any dependence
    of the tests.

    Raises
    ------
    ValueError
        If one is outside 0..1.

    Examples
    --------
    The smallest of three counts three times, the next twice, and none falls below one before it:

    >>> holm([0.25, 0.0625, 0.125])
    (0.25, 0.1875, 0.25)
    """
    ordered, places = _by_size(p_values)
    factors = np.arange(len(ordered), 0, -1)
    return tuple(np.maximum.accumulate(np.minimum(factors * ordered, 1.0))[places].tolist())


def benjamini_hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p-values adjusted for the false discovery rate, in the order given.

    Of those below 0.05 at most 5 % are expected to be false, for independent tests or such that
    rise together. For what is described, not decided.

    Raises
    ------
    ValueError
        If one is outside 0..1.

    Examples
    --------
    Of three the smallest counts three times, the next 3 / 2 times, the last once:

    >>> benjamini_hochberg([0.5, 0.0625, 0.125])
    (0.5, 0.1875, 0.1875)
    """
    ordered, places = _by_size(p_values)
    adjusted = np.minimum(len(ordered) / np.arange(1, len(ordered) + 1) * ordered, 1.0)
    return tuple(np.minimum.accumulate(adjusted[::-1])[::-1][places].tolist())


def _by_size(p_values: Sequence[float]) -> tuple[Sums, NDArray[np.intp]]:
    """The p-values in rising order, and the place of each of the given ones among them."""
    values = np.asarray(p_values, dtype=np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"a p-value is between 0 and 1: {list(p_values)}")
    order = np.argsort(values, kind="stable")
    return values[order], np.argsort(order)


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
