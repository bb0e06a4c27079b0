"""Benchmark prediction: how would a model score on a benchmark that it was never run on?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from scope.errors import DataError, SpecError
from scope.fleet.findings.benchmarks import FEWEST_MODELS, leave_out, predict_benchmark
from scope.fleet.matrix import CorrectnessMatrix
from scope.jobs.fleet.given import benchmarks_of, listed_specs, read_answers
from scope.jobs.fleet.marking import NO_ENCODER
from scope.jobs.fleet.members import FROM_ANSWERS, answer_vectors
from scope.jobs.fleet.plan import FleetPlan, carry_out
from scope.jobs.frame import Surroundings
from scope.printing import counted, did_you_mean, listed
from scope.protocols import Progress
from scope.records import BenchmarkPrediction, Comparison, FleetFindings


def predict_fleet(
    *,
    data: str | Sequence[str],
    benchmarks: Sequence[str] = (),
    splits: int = 100,
    train_share: float = 0.5,
    columns: Mapping[str, str] | None = None,
    seed: int = 0,
    run: str | Path | None = None,
    runs: Path = Path("runs"),
    progress: Progress | None = None,
) -> Comparison:
    """Leave each benchmark out in turn, and foretell the accuracies on it from the others.

    Vectors of the models are learned from the answers to all other questions; a linear model from
    vector to accuracy learns from some of the models and foretells the rest, for many random
    splits of them. No text is read.

    Parameters
    ----------
    data
        As for `embed_fleet`, with the questions' benchmarks as their category.
    benchmarks
        Which to leave out; each in turn if none is named.
    splits
        How many random splits of the models.
    train_share
        The share of the models to learn from.
    columns, seed, run, runs, progress
        As for `embed_fleet`.

    Raises
    ------
    ScopeError
        Whatever the user can mend: see `scope.errors`.
    """
    _check_splits(splits, train_share)
    matrix, card = read_answers(data, columns)
    named = _benchmarks(matrix, benchmarks)
    _require_models(matrix, named)
    plan = FleetPlan(
        job="predict",
        data=(card,),
        settings={
            "benchmarks": ", ".join(named),
            "splits": splits,
            "train_share": train_share,
            "seed": seed,
        },
        asked={
            "data": listed_specs(data),
            "benchmark": list(benchmarks),
            "splits": splits,
            "train_share": train_share,
            "column": [f"{role}={name}" for role, name in (columns or {}).items()],
            "seed": seed,
        },
    )
    around = Surroundings.of(None, run, runs, progress)
    foretell = partial(_foretold, matrix, splits=splits, train=train_share, seed=seed)
    return carry_out(plan, around, lambda _: _find(matrix, named, foretell, around))


def _check_splits(splits: int, train_share: float) -> None:
    if splits < 1 or not 0 < train_share < 1:
        raise SpecError(
            f"{splits} splits with a share of {train_share:g} of the models to learn from",
            expected="one split or more, and a share between 0 and 1",
            mend="leave --splits and --train-share out",
        )


def _benchmarks(matrix: CorrectnessMatrix, named: Sequence[str]) -> tuple[str, ...]:
    """Those named, or all; there must be two or more to leave one out.

    Raises
    ------
    DataError
        When the questions have fewer than two benchmarks.
    SpecError
        When one is named that they have not.
    """
    known = benchmarks_of(matrix, "one to foretell, others to learn from")
    for one in named:
        if one not in known:
            raise SpecError(
                f"no benchmark `{one}`",
                expected=f"one of: {listed(known, 40)}",
                mend=did_you_mean(one, known, "name one of these, or none for all"),
            )
    return tuple(dict.fromkeys(named)) or known


def _require_models(matrix: CorrectnessMatrix, benchmarks: Sequence[str]) -> None:
    """See that one of the benchmarks at least has models enough to foretell.

    Raises
    ------
    DataError
        When none has.
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
            expected=f"{FEWEST_MODELS} or more: some to learn from, others to foretell",
            mend="add answers of further models",
        )


def _foretold(
    matrix: CorrectnessMatrix, benchmark: str, *, splits: int, train: float, seed: int
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
        splits=splits,
        train=train,
        seed=seed,
    )


def _find(
    matrix: CorrectnessMatrix,
    benchmarks: Sequence[str],
    foretell: Callable[[str], BenchmarkPrediction],
    around: Surroundings,
) -> FleetFindings:
    predictions = []
    with around.progress.task("benchmarks left out", len(benchmarks)) as advance:
        for benchmark in benchmarks:
            predictions.append(foretell(benchmark))
            advance()
    return FleetFindings(
        questions=len(matrix.ids),
        models=len(matrix.models),
        answers=matrix.n_answers,
        conflicts=matrix.conflicts,
        forecaster=FROM_ANSWERS,
        encoder=NO_ENCODER,
        predictions=tuple(predictions),
        notes=(
            *matrix.notes,
            "each benchmark is foretold from vectors that were learned without its questions",
        ),
    )
