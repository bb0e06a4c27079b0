"""Differences between two targets, on the same examples."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from scope.estimation.corrections import corrected
from scope.estimation.measurements import NOTHING_INVARIANT
from scope.metrics import METRICS
from scope.records import Difference, Estimate, Measurement
from scope.statistics import paired_difference, sign_flip_p_value


def target_differences(
    measurements: Sequence[Measurement], targets: Sequence[str], seed: int
) -> tuple[Difference, ...]:
    """First target minus second, metric by metric on the same examples, Holm-corrected.

    The gap in accuracy is left out: the difference of two absolute values is not a mean.
    """
    kept = [one for one in measurements if one.metric != str(METRICS["iid_accuracy_gap"])]
    by_key = {(one.target, one.capability, one.metric): one for one in kept}
    keys = dict.fromkeys((one.capability, one.metric) for one in kept)
    differences = [
        _difference(by_key[first, *key], by_key[second, *key], seed)
        for key in keys
        for first, second in combinations(targets, 2)
    ]
    return corrected(differences)


def _difference(first: Measurement, second: Measurement, seed: int) -> Difference:
    both: tuple[Sequence[float], Sequence[float], Sequence[str]]
    both = (first.values, second.values, first.example_ids)
    estimate = paired_difference(*both, empty=NOTHING_INVARIANT)
    defined = isinstance(estimate, Estimate)
    return Difference(
        metric=first.metric,
        capability=first.capability,
        first=first.target,
        second=second.target,
        estimate=estimate,
        p_value=sign_flip_p_value(*both, np.random.default_rng(seed)) if defined else None,
    )
