"""Intervals of a mean and of chance-corrected agreement, and bounds of a loss, by example.

An example's trials are not independent: a text whose label one swap does not change is likely
unchanged by the next. Every interval and test here therefore uses one sum per example; where
examples have a cluster, such as a document, one sum per cluster (`scope.records.unit_of`).

A chance-corrected agreement is κ = (c_obs − c_exp) / (1 − c_exp). It is no mean: both agreements
are estimated from the same items. Its variance is that of its influence function, and the interval
is Wilson's for c_obs, with the number of 0-or-1 values that would be as sure, carried over to κ;
see docs/decisions/0006-intervals-of-kappa.md.

All numbers are computed on one thread, so that they are the same on any machine.

Is a target at most a margin worse?
-----------------------------------
Answers of two models on the same texts are compared by Tango's score interval for paired
proportions (Statistics in Medicine 17, 1998, 891-908). Its statistic takes the number of texts
where the first is better (gains) and worse (losses); the nuisance share has a closed form.

**Scores between 0 and 1.** A difference d in -1..1 counts as a gain or a loss of |d|. That keeps
the mean and overstates the variance, so Tango's statistic is multiplied by the square root of
their ratio, as if there were more texts. Where all differences seen are small, a rare full loss may
not have come up yet, so eight made-up texts that differ by 1 enter both variances. Where each
difference is -1, 0 or 1 the ratio is 1 and the interval exactly Tango's.

**Uneven texts.** Pooled over capabilities of which one has few texts, these differ by more than 1.
A rare loss among them weighs more, so with an unevenness u there are 8u made-up texts, with the
mean square u. `scope.verdicts.decide.pooled` has the u.

**Clusters.** Texts of one document may all go the same way. Gains, losses and texts are divided by
the design effect: the squares of the sums by cluster over those by text, with one made-up cluster
among both, all of whose texts differ by 1, and at least 1. So nothing that differs counts as many
texts as there are clusters of equal size. Student's t with one degree of freedom fewer than
clusters takes the place of the normal (benchmarks/verdict_error_rates_clusters.py; without the
made-up cluster *within* errs up to .14, with half a one up to .035).

Chosen by simulation (benchmarks/verdict_error_rates.py), .025 wanted and .03 allowed at the margin,
on random mixtures of full losses with small gains and losses at 35 to 1,000 texts, over one to
three capabilities, each also within twice the margin: *within* errs up to .026, *beyond* up to
.029, and intervals cover .937 or more; over .98 where two models hardly differ. Seven made-up texts
err .031, six .033, four .036; with none, and the ratio 1, power at 100 texts of four pairs is .17
and not .39.

Rejected: differences and margin divided by the greatest weight of a text, with power .32 where u
has .67 (45 of 300 texts in one of two capabilities, of which a fifth differ by a quarter and 2 % by
1); no correction, which errs .128 with 35 of 300. Gaffke's bound (2004), exact without made-up
texts: .77 for .66 at 100 texts of quarters, but .24 for .30 where models differ on 5 % of 300
texts, and .41 for .86 with 45 of 300. Bonett-Price (`paired_difference`) errs up to .046; betting
bounds (Waudby-Smith and Ramdas 2024, mixed over stakes) err .002 and have power .04 where Tango has
.40.

**Beyond** takes the greater of Tango's tail and the binomial one, and the interval the farther end:
where nothing but losses is likely, Tango alone errs up to .049 (margin .02, 200 texts).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import ThreadpoolController

from scope.records import ERROR, Estimate, Undefined, unit_of

LEVEL = 0.95
"""The confidence level of an interval."""
Sums = NDArray[np.float64]
"""Shape (examples,): one sum or count per distinct example."""


class ExampleSums(NamedTuple):
    """For each distinct unit, an example or cluster, in order: sum and number of its values.

    ``examples`` is the number of distinct examples.
    """

    sums: Sums
    sizes: Sums
    examples: int

    @property
    def distinct(self) -> int:
        """The number of distinct units."""
        return len(self.sums)

    @property
    def effective(self) -> int:
        """How many units of equal size have as many degrees of freedom, by Satterthwaite."""
        squares = self.sizes**2
        fourth = float((squares**2).sum()) or 1.0
        return int(float(squares.sum()) ** 2 / fourth + 1e-9)

    @property
    def mean(self) -> float:
        """The mean over all values: an example is weighted by its number of trials."""
        return float(self.sums.sum() / self.sizes.sum())

    @property
    def squares(self) -> float:
        """The sum of squares of the sums' distances from what the mean makes of their sizes."""
        return float(((self.sums - self.mean * self.sizes) ** 2).sum())


def sum_by_example(
    values: ArrayLike, example_ids: Sequence[str], *, low: float, high: float
) -> ExampleSums:
    """Gather values in ``low..high`` by example or cluster, whatever the order of the input.

    Parameters
    ----------
    values
        Shape (n,).
    example_ids
        The example of each value, once for each of its trials.

    Raises
    ------
    ValueError
        If the lengths differ or a value is outside the range.

    Examples
    --------
    >>> sum_by_example([1, 0, 1], ["b", "a", "b"], low=0, high=1).sums.tolist()
    [0.0, 2.0]
    """
    flat = np.asarray(values, dtype=np.float64)
    if flat.shape != (len(example_ids),):
        raise ValueError(f"values of shape {flat.shape} for {len(example_ids)} example ids")
    if not ((flat >= low) & (flat <= high)).all():
        raise ValueError(f"a value is outside {low}..{high}: {flat.min()} to {flat.max()}")
    units = list(map(unit_of, example_ids))
    position = {unit: index for index, unit in enumerate(sorted(set(units)))}
    owners = np.array([position[unit] for unit in units], dtype=np.intp)
    # Sorted by value too: a sum's last bits depend on the order of its terms.
    order = np.lexsort((flat, owners))
    sums = np.bincount(owners[order], weights=flat[order], minlength=len(position))
    sizes = np.bincount(owners, minlength=len(position))
    count = len(set(example_ids))
    return ExampleSums(sums.astype(np.float64), sizes.astype(np.float64), count)


def normal_quantile(level: float) -> float:
    """Return z such that a standard normal variable is in -z..z with probability ``level``.

    Examples
    --------
    >>> round(normal_quantile(0.95), 3)
    1.96
    """
    return NormalDist().inv_cdf((1 + level) / 2)


def mean_estimate(
    values: ArrayLike,
    example_ids: Sequence[str],
    *,
    low: float = 0.0,
    high: float = 1.0,
    level: float = 0.95,
    empty: str = "there is nothing to average",
) -> Estimate | Undefined:
    """Return the mean of all values, how sure it is, and the number of distinct examples.

    Parameters
    ----------
    values
        Shape (n,), each in ``low..high``.
    example_ids
        The example of each value, once for each of its trials.
    low, high
        The range of the values, which is that of the mean; cosines lie in -1..1.
    level
        The interval's confidence level.
    empty
        The reason to give where there are no values.

    Returns
    -------
    Estimate or Undefined
        ``n`` counts distinct examples, not values. With one 0 or 1 per example the interval is
        exactly Wilson's score interval.

    Raises
    ------
    ValueError
        If the lengths differ or a value lies outside the range.

    Examples
    --------
    >>> print(mean_estimate([1, 1, 0, 1], ["a", "b", "c", "d"]))
    0.750 [0.301, 0.954]

    Three trials that always agree are worth no more than one:

    >>> print(mean_estimate([1, 1, 0, 1] * 3, ["a", "b", "c", "d"] * 3))
    0.750 [0.301, 0.954]
    >>> print(mean_estimate([], [], empty="the reference is invariant nowhere"))
    undefined (the reference is invariant nowhere)
    """
    z = normal_quantile(level)
    width = high - low
    shares = (np.asarray(values, dtype=np.float64) - low) / width
    examples = sum_by_example(shares, example_ids, low=0.0, high=1.0)
    if not examples.distinct:
        return Undefined(reason=empty)
    mean = min(examples.mean, 1.0)
    lower, upper = wilson(mean, _effective_size(examples, mean), z)
    return Estimate(
        value=low + width * mean,
        # Wilson's bounds enclose the mean but for the last bit, at both ends of the range.
        low=low + width * max(0.0, min(lower, mean)),
        high=low + width * min(1.0, max(upper, mean)),
        n=examples.examples,
        level=level,
        method="Wilson, clustered by example",
    )


def student_estimate(
    values: ArrayLike, example_ids: Sequence[str] = (), *, level: float = LEVEL
) -> Estimate | Undefined:
    """Return the mean of values that have no range, with Student's interval.

    Without ``example_ids`` each value is an example of its own. Of clusters, ``n`` is how many of
    equal size are worth as much: with k - 1 degrees of freedom ends err up to .068 where sizes
    differ, with n - 1 up to .027 (benchmarks/verdict_error_rates_clusters.py).

    Examples
    --------
    >>> print(student_estimate([0.5, 1.0, 1.5]))
    1.000 [-0.242, 2.242]
    >>> print(student_estimate([0.5]))
    undefined (fewer than 2 examples)
    """
    examples = sum_by_unit(values, example_ids)
    if examples.effective < 2:
        return Undefined(reason="fewer than 2 examples", n=examples.effective)
    mean, total = examples.mean, float(examples.sizes.sum())
    error = math.sqrt(examples.squares * examples.distinct / (examples.distinct - 1)) / total
    half = student_quantile(level, examples.effective - 1) * error
    return Estimate(
        value=mean,
        low=mean - half,
        high=mean + half,
        n=examples.effective,
        level=level,
        method="Student t, clustered by example",
    )


def sum_by_unit(values: ArrayLike, example_ids: Sequence[str] = ()) -> ExampleSums:
    """Gather values of any range by example; without ids each value is an example of its own.

    Examples
    --------
    >>> sum_by_unit([1.5, 2.0, -1.0], ["b␟1", "a␟1", "b␟2"]).sums.tolist()
    [2.0, 0.5]
    """
    numbers = np.asarray(values, dtype=np.float64)
    if len(example_ids) == 0:
        numbers = np.sort(numbers)  # a sum depends on the order of its terms
        return ExampleSums(numbers, np.ones_like(numbers), len(numbers))
    return sum_by_example(numbers, example_ids, low=-math.inf, high=math.inf)


ByText = Iterable[float] | Mapping[str, float]
"""One number a text, or by the id of the text, which may have a cluster."""


def numbers_and_ids(by_text: ByText) -> tuple[list[float], tuple[str, ...]]:
    """The numbers, and the ids of the texts where they are given.

    Examples
    --------
    >>> numbers_and_ids({"a": 1.0}), numbers_and_ids([1.0])
    (([1.0], ('a',)), ([1.0], ()))
    """
    if isinstance(by_text, Mapping):
        return list(by_text.values()), tuple(by_text)
    return list(by_text), ()


def student_quantile(level: float, freedom: float) -> float:
    """Return t such that Student's variable lies in -t..t with probability ``level``.

    Examples
    --------
    >>> round(student_quantile(0.95, 2), 3)
    4.303
    """
    # Here and not above: the whole of scipy takes time to import, which few audits need.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))


def jackknife_half(*without: ArrayLike) -> Any:
    """Half the width of a number's interval, from its values without each unit in turn.

    The variance is the jackknife's, and the quantile Student's, with one degree of freedom fewer
    than units. Independent groups of units add up their variances; their degrees of freedom are
    Welch and Satterthwaite's.

    Parameters
    ----------
    without
        For each group of units: shape (units, ...), the number without each unit.

    Examples
    --------
    A mean of 1, 2 and 6 is 4, 3.5 and 1.5 without one of them; its error is the root of 7 / 3:

    >>> half = jackknife_half([4, 3.5, 1.5])
    >>> round(float(half / student_quantile(LEVEL, 2)), 4), (7 / 3) ** 0.5
    (1.5275, 1.5275252316519468)
    """
    groups = [np.asarray(values, dtype=np.float64) for values in without]
    parts = [(len(values) - 1) * values.var(axis=0) for values in groups]
    variance, freedom = sum(parts), float(len(groups[0]) - 1)
    if len(groups) > 1:
        loss = sum(part**2 / (len(values) - 1) for part, values in zip(parts, groups, strict=True))
        # Without variance, any degrees of freedom will do.
        freedom = variance**2 / loss if loss > 0 else 1.0
    return student_quantile(LEVEL, freedom) * np.sqrt(variance)


def _effective_size(examples: ExampleSums, mean: float) -> float:
    """Return how many independent 0-or-1 values would make the mean as sure as it is.

    That is mean (1 - mean) / variance, with the variance of a ratio of sums over examples,
    linearised. One failure in 300 trials, or none, tells nothing of how alike an example's
    trials are, and the plain estimate is then far too sure. So two made-up examples, one all 0
    and one all 1 and each as large as the mean example, enter both sums of squares. Where each
    value is 0 or 1, this leaves one trial an example as it is, draws more trials towards
    "all alike" the fewer examples stand out, and gives the number of distinct examples where
    all values are 0 or all are 1. (Rejected: without them, coverage at a mean of 0.98 with 100
    examples of 3 trials falls to 0.91.)
    """
    total = examples.sizes.sum()
    size = total / examples.distinct
    made_up = mean**2 + (1 - mean) ** 2
    between = examples.squares + size**2 * made_up
    independent = total * mean * (1 - mean) + size * made_up
    return max(1.0, float(total * independent / between))


def wilson(mean: float, n: float, z: float) -> tuple[float, float]:
    """Return Wilson's score interval of a share of ``n`` values, which may be a fraction.

    Examples
    --------
    >>> round(wilson(0.5, 4, 2.0)[0], 3)
    0.146
    """
    centre = (mean + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(mean * (1 - mean) / n + z**2 / (4 * n**2))
    return centre - half, centre + half


def chance_corrected_estimate(
    observed: float,
    expected: float,
    influence: ArrayLike,
    made_up: float,
    example_ids: Sequence[str] = (),
    *,
    empty: str = "there is nothing to compare",
    no_room: str = "chance alone would agree everywhere",
) -> Estimate | Undefined:
    """Return κ, how sure it is, and the number of items.

    Parameters
    ----------
    observed, expected
        The agreement seen, the mean over the items, and the one expected by chance, in 0..1.
    influence
        Shape (n,): how far each item moves κ, to first order; one item a unit, mean 0.
    made_up
        The sum of the same squared over four made-up items, two with full agreement and two with
        none, so that the interval has a width even where all items agree.
    example_ids
        The id of each item, which may have a cluster; without them each is a unit of its own.
    empty, no_room
        The reasons to give where there are no items, and where ``expected`` is 1.

    Returns
    -------
    Estimate or Undefined
        In -1..1. The interval is asymmetric, wider towards 0, and never has zero width.

    Examples
    --------
    100 items on all of which both agree, where chance would give a half. The two made-up items of
    disagreement would each move κ by 2:

    >>> print(chance_corrected_estimate(1.0, 0.5, [0.0] * 100, made_up=2 * 2.0**2))
    1.000 [0.926, 1.000]
    """
    z = normal_quantile(LEVEL)
    moves = sum_by_unit(influence, example_ids)
    n = int(moves.sizes.sum())
    if not n:
        return Undefined(reason=empty)
    room = 1 - expected
    if not made_up or not room:
        return Undefined(reason=no_room, n=n)
    size = n / moves.distinct  # the mean of a cluster, which the made-up items have, too
    squares = room**2 * (float((moves.sums**2).sum()) + size**2 * made_up)
    # Were chance known and every agreement 0 or 1, an item's squares would add up to n · c (1 − c)
    # and those of the four made-up ones to the rest; then the effective number of agreements is n.
    independent = n * observed * (1 - observed) + 2 * size * (observed**2 + (1 - observed) ** 2)
    low, high = wilson(observed, max(1.0, n * independent / squares), z)
    value = min(max((observed - expected) / room, -1.0), 1.0)
    return Estimate(
        value=value,
        low=max(-1.0, min((low - expected) / room, value)),
        high=min(1.0, max((high - expected) / room, value)),
        n=n,
        method="Wilson, linearised",
    )


def one_numpy_thread() -> AbstractContextManager[Any]:
    """The libraries of linear algebra compute on one thread inside, and as before afterwards."""
    limited: AbstractContextManager[Any] = _controller(len(sys.modules)).limit(limits=1)
    return limited


@lru_cache(maxsize=1)
def _controller(_modules: int) -> ThreadpoolController:
    """The libraries loaded by now; only an import loads more, and each look takes milliseconds."""
    return ThreadpoolController()


MADE_UP = 8
_HALVINGS = 60

Numbers = NDArray[np.float64]


class Discordance(NamedTuple):
    """Sums of gains and of losses over ``n`` texts, all three in effective texts.

    Each is a number, or an array with one for each simulated data set. ``freedom`` is that of
    Student's t, one less than the clusters; infinite without clusters.
    """

    gains: Numbers
    losses: Numbers
    n: Numbers
    freedom: float = math.inf

    def quantile(self, error: float) -> float:
        """What a standard normal variable, or Student's, exceeds with this probability."""
        if math.isinf(self.freedom):
            return normal_quantile(1 - 2 * error)
        return student_quantile(1 - 2 * error, int(self.freedom))

    @property
    def difference(self) -> Numbers:
        """The mean difference, in -1..1."""
        return (self.gains - self.losses) / self.n


class Tails(NamedTuple):
    """One-sided p-values: of *at or below the limit*, and of *at or above it*."""

    within: Numbers
    beyond: Numbers


def discordance(
    differences: ArrayLike, ids: Sequence[str] = (), *, unevenness: float = 1.0
) -> Discordance:
    """Return gains, losses and the effective number of texts, over the last axis.

    ``ids`` tell the clusters of texts; without them, each text is a unit of its own.
    ``unevenness`` is the mean square of the greatest difference that each text can have; above 1
    where some texts have more than others of what is pooled.

    Examples
    --------
    >>> print(discordance([1.0, 0.0, -1.0, 1.0])[:3])
    (np.float64(2.0), np.float64(1.0), np.float64(4.0))

    Forty texts of ten documents, nowhere different, count as ten:

    >>> seen = discordance([0.0] * 40, [str(text % 10) for text in range(40)])
    >>> float(seen.n), seen.freedom
    (10.0, 9)
    """
    # Sorted: the last bits of a sum depend on the order of its terms.
    values = np.sort(np.asarray(differences, dtype=np.float64), axis=-1)
    n = values.shape[-1]
    gains, losses = np.maximum(values, 0).sum(axis=-1), np.maximum(-values, 0).sum(axis=-1)
    seen = effective(gains, losses, (values**2).sum(axis=-1), n, unevenness=unevenness)
    units = len(set(map(unit_of, ids)))
    if units == len(ids):
        return seen
    effect = design_effect(differences, ids)
    return Discordance(seen.gains / effect, seen.losses / effect, seen.n / effect, units - 1)


def design_effect(differences: ArrayLike, ids: Sequence[str]) -> Numbers:
    """Return how many of the texts are worth one independent text; 1 without clusters.

    Examples
    --------
    >>> float(design_effect([0.0] * 40, [str(text % 10) for text in range(40)]))
    4.0
    """
    values, units = np.asarray(differences, dtype=np.float64), list(map(unit_of, ids))
    if len(set(units)) == len(units):
        return np.array(1.0)
    _, owners, sizes = np.unique(units, return_inverse=True, return_counts=True)
    # Of one data set sorted by value too, as above.
    order = np.lexsort((values, owners)) if values.ndim == 1 else np.argsort(owners, kind="stable")
    starts = np.cumsum(sizes) - sizes
    away = values[..., order] - np.sort(values).mean(axis=-1, keepdims=True)
    size = float((sizes**2).sum() / len(units))
    between = (np.add.reduceat(away, starts, axis=-1) ** 2).sum(axis=-1)
    effect = (between + size**2) / ((away**2).sum(axis=-1) + size)
    return np.asarray(np.maximum(effect, 1.0))


def effective(
    gains: ArrayLike,
    losses: ArrayLike,
    squares: ArrayLike,
    n: ArrayLike,
    *,
    unevenness: float = 1.0,
) -> Discordance:
    """Return the same in as many texts as the differences' sum of squares shows them to be worth.

    Examples
    --------
    A hundred differences of a quarter, half of them losses, are worth more than 100 texts:

    >>> float(effective(12.5, 12.5, 6.25, 100).n.round(1))
    231.6
    """
    gained, lost, count = (np.asarray(values, dtype=np.float64) for values in (gains, losses, n))
    centre = (gained - lost) ** 2 / count
    unseen = MADE_UP * unevenness
    ratio = (gained + lost - centre + unseen) / (np.asarray(squares) - centre + unseen * unevenness)
    return Discordance(gained * ratio, lost * ratio, count * ratio)


def tango_statistic(seen: Discordance, difference: float) -> Numbers:
    """Return Tango's score: standard normal where ``difference``, in -1..1, is the true one.

    Examples
    --------
    >>> seen = discordance([0.0] * 73)
    >>> round(float(tango_statistic(seen, -0.05)), 2)
    1.96
    """
    gains, losses, n = seen[:3]
    distance = gains - losses - n * difference
    return np.asarray(distance / score_deviation(seen, difference), dtype=np.float64)


def score_deviation(seen: Discordance, difference: float) -> Numbers:
    """Return the standard deviation of gains minus losses were ``difference`` the true one.

    Examples
    --------
    >>> round(float(score_deviation(discordance([0.0] * 100), -0.05)), 2)
    2.18
    """
    gains, losses, n = seen[:3]
    linear = (2 * n - gains + losses) * difference - gains - losses
    constant = 8 * n * losses * difference * (1 - difference)
    loss_share = (np.sqrt(np.maximum(linear**2 + constant, 0)) - linear) / (4 * n)
    variance = n * (2 * loss_share + difference * (1 - difference))
    return np.asarray(np.sqrt(np.maximum(variance, 1e-300)), dtype=np.float64)


def paired_tails(seen: Discordance, margin: float) -> Tails:
    """Return how likely such a difference is if the true one is minus the margin.

    Examples
    --------
    Nothing differs on 73 texts, and 73 are needed for a margin of .05:

    >>> bool(paired_tails(discordance([0.0] * 73), 0.05).within < 0.025)
    True
    >>> bool(paired_tails(discordance([0.0] * 72), 0.05).within < 0.025)
    False
    """
    within, beyond = _score_tails(seen, margin)
    net = loss_tails(seen._replace(losses=seen.losses - seen.gains), margin)
    return Tails(within, np.maximum(beyond, net.beyond))


def paired_within(seen: Discordance, margin: float) -> Numbers:
    """Return the first of `paired_tails` alone, in less than a tenth of the time.

    Examples
    --------
    >>> float(paired_within(discordance([0.0] * 73), 0.05).round(3))
    0.025
    """
    return _score_tails(seen, margin).within


def _score_tails(seen: Discordance, margin: float) -> Tails:
    # Here and not above: scipy.special takes half a second to import.
    from scipy.special import stdtr

    score = tango_statistic(seen, -margin)
    # On a handful of texts that all differ the normal tail errs up to .04.
    enough = seen.n >= fewest_texts(margin)
    tails = (stdtr(seen.freedom, side * score) for side in (-1, 1))
    return Tails(np.where(enough, next(tails), 1.0), next(tails))


def loss_tails(seen: Discordance, margin: float) -> Tails:
    """Return the tails of the binomial distribution of losses with the margin as their share.

    Examples
    --------
    No loss in 72 texts, of which .95 ** 72 = .0249 is the probability at a share of .05:

    >>> round(float(loss_tails(discordance([0.0] * 72), 0.05).within), 4)
    0.0249
    """
    from scipy.special import ndtri, stdtr

    losses, rest = np.clip(seen.losses, 0, seen.n), seen.n
    within = np.where(losses < rest, 1 - _beta(losses + 1, rest - losses, margin), 1.0)
    beyond = np.where(losses > 0, _beta(losses, rest - losses + 1, margin), 1.0)
    if math.isinf(seen.freedom):
        return Tails(within, beyond)
    # As far out in Student's distribution as the tail is in the normal one.
    return Tails(stdtr(seen.freedom, ndtri(within)), stdtr(seen.freedom, ndtri(beyond)))


def fewest_texts(margin: float, *, error: float = ERROR) -> int:
    """Return how many texts show *within* where no text differs; fewer never do.

    Examples
    --------
    >>> [fewest_texts(margin) for margin in (0.1, 0.05, 0.02)]
    [35, 73, 189]
    """
    return int(normal_quantile(1 - 2 * error) ** 2 * (1 - margin) / margin) + 1


def score_estimate(
    differences: ArrayLike,
    ids: Sequence[str] = (),
    *,
    unevenness: float = 1.0,
    error: float = ERROR,
) -> Estimate:
    """Return the mean of differences by text, at least one, with Tango's score interval.

    ``error`` is what either end errs; the others are as for `discordance`.

    Examples
    --------
    >>> print(score_estimate([0.0] * 39 + [1.0]))
    0.025 [-0.065, 0.129]
    """
    from scipy.special import betaincinv, ndtr

    seen = discordance(differences, ids, unevenness=unevenness)
    value, z = float(seen.difference), seen.quantile(error)
    net = abs(float(seen.gains - seen.losses))
    # The binomial end nearer to 0: Tango's may lie too far from it, as for `paired_tails`.
    nearest = float(betaincinv(net, seen.n - net + 1, ndtr(-z))) if net else 0.0
    return Estimate(
        value=value,
        low=min(value, _root(seen, z, -1.0, value), nearest if value > 0 else value),
        high=max(value, _root(seen, -z, value, 1.0), -nearest if value < 0 else value),
        n=np.size(differences),
        level=1 - 2 * error,
        method="Tango's score, by effective texts",
    )


def binomial_estimate(
    below: ArrayLike, ids: Sequence[str] = (), *, unevenness: float = 1.0, error: float = ERROR
) -> Estimate:
    """Return 1 plus the mean of differences from 1, with Clopper and Pearson's interval.

    Examples
    --------
    >>> print(binomial_estimate([0.0] * 100))
    1.000 [0.964, 1.000]
    """
    from scipy.special import betaincinv, ndtr

    seen = discordance(below, ids, unevenness=unevenness)
    tail = float(ndtr(-seen.quantile(error)))
    losses, rest = float(seen.losses), float(seen.n - seen.losses)
    value = 1 - losses / float(seen.n)
    return Estimate(
        value=value,
        low=min(value, 1 - float(betaincinv(losses + 1, rest, 1 - tail))) if rest > 0 else 0.0,
        high=max(value, 1 - float(betaincinv(losses, rest + 1, tail))) if losses > 0 else 1.0,
        n=np.size(below),
        level=1 - 2 * error,
        method="Clopper-Pearson, by effective texts",
    )


def _root(seen: Discordance, z: float, low: float, high: float) -> float:
    """Return the difference at which the score, which falls as it rises, is z."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if tango_statistic(seen, middle) > z else (low, middle)
    return (low + high) / 2


def _beta(first: Numbers, second: Numbers, share: float) -> Numbers:
    """Return the beta distribution's share below; its parameters are kept above 0."""
    from scipy.special import betainc

    parts = np.maximum(first, 1e-9), np.maximum(second, 1e-9)
    return np.asarray(betainc(*parts, share), dtype=np.float64)
