"""How well a measure tells related pairs of models from unrelated ones, with intervals.

AUROC is how often a related pair has the greater value of the two, ties counting half. The rate of
true positives at 1 % false ones is the share of related pairs that lie above the smallest value of
an unrelated pair which at most 1 % of the unrelated pairs exceed: with 358 of them, above the
fourth greatest.

Pairs that share a model are not independent, so models are drawn, not pairs: as many as there are,
with replacement, 1,000 times. A pair counts as often as both its models were drawn together, two
copies of one model are no pair, and the middle 95 % of the draws are the interval. Draws without a
related or an unrelated pair are left out. What the measure says of a pair is not computed anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from reuse_pairs import Lineage

FALSE_POSITIVES = 0.01
DRAWS = 1000
LEVEL = 0.95

Values = NDArray[np.float64]


class Interval(NamedTuple):
    """A rate and the bounds that its draws lie between."""

    value: float
    low: float
    high: float


class Discrimination(NamedTuple):
    """How well related and unrelated pairs are told apart."""

    auroc: Interval
    true_positives: Interval


def discrimination(values: Values, lineage: Lineage, *, draws: int = DRAWS) -> Discrimination:
    """Tell pairs apart by what a measure says of each, in each draw of models."""
    weights = np.vstack([np.ones(len(lineage.pairs)), weights_of_draws(lineage.pairs, draws)])
    counted = (weights @ lineage.related > 0) & (weights @ lineage.unrelated > 0)
    counted[0] = True
    auroc, true_positives = rates(values, lineage, weights[counted])
    return Discrimination(_interval(auroc), _interval(true_positives))


def weights_of_draws(pairs: NDArray[np.intp], draws: int) -> Values:
    """How often each pair stands in each draw of the models, shape (draws, pairs)."""
    models, places = np.unique(pairs, return_inverse=True)
    one, other = places.reshape(pairs.shape).T
    generator = np.random.default_rng(0)
    drawn = generator.multinomial(len(models), np.full(len(models), 1 / len(models)), size=draws)
    return (drawn[:, one] * drawn[:, other]).astype(np.float64)


def rates(values: Values, lineage: Lineage, weights: Values) -> tuple[Values, Values]:
    """AUROC and the rate of true positives with each row of weights."""
    related, unrelated = values[lineage.related], values[lineage.unrelated]
    of_related, of_unrelated = weights[:, lineage.related], weights[:, lineage.unrelated]
    total = of_unrelated.sum(axis=1, keepdims=True)
    reach = of_unrelated @ (unrelated[:, None] >= related).astype(np.float64) / total
    exceed = of_unrelated @ (unrelated[:, None] > related).astype(np.float64) / total
    # A related pair lies above that threshold where so few of the unrelated ones reach it.
    caught = reach <= FALSE_POSITIVES
    return (
        np.average(1 - (reach + exceed) / 2, axis=1, weights=of_related),
        np.average(caught, axis=1, weights=of_related),
    )


def _interval(draws: Values) -> Interval:
    """The first is what was measured, the rest are draws."""
    low, high = np.quantile(draws[1:], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(draws[0]), float(low), float(high))
