"""Benchmark prediction: the accuracy of a model on a benchmark that it was not run on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scope.core.request import as_function
from scope.errors import DataError
from scope.fleet.findings.benchmarks import FEWEST_MODELS, leave_out, predict_benchmark
from scope.fleet.matrix import CorrectnessMatrix
from scope.jobs.fleet.answers import benchmarks_of, load_answers
from scope.jobs.fleet.learning import prepared
from scope.jobs.fleet.model_tables import require_known
from scope.jobs.fleet.models import answer_vectors, counts_of_answers
from scope.jobs.fleet.requests import PredictRequest
from scope.jobs.runner import Prepared, carry_out
from scope.printing import counted
from scope.records import BenchmarkPrediction, Manifest, PredictResult


def carry_out_predict_fleet(request: PredictRequest) -> PredictResult:
    """Predict the accuracies, or continue the run."""
    return carry_out(request, prepare)


predict_fleet = as_function(PredictRequest, carry_out_predict_fleet)


def prepare(request: PredictRequest) -> Prepared[PredictResult]:
    """Read and check the answers."""
    matrix, card = load_answers(request.data, request.columns)
    benchmarks = _benchmarks(matrix, request.benchmarks)
    _require_models(matrix, benchmarks)
    return prepared(
        "fleet predict",
        request,
        lambda manifest, _: _find(matrix, benchmarks, request, manifest),
        data=(card,),
        settings={
            "benchmarks": ", ".join(benchmarks),
            "splits": request.splits,
            "train_share": request.train_share,
            "seed": request.seed,
        },
    )


def _benchmarks(matrix: CorrectnessMatrix, named: Sequence[str]) -> tuple[str, ...]:
    """The named benchmarks, or all.

    Raises
    ------
    DataError
        If the questions have fewer than two benchmarks.
    SpecError
        If a named benchmark does not exist.
    """
    known = benchmarks_of(matrix, "one to predict, others to fit on")
    require_known(named, known, "--benchmark", "benchmark")
    return tuple(dict.fromkeys(named)) or known


def _require_models(matrix: CorrectnessMatrix, benchmarks: Sequence[str]) -> None:
    """Check that at least one of the benchmarks has enough models.

    Raises
    ------
    DataError
        If none has.
    """
    known = ~np.isnan(matrix.correct)
    of = np.array([category or "" for category in matrix.categories])
    most = max(
        int((known[of == one].any(axis=0) & known[of != one].any(axis=0)).sum())
        for one in benchmarks
    )
    if most < FEWEST_MODELS:
        raise DataError(
            f"{counted(most, 'model')} with answers to a benchmark and to other questions",
            expected=f"{FEWEST_MODELS} or more: some to fit on, others to predict",
            fix="add answers of further models",
        )


def _prediction(
    matrix: CorrectnessMatrix, benchmark: str, request: PredictRequest
) -> BenchmarkPrediction:
    left = leave_out(
        matrix.correct,
        matrix.categories,
        benchmark,
        lambda rows, columns: answer_vectors(matrix.correct[np.ix_(rows, columns)]),
    )
    return predict_benchmark(
        left.vectors,
        left.observed,
        benchmark=benchmark,
        models=[matrix.models[column] for column in left.columns],
        questions=left.questions,
        splits=request.splits,
        train=request.train_share,
        seed=request.seed,
    )


def _find(
    matrix: CorrectnessMatrix,
    benchmarks: Sequence[str],
    request: PredictRequest,
    manifest: Manifest,
) -> PredictResult:
    predictions = []
    with request.progress.task("held-out benchmarks", len(benchmarks)) as advance:
        for benchmark in benchmarks:
            predictions.append(_prediction(matrix, benchmark, request))
            advance()
    return PredictResult(
        manifest=manifest,
        **counts_of_answers(matrix),
        predictions=tuple(predictions),
        notes=(
            *matrix.notes,
            "each benchmark is predicted from vectors fitted without its questions",
        ),
    )
