"""A metric of a third party: how little the target's probability of its label moves."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scope.metrics import Metric
from scope.metrics.arrays import Values


def steadiness_values(
    reference_clean: ArrayLike,
    reference_perturbed: ArrayLike,
    target_clean: ArrayLike,
    target_perturbed: ArrayLike,
    *,
    open_vocabulary: bool = False,
    power: float,
) -> Values:
    """1 where the target's greatest probability stays as it is, less the more it moves."""
    before, after = (np.asarray(one).max(axis=1) for one in (target_clean, target_perturbed))
    return (1 - np.abs(before - after)) ** power


STEADINESS = Metric(
    key="steadiness",
    title="Steadiness (power {power})",
    parameters={"power": 1.0},
    directed=True,
    clean=False,
    paper="none: an example to copy",
    explanation="How little the target's greatest probability moves with the text.",
    on_pairs=steadiness_values,
)
