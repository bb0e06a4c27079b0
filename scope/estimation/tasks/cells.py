"""The four cells of each two models: both right, one alone, or neither."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import cast

import numpy as np
from numpy.typing import NDArray

from scope.records import Estimate, FourCells, Measurement
from scope.statistics import mean_estimate, paired_difference

_RIGHT = ("accuracy", "exact_match")
"""The metrics whose values say whether an answer is right: one a task."""


def four_cells(against_gold: Sequence[Measurement]) -> Iterator[FourCells]:
    """The cells of each two models, from the values of each against the right answers."""
    measured = [one for one in against_gold if one.metric in _RIGHT]
    for first, second in combinations(measured, 2):
        of_first = dict(zip(first.example_ids, first.values, strict=True))
        of_second = dict(zip(second.example_ids, second.values, strict=True))
        ids = [item for item in of_first if item in of_second]
        one, other = (np.array([of[item] for item in ids]) for of in (of_first, of_second))
        if ids:
            yield FourCells(
                task=first.capability or "",
                first=first.target,
                second=second.target,
                both=_share(one * other, ids),
                only_first=_share(one * (1 - other), ids),
                only_second=_share((1 - one) * other, ids),
                neither=_share((1 - one) * (1 - other), ids),
                difference=cast(Estimate, paired_difference(one, other, ids)),
            )


def _share(values: NDArray[np.float64], ids: Sequence[str]) -> Estimate:
    return cast(Estimate, mean_estimate(values, ids))
