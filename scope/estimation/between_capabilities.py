"""Does a target follow the reference less on one capability than on another?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from scope.estimation.pairs import Values
from scope.records import CapabilityDifference, Estimate, Measurement

RESAMPLES = 9999


class _Concordance(NamedTuple):
    """Concordance of one target on one capability, and in each resample its two sums."""

    mean: float
    texts: frozenset[str]
    weighed: Values
    weights: Values


def between_capabilities(
    measurements: Sequence[Measurement], targets: Sequence[str], baseline: str | None, seed: int
) -> tuple[CapabilityDifference, ...]:
    """Concordance on one capability minus that on another, of each target and two capabilities.

    With a baseline once more minus its same difference. The interval is a bootstrap over all texts
    that gives each a random weight, the same for both capabilities and models (Rubin 1981). Two
    made-up texts, on each of which the target follows one of the capabilities alone, leave it a
    width where no text differs. Of k pairs of capabilities each has the level 1 - .05 / k.

    Parameters
    ----------
    measurements
        Those of concordance count, where they have values.
    targets
        Their names, the baseline's among them.
    baseline
        Its name, if there is one.
    seed
        Of the weights.
    """
    rows = [one for one in measurements if one.metric == "concordance" and one.values]
    names = sorted({key for one in rows for key in one.example_ids})
    texts = {key: place for place, key in enumerate(names)}
    drawn = np.random.default_rng(seed).standard_exponential((RESAMPLES, len(texts) + 2))
    found: dict[str, dict[str, _Concordance]] = {name: {} for name in targets}
    for one in rows:
        own, values = drawn[:, [texts[key] for key in one.example_ids]], np.array(one.values)
        found[one.target][str(one.capability)] = _Concordance(
            float(values.mean()), frozenset(one.example_ids), own @ values, own.sum(axis=1)
        )
    pairs = list(combinations(dict.fromkeys(str(one.capability) for one in rows), 2))
    return tuple(
        CapabilityDifference(
            target=target,
            first=first,
            second=second,
            against=other,
            estimate=_estimate(
                (own[first], own[second]),
                None if other is None else (found[other][first], found[other][second]),
                drawn[:, -2:],
                1 - 0.05 / len(pairs),
            ),
        )
        for target, own in found.items()
        for first, second in pairs
        for other in dict.fromkeys((None, baseline))
        if target != other and {first, second} <= own.keys() & found[other or target].keys()
    )


Pair = tuple[_Concordance, _Concordance]


def _estimate(own: Pair, others: Pair | None, made_up: Values, level: float) -> Estimate:
    """First minus second of a target, minus the same of the baseline, if there is one."""
    value, resampled = own[0].mean - own[1].mean, _difference(own, made_up)
    if others is not None:
        value -= others[0].mean - others[1].mean
        resampled -= _difference(others, np.zeros_like(made_up))
    low, high = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(
        value=value,
        # The made-up texts draw the interval towards 0, and the value must stay inside.
        low=min(float(low), value),
        high=max(float(high), value),
        n=len(own[0].texts | own[1].texts),
        level=level,
        method="bootstrap over texts",
    )


def _difference(pair: Pair, made_up: Values) -> Values:
    """First minus second in each resample; of two more texts the target follows one on each."""
    first, second = (
        (one.weighed + made_up[:, place]) / (one.weights + made_up.sum(axis=1))
        for place, one in enumerate(pair)
    )
    return np.asarray(first - second)
