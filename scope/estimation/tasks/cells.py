"""The four cells of each two models: both right, one alone, or neither."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations

import numpy as np

from scope.records import FourCells, Measurement
from scope.statistics import mean_estimate, paired_difference

_RIGHT = ("accuracy", "exact_match")
"""The metrics whose values say whether an answer is right: one a task."""


def four_cells(against_gold: Sequence[Measurement]) -> Iterator[FourCells]:
    """The cells of each two models, from the values of each against the right answers."""
    measured = [one for one in against_gold if one.metric in _RIGHT]
    for first, second in combinations(measured, 2):
        of_second = dict(zip(second.example_ids, second.values, strict=True))
        both = zip(first.example_ids, first.values, strict=True)
        shared = [(item, value, of_second[item]) for item, value in both if item in of_second]
        ids = [item for item, _, _ in shared]
        one = np.array([value for _, value, _ in shared], dtype=np.float64)
        other = np.array([value for _, _, value in shared], dtype=np.float64)
        share = partial(mean_estimate, example_ids=ids, empty=_NO_QUESTION)
        yield FourCells(
            task=first.capability or "",
            first=first.target,
            second=second.target,
            both=share(one * other),
            only_first=share(one * (1 - other)),
            only_second=share((1 - one) * other),
            neither=share((1 - one) * (1 - other)),
            difference=paired_difference(one, other, ids, empty=_NO_QUESTION),
        )


_NO_QUESTION = "no question with a known right answer was put to both models"
