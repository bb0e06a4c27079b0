"""Is a target at most a margin worse? Bounds and exact tails for paired scores, one a text.

Answers of two models on the same texts are compared by Tango's score interval for paired
proportions (Statistics in Medicine 17, 1998, 891-908). Its statistic takes the number of texts
where the first is better (gains) and worse (losses); the nuisance share has a closed form.

**Scores between 0 and 1.** A difference d in -1..1 counts as a gain or a loss of |d|. That keeps
the mean and overstates the variance, so Tango's statistic is multiplied by the square root of
their ratio, as if there were more texts. Where all differences seen are small, a rare full loss may
not have come up yet, so eight made-up texts that differ by 1 enter both variances. Where each
difference is -1, 0 or 1 the ratio is 1 and the interval exactly Tango's.

Chosen by simulation (benchmarks/verdict_error_rates.py), .025 wanted and .03 allowed at the margin,
on mixtures of full losses with small gains and losses at 20 to 400 texts. Without the ratio Tango
errs at most .020, with power .17 at 100 texts of four pairs where eight made-up texts have .45;
two made-up texts have .65, but err up to .048; eight .031 in the worst mixture. Rejected, too:
Bonett-Price (`paired_difference`) errs up to .046 in simple mixtures; betting bounds (Waudby-Smith
and Ramdas 2024, mixed over stakes) err .002 and have power .04 where Tango has .40.

**Beyond** takes the greater of Tango's tail and the binomial one: where nothing but losses is
likely, Tango alone errs up to .049 (margin .02, 200 texts).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.records import ERROR, Endpoint, Estimate, Undefined
from scope.statistics.intervals import normal_quantile, student_quantile
from scope.statistics.paired import summed_differences

MADE_UP = 8
_HALVINGS = 60

FEWEST_FOR_A_SLOPE = 10
"""Texts below which a slope's interval is no evidence."""

Numbers = NDArray[np.float64]


class Discordance(NamedTuple):
    """Sums of gains and of losses over ``n`` texts, all three in effective texts.

    Each is a number, or an array with one for each simulated data set.
    """

    gains: Numbers
    losses: Numbers
    n: Numbers

    @property
    def difference(self) -> Numbers:
        """The mean difference, in -1..1."""
        return (self.gains - self.losses) / self.n


class Tails(NamedTuple):
    """One-sided p-values: of *at or below the limit*, and of *at or above it*."""

    within: Numbers
    beyond: Numbers


def discordance(differences: ArrayLike) -> Discordance:
    """Return gains, losses and the effective number of texts, over the last axis.

    Examples
    --------
    >>> discordance([1.0, 0.0, -1.0, 1.0])
    Discordance(gains=np.float64(2.0), losses=np.float64(1.0), n=np.float64(4.0))
    """
    # Sorted: the last bits of a sum depend on the order of its terms.
    values = np.sort(np.asarray(differences, dtype=np.float64), axis=-1)
    n = values.shape[-1]
    gains, losses = np.maximum(values, 0).sum(axis=-1), np.maximum(-values, 0).sum(axis=-1)
    return effective(gains, losses, (values**2).sum(axis=-1), n)


def effective(
    gains: ArrayLike, losses: ArrayLike, squares: ArrayLike, n: ArrayLike, made_up: int = MADE_UP
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
    ratio = (gained + lost - centre + made_up) / (np.asarray(squares) - centre + made_up)
    return Discordance(gained * ratio, lost * ratio, count * ratio)


def tango_statistic(seen: Discordance, difference: float) -> Numbers:
    """Return Tango's score: standard normal where ``difference``, in -1..1, is the true one.

    Examples
    --------
    >>> seen = discordance([0.0] * 73)
    >>> round(float(tango_statistic(seen, -0.05)), 2)
    1.96
    """
    gains, losses, n = seen
    linear = (2 * n - gains + losses) * difference - gains - losses
    constant = 8 * n * losses * difference * (1 - difference)
    loss_share = (np.sqrt(np.maximum(linear**2 + constant, 0)) - linear) / (4 * n)
    variance = n * (2 * loss_share + difference * (1 - difference))
    distance = gains - losses - n * difference
    return np.asarray(distance / np.sqrt(np.maximum(variance, 1e-300)), dtype=np.float64)


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
    from scipy.special import ndtr

    score = tango_statistic(seen, -margin)
    # On a handful of texts that all differ the normal tail errs up to .04.
    enough = seen.n >= fewest_texts(margin)
    return Tails(np.where(enough, ndtr(-score), 1.0), ndtr(score))


def loss_tails(seen: Discordance, margin: float) -> Tails:
    """Return the tails of the binomial distribution of losses with the margin as their share.

    Examples
    --------
    No loss in 72 texts, of which .95 ** 72 = .0249 is the probability at a share of .05:

    >>> round(float(loss_tails(discordance([0.0] * 72), 0.05).within), 4)
    0.0249
    """
    losses, rest = np.clip(seen.losses, 0, seen.n), seen.n
    within = np.where(losses < rest, 1 - _beta(losses + 1, rest - losses, margin), 1.0)
    beyond = np.where(losses > 0, _beta(losses, rest - losses + 1, margin), 1.0)
    return Tails(within, beyond)


def fewest_texts(margin: float, *, error: float = ERROR) -> int:
    """Return how many texts show *within* where no text differs; fewer never do.

    Examples
    --------
    >>> [fewest_texts(margin) for margin in (0.1, 0.05, 0.02)]
    [35, 73, 189]
    """
    return int(normal_quantile(1 - 2 * error) ** 2 * (1 - margin) / margin) + 1


def paired_score_estimate(
    first: ArrayLike, second: ArrayLike, example_ids: Sequence[str]
) -> Estimate | Undefined:
    """Return the mean of first minus second over texts, with Tango's score interval.

    Parameters
    ----------
    first, second
        Shape (n,), each in 0..1, rows parallel.
    example_ids
        The text of each row; rows of one text are averaged.

    Raises
    ------
    ValueError
        If the lengths differ or a difference is greater than 1.

    Examples
    --------
    >>> print(paired_score_estimate([1] * 40, [1] * 39 + [0], [str(row) for row in range(40)]))
    0.025 [-0.065, 0.129]
    """
    values = by_text(first, second, example_ids)
    if not len(values):
        return Undefined(reason="no text counts")
    seen, z = discordance(values), normal_quantile(1 - 2 * ERROR)
    value = float(seen.difference)
    return Estimate(
        value=value,
        low=min(value, _root(seen, z, -1.0, value)),
        high=max(value, _root(seen, -z, value, 1.0)),
        n=len(values),
        level=1 - 2 * ERROR,
        method="Tango's score, by effective texts",
    )


def judge_paired(
    name: str, first: ArrayLike, second: ArrayLike, example_ids: Sequence[str], *, margin: float
) -> Endpoint:
    """Judge whether first is at most a margin below second: target and baseline, or reference.

    Examples
    --------
    >>> judge_paired("accuracy", [1] * 35, [1] * 35, list("abcdefghijklmnopqrstuvwxyz123456789"),
    ...              margin=0.1).state
    'within'
    """
    estimate = paired_score_estimate(first, second, example_ids)
    if isinstance(estimate, Undefined):
        return Endpoint(name=name, estimate=estimate, limit=-margin)
    tails = paired_tails(discordance(by_text(first, second, example_ids)), margin)
    return _endpoint(name, estimate, -margin, tails)


def judge_against_one(
    name: str, scores: ArrayLike, example_ids: Sequence[str], *, margin: float
) -> Endpoint:
    """Judge whether a score in 0..1 is at most a margin below 1, by exact binomial tails.

    The interval is Clopper and Pearson's, of the effective number of texts.

    Examples
    --------
    >>> ids = [str(text) for text in range(100)]
    >>> print(judge_against_one("concordance", [1.0] * 100, ids, margin=0.05).estimate)
    1.000 [0.964, 1.000]
    """
    from scipy.special import betaincinv

    values = np.asarray(scores, dtype=np.float64)
    below = by_text(values, np.ones_like(values), example_ids)
    if not len(below):
        return Endpoint(name=name, estimate=Undefined(reason="no text counts"), limit=1 - margin)
    seen = discordance(below)
    losses, rest = float(seen.losses), float(seen.n - seen.losses)
    value = 1 - losses / float(seen.n)
    estimate = Estimate(
        value=value,
        low=min(value, 1 - float(betaincinv(losses + 1, rest, 1 - ERROR))) if rest > 0 else 0.0,
        high=max(value, 1 - float(betaincinv(losses, rest + 1, ERROR))) if losses > 0 else 1.0,
        n=len(below),
        level=1 - 2 * ERROR,
        method="Clopper-Pearson, by effective texts",
    )
    return _endpoint(name, estimate, 1 - margin, loss_tails(seen, margin))


def judge_estimate(name: str, estimate: Estimate | Undefined, *, limit: float) -> Endpoint:
    """Judge whether any estimate lies above a limit, such as a slope of at least .5.

    Its tails are Student's, with the width of its interval; fewer than ten texts show nothing.
    Without a width, as for a copy of the reference, the value decides.

    Examples
    --------
    >>> reach = Estimate(value=0.9, low=0.8, high=1.0, n=50, method="Student")
    >>> judge_estimate("reach", reach, limit=0.5).state
    'within'
    """
    if isinstance(estimate, Undefined) or estimate.n < FEWEST_FOR_A_SLOPE:
        return Endpoint(name=name, estimate=estimate, limit=limit)
    # Here and not above: scipy.special takes half a second to import.
    from scipy.special import stdtr

    above, freedom = estimate.value - limit, estimate.n - 1
    error = (estimate.high - estimate.low) / 2 / student_quantile(estimate.level, freedom)
    distance = above / error if error else math.copysign(math.inf, above)
    tails = Tails(stdtr(freedom, -distance), stdtr(freedom, distance))
    return _endpoint(name, estimate, limit, tails)


def texts_lacking(endpoint: Endpoint) -> int:
    """Return how many texts an open endpoint needs at least, if it has fewer; else 0.

    Concordance has no such number: graded differences may be worth more texts than they are.

    Examples
    --------
    >>> texts_lacking(judge_paired("accuracy", [1] * 35, [1] * 35, list(map(str, range(35))),
    ...                            margin=0.02))
    189
    """
    needed = FEWEST_FOR_A_SLOPE if endpoint.name.startswith(("reach", "mean score")) else 0
    if endpoint.limit and endpoint.name.startswith(("accuracy", "agreement")):
        needed = fewest_texts(-endpoint.limit)
    return needed if endpoint.state == "not shown" and endpoint.estimate.n < needed else 0


def by_text(first: ArrayLike, second: ArrayLike, example_ids: Sequence[str]) -> Numbers:
    """Return first minus second of each text, averaged over its rows, in the order of the ids.

    Examples
    --------
    >>> by_text([1, 1, 0], [0, 1, 1], ["b", "b", "a"]).tolist()
    [-1.0, 0.5]
    """
    examples = summed_differences(first, second, example_ids)
    return np.asarray(examples.sums / examples.sizes, dtype=np.float64)


def _root(seen: Discordance, z: float, low: float, high: float) -> float:
    """Return the difference at which the score, which falls as it rises, is z."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if tango_statistic(seen, middle) > z else (low, middle)
    return (low + high) / 2


def _endpoint(name: str, estimate: Estimate, limit: float, tails: Tails) -> Endpoint:
    within, beyond = map(float, tails)
    return Endpoint(name=name, estimate=estimate, limit=limit, p_within=within, p_beyond=beyond)


def _beta(first: Numbers, second: Numbers, share: float) -> Numbers:
    """Return the beta distribution's share below; its parameters are kept above 0."""
    from scipy.special import betainc

    parts = np.maximum(first, 1e-9), np.maximum(second, 1e-9)
    return np.asarray(betainc(*parts, share), dtype=np.float64)
