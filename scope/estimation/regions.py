"""Where a target differs: regions of texts, proposed on one half and confirmed on the other.

A region is a condition on a text (`scope.estimation.conditions`), several words joined by *or*, or
two conditions. In it the target differs from the reference by more than the yardstick does, and by
more than it does on the other texts.

**Proposal.** On the proposing half each region is scored as the spatial scan statistic scores a
window (Kulldorff 1997): O differences in it where E are expected have the log-likelihood ratio
O log(O / E) + (N - O) log((N - O) / (N - E)), less the logarithm of the number of conditions for
each condition that it names. The best is proposed, its texts are set aside, and so on, ten at most.
The ratio prefers the region that fits a fault, neither a part of it nor more, as it grows with the
differences that a region explains. Without a yardstick the expected rate is that of texts of which
the reference is as sure, in fifths of its confidence: each sound copy differs where it is unsure.

**Confirmation.** The regions do not depend on the other half, so that each of k has there an
ordinary interval with an error of .025 / k at either end (Bonferroni), and all of them hold
together in 95 of 100 runs, however the regions overlap. Of several families (texts and random
changes, tasks, looks) each has its part of the error. A region is confirmed if the lower end of
both differences clears the margin: target minus yardstick, and inside minus outside. Rates on the
half that proposed are not used again: the greatest of many is too large.

**Further texts** of a region may join the confirming half inside. The region alone chose them, no
answer did, so that both are a sample of its texts.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.estimation.conditions import Conditions, Holds
from scope.records import ERROR, REGION_MARGIN, Estimate, Region, unit_of
from scope.statistics.intervals import normal_quantile, score_estimate

Values = NDArray[np.float64]
"""Shape (texts,)."""

MOST_PROPOSED = 10
MOST_WORDS_JOINED = 6
STARTS = 20
"""Single conditions from which larger regions grow."""

LEAST_RATIO = 4.0
"""Of a region's log-likelihood ratio, less the price of its conditions."""

CONFIDENCE_BANDS = 5
FEWEST_CLUSTERS = 10
"""Of texts in fewer clusters, such as the random changes of a few texts, nothing is known."""


class Measured(NamedTuple):
    """By text, how far the target, and the yardstick if there is one, differ from the reference.

    ``measure`` is ``answers`` (0 or 1), ``accuracy`` (right minus right, -1..1) or ``confidence``
    (half the L1 distance of the probabilities, 0..1).
    """

    measure: str
    target: Values
    yardstick: Values | None = None

    @property
    def excess(self) -> Values:
        """How far the target differs beyond the yardstick."""
        return self.target if self.yardstick is None else self.target - self.yardstick


class Proposal(NamedTuple):
    """A region of texts: the conditions it names, the texts that it holds, what differs there."""

    names: Sequence[str]
    joined_by: str
    holds: Holds
    measured: Measured

    @property
    def name(self) -> str:
        """What the region's texts have in common.

        Examples
        --------
        >>> nothing = Measured("answers", np.zeros(1))
        >>> Proposal(["with “a”", "with “b”", "with “c”"], "or", np.ones(1, bool), nothing).name
        'with “a”, “b” or “c”'
        """
        first, *others = self.names
        if self.joined_by == "or":
            others = [name.removeprefix("with ") for name in others]
        return " ".join(
            filter(None, (", ".join([first, *others[:-1]]), self.joined_by, *others[-1:]))
        )


class Further(NamedTuple):
    """Texts of one region that were not sampled, and the reference's confidence there.

    ``measured`` has the texts that were sampled first, and these last.
    """

    ids: Sequence[str]
    measured: Measured
    confidence: Sequence[float]


def proposes(ids: Sequence[str], seed: int) -> Holds:
    """Which texts propose regions; the others confirm. Texts of one cluster are in one half.

    Depends on a text's id and the seed alone, so that further texts change no text's half.

    Examples
    --------
    >>> proposes(["a", "b", "c", "d"], seed=0).tolist()
    [True, False, False, True]
    """
    halves = {
        unit: hashlib.sha256(f"{seed}:{unit}".encode()).digest()[0] % 2
        for unit in set(map(unit_of, ids))
    }
    return np.array([halves[unit_of(id_)] for id_ in ids], dtype=bool)


def find_regions(
    target: str,
    ids: Sequence[str],
    conditions: Conditions,
    measured: Sequence[Measured],
    *,
    confidence: Values | None = None,
    margin: float = REGION_MARGIN,
    error: float = ERROR,
    seed: int = 0,
    further: Callable[[Proposal, int], Further] | None = None,
) -> Iterator[Region]:
    """The regions that are confirmed, and those with too few texts to decide.

    Parameters
    ----------
    target
        Its name.
    ids
        Of the texts, in the order of all else.
    measured
        What is compared; of all measures the region with the clearest difference is proposed.
    confidence
        The reference's probability of its answer; texts of equal confidence are compared where
        there is no yardstick.
    margin
        By how much a region differs beyond the yardstick and beyond the other texts.
    error
        One-sided, of all regions together.
    further
        Draws further texts of a region, given the region and the number of its texts in the
        confirming half; they count inside that region alone.
    """
    first = proposes(ids, seed)
    confidence = confidence if measured and measured[0].yardstick is None else None
    bands = _bands(confidence, len(ids))
    proposals = list(_proposals(conditions, measured, bands, first, margin))
    for proposal in proposals:
        inside, outside = ~first & proposal.holds, ~first & ~proposal.holds
        known = proposal, ids, bands
        if further is not None:
            more = further(proposal, int(inside.sum()))
            inside = np.pad(inside, (0, len(more.ids)), constant_values=True)
            outside = np.pad(outside, (0, len(more.ids)))
            bands_there = _bands(confidence, len(ids), more.confidence)
            known = proposal._replace(measured=more.measured), [*ids, *more.ids], bands_there
        if inside.any() and outside.any():
            yield _confirmed(target, *known, inside, outside, margin, error / len(proposals))


def _bands(confidence: Values | None, n: int, further: Sequence[float] = ()) -> NDArray[np.intp]:
    """Of each text the fifth of the confidence of the first ``n``; one band without confidence."""
    if confidence is None or not n:
        return np.zeros(n + len(further), dtype=np.intp)
    ends = np.quantile(confidence, np.linspace(0, 1, CONFIDENCE_BANDS + 1)[1:-1])
    return np.searchsorted(ends, np.append(confidence, further), side="right")


def _proposals(
    conditions: Conditions,
    measured: Sequence[Measured],
    bands: NDArray[np.intp],
    first: Holds,
    margin: float,
) -> Iterator[Proposal]:
    """The regions that explain most differences of the first half, each of texts not yet in one."""
    left = first.copy()
    for _ in range(MOST_PROPOSED):
        best = max(
            (_best(conditions, each, bands, left, margin) for each in measured),
            key=lambda scored: scored[0],
            default=(0.0, None),
        )
        if best[1] is None:
            return
        yield best[1]
        left &= ~best[1].holds


class _Scan:
    """The score of regions on the texts that are left, for one measure."""

    def __init__(
        self, table: Holds, measured: Measured, bands: NDArray[np.intp], left: Holds, margin: float
    ) -> None:
        self.table = table[left].astype(np.float64)
        excess = measured.excess[left]
        self.differs, self.less = np.clip(excess, 0, 1), np.clip(-excess, 0, 1)
        sizes = np.bincount(bands[left])
        rates = np.bincount(bands[left], self.differs) / np.maximum(sizes, 1)
        self.expected = rates[bands[left]]
        self.total, self.margin = float(self.differs.sum()), margin
        # Differences below 1 vary less than counts do.
        self.scale = float((self.differs**2).sum()) / max(self.total, 1e-12)
        self.price = math.log(max(2, table.shape[1]))

    def scores(self, seen: Values, expected: Values, sizes: Values, named: int) -> Values:
        """Log-likelihood ratios, less the price; -inf where the margin is not passed."""
        rest, of_rest = self.total - seen, self.total - expected
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = seen * np.log(seen / expected)
            ratio += np.where(rest > 1e-9, rest * np.log(rest / of_rest), 0.0)
            inside = seen / sizes
            outside = rest / np.maximum(of_rest, 1e-9) * expected / sizes
        passed = (sizes > 0) & (seen > expected) & (inside - outside > self.margin)
        return np.where(passed, np.round(ratio / self.scale - named * self.price, 9), -np.inf)

    def single(self) -> Values:
        """Of each condition by itself."""
        return self._of(np.zeros(len(self.table)), self.table, 1)

    def joined(self, holds: Values, words: int, named: int) -> Values:
        """Of a region *or* each of the first conditions, which are words."""
        return self._of(holds, self.table[:, :words] * (1 - holds)[:, None], named)

    def narrowed(self, holds: Values, named: int) -> Values:
        """Of a region *and* each condition."""
        return self._of(np.zeros(len(self.table)), self.table * holds[:, None], named)

    def _of(self, holds: Values, more: Values, named: int) -> Values:
        counted = np.stack([self.differs, self.expected, self.less, np.ones(len(holds))])
        seen, expected, less, sizes = counted @ more + (counted @ holds)[:, None]
        # Where the yardstick differs more often than elsewhere, so much is taken away.
        seen = np.maximum(seen - np.maximum(less - self.less.mean() * sizes, 0), 0)
        return self.scores(seen, expected, sizes, named)


def _best(
    conditions: Conditions, measured: Measured, bands: NDArray[np.intp], left: Holds, margin: float
) -> tuple[float, Proposal | None]:
    """The region with the best score, and the score; None where no region is worth its price."""
    scan = _Scan(conditions.holds, measured, bands, left, margin)
    if not conditions.names or scan.total == 0:
        return -math.inf, None
    single = scan.single()
    best, names, by = LEAST_RATIO, [], ""
    for start in np.argsort(-single, kind="stable")[:STARTS].tolist():
        score, parts = float(single[start]), [start]
        holds = scan.table[:, start]
        if not math.isfinite(score):
            break
        pairs = scan.narrowed(holds, 2)
        second = int(np.argmax(pairs))
        if pairs[second] > max(best, score):
            best, names, by = float(pairs[second]), [start, second], "and"
        while start < conditions.words and len(parts) < MOST_WORDS_JOINED:
            wider = scan.joined(holds, conditions.words, len(parts) + 1)
            another = int(np.argmax(wider))
            if wider[another] <= score:
                break
            score, parts = float(wider[another]), [*parts, another]
            holds = np.maximum(holds, scan.table[:, another])
        if score > best:
            best, names, by = score, parts, "or" if parts[1:] else ""
    if not names:
        return -math.inf, None
    table = conditions.holds[:, names]
    texts: Holds = np.asarray(table.all(axis=1) if by == "and" else table.any(axis=1))
    return best, Proposal([conditions.names[place] for place in names], by, texts, measured)


def _confirmed(
    target: str,
    proposal: Proposal,
    ids: Sequence[str],
    bands: NDArray[np.intp],
    inside: Holds,
    outside: Holds,
    margin: float,
    error: float,
) -> Region:
    """The region with its numbers on the texts that did not propose it."""
    excess, yardstick = proposal.measured.excess, proposal.measured.yardstick
    beyond = _estimate(excess, inside, ids, error)
    shares = [np.mean(bands[inside] == band) for band in range(CONFIDENCE_BANDS)]
    others = [
        (share, _estimate(excess, outside & (bands == band), ids, error))
        for band, share in enumerate(shares)
        if share
    ]
    more = _contrast(beyond, others)
    shown = more if yardstick is None else min(beyond, more, key=lambda each: each.low)
    return Region(
        target=target,
        name=proposal.name,
        measure=proposal.measured.measure,
        inside=float(proposal.measured.target[inside].mean()),
        outside=float(proposal.measured.target[outside].mean()),
        yardstick=None if yardstick is None else float(yardstick[inside].mean()),
        excess=shown,
        confirmed=bool(shown.low > margin),
        needed=_needed(shown, margin, error),
        further=len(ids) - len(proposal.holds),
        texts=tuple(dict.fromkeys(compress(ids, proposal.holds))),
    )


def _estimate(values: Values, some: Holds, ids: Sequence[str], error: float) -> Estimate:
    """The mean over some of the texts; without any, as in a band, nothing is known."""
    chosen = [ids[place] for place in np.flatnonzero(some).tolist()]
    units = len(set(map(unit_of, chosen)))
    if units < min(len(chosen), FEWEST_CLUSTERS) or not units:
        value = float(values[some].mean()) if units else 0.0
        level, method = 1 - 2 * error, "too few clusters"
        return Estimate(value=value, low=-1.0, high=1.0, n=len(chosen), level=level, method=method)
    return score_estimate(values[some], chosen, error=error)


def _contrast(inside: Estimate, others: Sequence[tuple[float, Estimate]]) -> Estimate:
    """Inside minus outside, with Newcombe's interval of a difference of independent shares."""
    value = inside.value - sum(share * each.value for share, each in others)
    value = min(1.0, max(-1.0, value))
    below = sum((share * (each.high - each.value)) ** 2 for share, each in others)
    above = sum((share * (each.value - each.low)) ** 2 for share, each in others)
    low = value - math.sqrt((inside.value - inside.low) ** 2 + below)
    high = value + math.sqrt((inside.high - inside.value) ** 2 + above)
    return Estimate(
        value=value,
        low=max(-1.0, low),
        high=min(1.0, high),
        n=inside.n,
        level=inside.level,
        method="Tango's score and Newcombe's difference",
    )


def _needed(estimate: Estimate, margin: float, error: float) -> int | None:
    """Texts that confirm the region in 4 of 5 runs if they differ as much; None if none do."""
    if estimate.value <= margin or estimate.low > margin:
        return None
    z = normal_quantile(1 - 2 * error)
    wider = (estimate.value - estimate.low) / (estimate.value - margin)
    return math.ceil(estimate.n * (wider * (1 + normal_quantile(0.6) / z)) ** 2)
