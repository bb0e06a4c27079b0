"""Does a target follow the reference less on one capability than on another?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np

from scope.estimation.pairs import Values
from scope.records import Difference, Estimate, Measurement

RESAMPLES = 9999
MINUS = " minus "
"""Stands between the two capabilities in the name of their difference."""


def between_capabilities(
    measurements: Sequence[Measurement],
    targets: Sequence[str],
    others: tuple[str, str | None],
    seed: int,
) -> tuple[Difference, ...]:
    """Concordance on one capability minus that on another, of a target minus another model's.

    That of the reference is 0: it follows itself everywhere. The interval is a bootstrap over all
    texts that gives each a random weight, the same for both capabilities and models (Rubin 1981).
    Two made-up texts, on each of which the target follows one of the capabilities alone, leave it a
    width where no text differs. Of k pairs of capabilities each has the level 1 - .05 / k.

    Parameters
    ----------
    measurements
        Those of concordance count, where they have values.
    targets
        Their names, the baseline's among them.
    others
        The reference, and the baseline if there is one.
    seed
        Of the weights.
    """
    rows = {
        (one.target, str(one.capability)): one
        for one in measurements
        if one.metric == "concordance" and one.values
    }
    texts = sorted({key for one in rows.values() for key in one.example_ids})
    weights = np.random.default_rng(seed).standard_exponential((RESAMPLES + 1, len(texts) + 2))
    # The first row holds the texts as they are.
    weights[0] = [1.0] * len(texts) + [0.0] * 2
    sums = {}
    for key, one in rows.items():
        own = weights[:, np.searchsorted(texts, one.example_ids)]
        sums[key] = own @ np.array(one.values), own.sum(axis=1)
    pairs = list(combinations(dict.fromkeys(capability for _, capability in rows), 2))
    found = []
    for target, pair, other in product(targets, pairs, filter(None, others)):
        models = (target,) if other == others[0] else (target, other)
        if target == other or not set(product(models, pair)) <= rows.keys():
            continue
        resampled = _difference([sums[target, part] for part in pair], weights[:, -2:])
        if other in models:
            resampled -= _difference([sums[other, part] for part in pair], 0 * weights[:, -2:])
        ids = {key for part in pair for key in rows[target, part].example_ids}
        found.append(
            Difference(
                metric="concordance",
                capability=MINUS.join(pair),
                first=target,
                second=other,
                estimate=_estimate(resampled, len(ids), 1 - 0.05 / len(pairs)),
            )
        )
    return tuple(found)


def _difference(sums: Sequence[tuple[Values, Values]], made_up: Values) -> Values:
    """First minus second in each resample; of two made-up texts each has one of them."""
    first, second = (
        (weighed + made_up[:, place]) / (total + made_up.sum(axis=1))
        for place, (weighed, total) in enumerate(sums)
    )
    return np.asarray(first - second)


def _estimate(resampled: Values, n: int, level: float) -> Estimate:
    """The first value, with the quantiles of the others."""
    value, tail = float(resampled[0]), (1 - level) / 2
    low, high = np.quantile(resampled[1:], [tail, 1 - tail]).tolist()
    # The made-up texts draw the interval towards 0, and the value must stay inside.
    low, high = min(low, value), max(high, value)
    return Estimate(value=value, low=low, high=high, n=n, level=level, method="bootstrap of texts")
