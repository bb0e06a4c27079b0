"""Contributions of benchmarks to predicted accuracies, as EmbedLLM defines them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from scope.records import BenchmarkPrediction, Contribution, Estimate, Undefined
from scope.records.fleet import EVERY


def over_splits(values: NDArray[np.float64], models: int) -> Estimate:
    """The mean of the splits, with the middle 95 % of them as its interval."""
    mean = float(values.mean())
    low, high = np.percentile(values, [2.5, 97.5]).tolist()
    # The mean of a very skewed distribution may lie outside its middle.
    return Estimate(
        value=mean,
        low=min(low, mean),
        high=max(high, mean),
        n=models,
        method=f"middle 95 % of {len(values)} random splits of the models",
    )


def contribution_matrix(
    predict: Callable[..., BenchmarkPrediction], targets: Sequence[str], sources: Sequence[str]
) -> tuple[Contribution, ...]:
    """The contribution of each benchmark to the prediction of each other.

    It is the squared error of predicted accuracies with vectors learned without the source, minus
    that with it; the target is left out in both. That of a benchmark to itself is 0 by definition.
    Sums over targets and over sources follow, with `EVERY` in their place.

    Parameters
    ----------
    predict
        Predicts a target, after learning without the further benchmarks that it is called with.
    targets, sources
        The benchmarks that are predicted, and those that are left out in turn.

    Examples
    --------
    >>> unknown = Undefined(reason="not needed here")
    >>> def predict(target, *without):
    ...     return BenchmarkPrediction(
    ...         benchmark=target, questions=1, models=9, tested=4, splits=2, significant=0,
    ...         tau=unknown, mse=unknown, errors=(0.3, 0.3) if without else (0.1, 0.2)
    ...     )
    >>> for each in contribution_matrix(predict, ["arc"], ["arc", "gsm8k"])[:2]:
    ...     print(each.source, each.target, f"{each.value.value:.2f}")
    arc arc 0.00
    gsm8k arc 0.15
    """
    gains: dict[tuple[str, str], NDArray[np.float64]] = {}
    wholes = {target: predict(target) for target in targets}
    for target, whole in wholes.items():
        gains[target, target] = np.zeros_like(whole.errors or (np.nan,), dtype=np.float64)
        for source in (name for name in sources if name != target):
            less = predict(target, source)
            paired = less.models == whole.models and less.errors and whole.errors
            errors = (less.errors, whole.errors) if paired else ((np.nan,), (np.nan,))
            gains[source, target] = np.subtract(*errors)
    sums = dict.fromkeys(place for x, y in gains for place in ((x, EVERY), (EVERY, y)))
    contributions = []
    for source, target in (*gains, *sums):
        parts = [gains[x, y] for x, y in gains if source in (x, EVERY) and target in (y, EVERY)]
        total = sum(parts, np.zeros(1))
        value: Estimate | Undefined = Undefined(reason="too little is left to learn from")
        if not np.isnan(total).any():
            models = [whole.models for name, whole in wholes.items() if target in (name, EVERY)]
            value = over_splits(total, max(models))
        contributions.append(Contribution(source=source, target=target, value=value))
    return tuple(contributions)
