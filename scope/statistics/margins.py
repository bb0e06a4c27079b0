"""Is a target at most a margin worse? Bounds and exact tails for paired scores, one a text.

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
mean square u. `scope.verdicts.pooled` has the u.

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

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.records import ERROR, Estimate, unit_of
from scope.statistics.intervals import normal_quantile, student_quantile

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
