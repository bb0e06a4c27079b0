"""Differences between two models against the right answers, on the same items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from scope.estimation.measurements import corrected
from scope.estimation.tasks.texts import lowest
from scope.metrics import METRICS
from scope.records import Difference, Estimate, Measurement, Undefined
from scope.statistics import paired_difference, sign_flip_p_value

COMPARED = ("accuracy", "word_f1", "sem_score")
"""The metrics in which models are compared, if a task has them."""

MOST_MODELS = 10
"""With more models there are too many pairs for a table, and for a corrected test."""


def gold_differences(
    measurements: Sequence[Measurement], models: Sequence[str], seed: int, *, cosines: bool = True
) -> tuple[Difference, ...]:
    """First model minus second against the right answers, Holm-corrected together.

    ``measurements`` are those of each model against gold, with their values; ``cosines`` is
    true if SemScores are cosines, in -1..1, and not in 0..1. There is no difference with more than
    ten models.
    """
    if len(models) > MOST_MODELS:
        return ()
    by_key = {(one.target, one.metric): one for one in measurements}
    present = {one.metric for one in measurements}
    differences = [
        _difference(
            by_key[first, key],
            by_key[second, key],
            seed,
            width=METRICS[key].high - lowest(key, cosines=cosines),
        )
        for key in COMPARED
        if key in present
        for first, second in combinations(models, 2)
    ]
    return corrected(differences)


def _difference(first: Measurement, second: Measurement, seed: int, *, width: float) -> Difference:
    # Differences of cosines reach 2, those of shares 1: tested values are in -1..1.
    of_second = dict(zip(second.example_ids, second.values, strict=True))
    ids = [item for item in first.example_ids if item in of_second]
    of_first = dict(zip(first.example_ids, first.values, strict=True))
    one = np.array([of_first[item] for item in ids]) / width
    other = np.array([of_second[item] for item in ids]) / width
    estimate = paired_difference(one, other, ids, empty=_why_none(first, second))
    if isinstance(estimate, Undefined):
        p_value = None
    else:
        generator = np.random.default_rng(seed)
        p_value = sign_flip_p_value(one, other, ids, generator)
        estimate = _widened(estimate, width)
    return Difference(
        metric=first.metric,
        first=first.target,
        second=second.target,
        capability=first.capability,
        estimate=estimate,
        p_value=p_value,
    )


def _why_none(first: Measurement, second: Measurement) -> str:
    """Why two models have no item in common on which both could be right."""
    undefined = (one.estimate for one in (first, second) if isinstance(one.estimate, Undefined))
    return next((estimate.reason for estimate in undefined), "no question was put to both models")


def _widened(estimate: Estimate, width: float) -> Estimate:
    return replace(
        estimate,
        value=width * estimate.value,
        low=width * estimate.low,
        high=width * estimate.high,
    )
