"""Benchmarks predicted from vectors that were learned without them, on metabench's six."""

from __future__ import annotations

from typing import Any

import numpy as np
from fleet_sets import StoredSet
from numpy.typing import NDArray
from surroundings import bounded

from scope.jobs.fleet.map import answer_vectors
from scope.jobs.fleet.matrix import CorrectnessMatrix
from scope.jobs.fleet.predict import leave_out, predict_benchmark
from scope.records import BenchmarkPrediction

ENOUGH = 95
"""Significant splits of 100 with which a benchmark counts as predicted."""


def predictions(stored: StoredSet, seed: int = 0) -> tuple[BenchmarkPrediction, ...]:
    """Leave each benchmark out in turn."""
    categories, names = tuple(stored.categories.tolist()), tuple(map(str, stored.texts))
    matrix = CorrectnessMatrix(
        models=stored.models, ids=names, texts=names, categories=categories, correct=stored.answers
    )

    def embed(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float32]:
        return answer_vectors(stored.answers[np.ix_(rows, columns)])

    return tuple(
        predict_benchmark(leave_out(matrix, benchmark, embed), seed=seed)
        for benchmark in sorted(set(categories))
    )


def figures(found: tuple[BenchmarkPrediction, ...]) -> dict[str, Any]:
    """How many benchmarks are predicted, and of each the significant splits, τ and error."""
    flat: dict[str, Any] = {
        "predict_significant": sum(one.significant >= ENOUGH for one in found),
        "predict_benchmarks": len(found),
    }
    for one in found:
        flat[f"predict_{one.benchmark}_significant"] = one.significant
        for name, value in (("tau", one.tau), ("mse", one.mse)):
            flat |= bounded(f"predict_{one.benchmark}_{name}", value)
    return flat
