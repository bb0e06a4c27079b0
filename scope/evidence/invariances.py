"""Hard- and Soft-SCoPE of every model of the pool, on perturbations of the reference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scope.estimation.pairs import InvariantPairs
from scope.evidence.answers import Scores
from scope.metrics import Metric


def invariance_scores(pairs: InvariantPairs, metric: Metric, units: Sequence[str]) -> Scores | None:
    """The metric of each model of the pool, which are the pairs' targets in their order.

    None where the reference is invariant on no pair. ``units`` are the examples of the probes, to
    which the pairs' examples belong.
    """
    if not pairs.example_ids:
        return None
    number = {unit: place for place, unit in enumerate(units)}
    owners = np.array([number[one] for one in pairs.example_ids])
    models = len(pairs.targets) + 1
    values, parts = np.full(models, np.nan), np.zeros((models, len(units)))
    for place in range(len(pairs.targets)):
        each = pairs.values(metric, place) / len(owners)
        values[place + 1] = each.sum()
        parts[place + 1] = np.bincount(owners, weights=each, minlength=len(units))
    return Scores(values=values, parts=parts)
