"""Hard- and Soft-SCoPE of every model of the pool, on perturbations of the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from scope.estimation.pairs import InvariantPairs
from scope.evidence.answers import Scores
from scope.metrics import Metric

BeforeAndAfter = tuple[NDArray[np.float64], NDArray[np.float64]]
"""A model's probabilities for the original texts and for the changed ones."""


def asked_pairs(pairs: InvariantPairs, units: Sequence[str]) -> InvariantPairs:
    """The pairs of these examples, without those of another reference."""
    known = set(units)
    kept = [place for place, one in enumerate(pairs.example_ids) if one in known]
    if len(kept) == len(pairs.example_ids):
        return pairs

    def of_kept(rows: BeforeAndAfter) -> BeforeAndAfter:
        return rows[0][kept], rows[1][kept]

    return replace(
        pairs,
        example_ids=tuple(pairs.example_ids[place] for place in kept),
        reference=of_kept(pairs.reference),
        targets=tuple(map(of_kept, pairs.targets)),
    )


def invariance_scores(pairs: InvariantPairs, metric: Metric, units: Sequence[str]) -> Scores | None:
    """The metric of each model of the pool; the pool is the pairs' targets, in their order.

    None if the reference is invariant on no pair. ``units`` are the examples of the probes, to
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
