"""A model without retraining: its vector from 200 answers, against retraining on all its answers.

Some models are taken out of the fleet, ours is fitted on the others, and each is added with
answers to 200 of the training questions. Against it stands the fleet that was fitted with all
models and all answers; both forecast the same held-out questions.
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from fleet_forecasts import SHARES, split, summary
from fleet_sets import StoredSet

from scope.jobs.fleet.text_factors import TextFactors

ANSWERS = 200
NEWCOMERS = 100
"""Of a fleet of thousands; of a smaller one a fifth."""


class Newcomers(NamedTuple):
    """Mean accuracy of forecasts of the new models, either way, and milliseconds a vector."""

    added: float
    retrained: float
    milliseconds: list[float]


def newcomers(stored: StoredSet, seed: int) -> Newcomers:
    """Take models out of one split's fleet, add them again, and compare."""
    rows = split(stored.texts, SHARES[-1], seed)
    table, answers = stored.table[rows.train], stored.answers[rows.train]
    generator = np.random.default_rng([seed, ANSWERS])
    models = len(stored.models)
    new = np.sort(generator.permutation(models)[: min(NEWCOMERS, models // 5)])
    old = np.setdiff1d(np.arange(models), new)
    test, truth = stored.table[rows.test], stored.answers[rows.test][:, new]
    whole = TextFactors(layout=stored.layout, seed=seed).fit(table, answers)
    frozen = TextFactors(layout=stored.layout, seed=seed).fit(table, answers[:, old])
    accuracies, took = [], []
    for place, model in enumerate(new):
        answered = np.flatnonzero(~np.isnan(answers[:, model]))
        asked = np.sort(generator.permutation(answered)[:ANSWERS])
        began = time.perf_counter()
        grown = frozen.added(asked, answers[asked][:, [model]])
        took.append(1000 * (time.perf_counter() - began))
        accuracies.append(_accuracy(grown.predict_proba(test)[:, -1], truth[:, place]))
    retrained = whole.predict_proba(test)[:, new]
    return Newcomers(
        added=float(np.mean(accuracies)),
        retrained=float(
            np.mean([_accuracy(retrained[:, one], truth[:, one]) for one in range(len(new))])
        ),
        milliseconds=took,
    )


def _accuracy(probabilities: Any, truth: Any) -> float:
    known = ~np.isnan(truth)
    return float(((probabilities > 0.5) == (truth > 0.5))[known].mean())


def figures(name: str, results: list[Newcomers]) -> dict[str, Any]:
    """Means over the splits, the paired difference, and the median and longest time."""
    took = [one for result in results for one in result.milliseconds]
    return {
        **summary(f"{name}_added", [one.added for one in results]),
        **summary(f"{name}_retrained", [one.retrained for one in results]),
        **summary(f"{name}_added_over_retrained", [one.added - one.retrained for one in results]),
        f"{name}_added_ms": median(took),
        f"{name}_added_ms_most": max(took),
    }
