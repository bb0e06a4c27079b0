"""Benchmark prediction: the accuracy of a model on a benchmark that it was not run on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from scope.answers import Run
from scope.core.request import as_function
from scope.errors import DataError
from scope.jobs.fleet.embed import prepared
from scope.jobs.fleet.inputs import benchmarks_of, load_answers, require_known
from scope.jobs.fleet.models import answer_vectors, counts_of_answers
from scope.jobs.fleet.questions import Answers
from scope.jobs.fleet.requests import PredictRequest
from scope.jobs.runner import Prepared, run_job
from scope.printing import counted
from scope.records import (
    BenchmarkPoint,
    BenchmarkPrediction,
    Estimate,
    Manifest,
    PredictResult,
    Undefined,
)

Vectors = NDArray[np.floating]
"""Shape (models, dimensions)."""

Embed = Callable[[NDArray[np.int64], NDArray[np.int64]], Vectors]
"""Learns vectors from the answers in some rows and columns: one vector for each column."""

FEWEST_MODELS = 10
"""With fewer, half of them say nothing of the order of the other half."""

STRENGTHS = tuple(10.0**power for power in range(-2, 5))
"""Of the ridge, from almost none; the models that are learned from choose by leave-one-out."""

SAME = 12
"""Predictions equal to so many decimals are equal: rounding gives no order."""


class LeftOut(NamedTuple):
    """Vectors learned without a benchmark, and the accuracies on it that they are to predict.

    ``columns`` are the models that have both; ``questions`` counts those of the benchmark.
    """

    columns: NDArray[np.int64]
    vectors: Vectors
    observed: NDArray[np.float64]
    questions: int


def leave_out(
    answers: Answers, categories: Sequence[str | None], benchmark: str, embed: Embed
) -> LeftOut:
    """Learn vectors without a benchmark's questions, and average the answers to them.

    Parameters
    ----------
    answers
        Shape (questions, models): 1 right, 0 wrong, NaN unknown.
    categories
        The questions'.
    benchmark
        The category to leave out.
    embed
        Given the rows to learn from and the columns of the models with an answer there, returns
        one vector for each of these columns.

    Examples
    --------
    Each model's vector is its accuracy on what is left; the second has no answer on gsm8k:

    >>> answers = np.array([[1, 0], [0, 0], [1, np.nan]], dtype=np.float32)
    >>> def accuracies(rows, columns):
    ...     return answers[np.ix_(rows, columns)].mean(axis=0)[:, np.newaxis]
    >>> left = leave_out(answers, ["arc", "arc", "gsm8k"], "gsm8k", accuracies)
    >>> left.columns.tolist(), left.vectors.tolist(), left.observed.tolist(), left.questions
    ([0], [[0.5]], [1.0], 1)
    """
    inside = np.array([category == benchmark for category in categories])
    known_inside, known_outside = (~np.isnan(answers[part]) for part in (inside, ~inside))
    columns = np.flatnonzero(known_inside.any(axis=0) & known_outside.any(axis=0))
    learned = np.flatnonzero(known_outside.any(axis=0))
    vectors = embed(np.flatnonzero(~inside), learned)[np.isin(learned, columns)]
    observed = np.atleast_1d(np.nanmean(answers[np.ix_(inside, columns)], axis=0, dtype=np.float64))
    return LeftOut(columns, vectors, observed, int(inside.sum()))


def predict_benchmark(
    vectors: Vectors,
    observed: ArrayLike,
    *,
    benchmark: str,
    models: Sequence[str],
    questions: int,
    splits: int = 100,
    train: float = 0.5,
    seed: int = 0,
) -> BenchmarkPrediction:
    """Predict accuracies on a benchmark from vectors learned without it, by a linear model.

    The models are split at random many times; a ridge regression on standardised vectors learns
    from one side and predicts the other. Kendall's τ then says whether the other side's order is
    predicted; a split in which either is the same for all counts as τ = 0. (The paper regresses
    without a ridge: with as few models as it has dimensions, that only predicts noise.)

    τ and the mean squared error are undefined, and ``splits`` 0, where there are fewer than 10
    models or all score alike. The intervals hold the middle 95 % of the splits: they tell how much
    depends on the split, not on the choice of questions.

    Parameters
    ----------
    vectors
        Shape (models, dimensions).
    observed
        Shape (models,): accuracies on the benchmark, from 0 to 1.
    benchmark, questions
        Its name and number of questions, for the record.
    models
        Their names.
    splits
        How many.
    train
        The share of the models to learn from.
    seed
        Of the splits.

    Examples
    --------
    >>> skills = np.linspace(0.2, 0.9, 40)
    >>> prediction = predict_benchmark(
    ...     skills[:, np.newaxis], skills**2, benchmark="arc", models=list(map(str, range(40))),
    ...     questions=25,
    ... )
    >>> prediction.significant, prediction.tested, round(prediction.tau.value, 2)
    (100, 20, 1.0)
    """
    places, accuracies = np.asarray(vectors, dtype=np.float64), np.asarray(observed, np.float64)
    counts: dict[str, Any] = {"benchmark": benchmark, "questions": questions, "models": len(models)}
    reason = None
    if len(models) < FEWEST_MODELS:
        reason = f"{len(models)} models, and {FEWEST_MODELS} are needed"
    elif np.ptp(accuracies) == 0:
        reason = f"all {len(models)} models score {accuracies[0]:.3f}"
    if reason is not None:
        unknown = Undefined(reason=reason, n=len(models))
        return BenchmarkPrediction(
            **counts, tested=0, splits=0, significant=0, tau=unknown, mse=unknown, baseline=unknown
        )
    from scipy.stats import kendalltau
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # Two on either side, whatever the share, so that there is an order to predict.
    learned = min(max(round(train * len(models)), 2), len(models) - 2)
    generator = np.random.default_rng(seed)
    taus, errors, baseline, significant = *np.zeros((3, splits)), 0
    predictions = np.full((splits, len(models)), np.nan)
    for split in range(splits):
        order = generator.permutation(len(models))
        known, asked = order[:learned], order[learned:]
        model = make_pipeline(StandardScaler(), RidgeCV(alphas=STRENGTHS))
        with threadpool_limits(1):
            predicted = model.fit(places[known], accuracies[known]).predict(places[asked])
        predictions[split, asked] = predicted
        errors[split] = ((predicted - accuracies[asked]) ** 2).mean()
        baseline[split] = ((accuracies[known].mean() - accuracies[asked]) ** 2).mean()
        rank = kendalltau(np.round(predicted, SAME), accuracies[asked])
        taus[split] = 0.0 if np.isnan(rank.statistic) else rank.statistic
        significant += bool(rank.statistic > 0 and rank.pvalue < 0.05)
    points = tuple(
        BenchmarkPoint(
            model=name,
            # In order of the splits, as a running sum.
            predicted=float(sum(values[~np.isnan(values)].tolist()) / (~np.isnan(values)).sum()),
            observed=float(observed_accuracy),
        )
        for name, values, observed_accuracy in zip(models, predictions.T, accuracies, strict=True)
        if not np.isnan(values).all()
    )
    return BenchmarkPrediction(
        **counts,
        tested=len(models) - learned,
        splits=splits,
        significant=significant,
        tau=_over_splits(taus, len(models)),
        mse=_over_splits(errors, len(models)),
        baseline=_over_splits(baseline, len(models)),
        points=points,
    )


def _over_splits(values: NDArray[np.float64], models: int) -> Estimate:
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


def run_predict_fleet(request: PredictRequest) -> PredictResult:
    """Predict the accuracies, or continue the run."""
    return run_job(request, prepare)


predict_fleet = as_function(PredictRequest, run_predict_fleet)


def prepare(request: PredictRequest) -> Prepared[PredictResult]:
    """Read and check the answers.

    Raises
    ------
    DataError
        If there are fewer than two benchmarks, or too few models on each.
    SpecError
        If a named benchmark does not exist.
    """
    matrix, card = load_answers(request.data, request.columns)
    every = benchmarks_of(matrix, "one to predict, others to fit on")
    require_known(request.benchmarks, every, "--benchmark", "benchmark")
    benchmarks = tuple(dict.fromkeys(request.benchmarks)) or every
    known = ~np.isnan(matrix.correct)
    of = np.array([category or "" for category in matrix.categories])
    most = max(
        int((known[of == name].any(axis=0) & known[of != name].any(axis=0)).sum())
        for name in benchmarks
    )
    if most < FEWEST_MODELS:
        raise DataError(
            f"{counted(most, 'model')} with answers to a benchmark and to other questions",
            expected=f"{FEWEST_MODELS} or more: some to fit on, others to predict",
            fix="add answers of further models",
        )

    def predict(benchmark: str) -> BenchmarkPrediction:
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

    def compute(manifest: Manifest, _: Run) -> PredictResult:
        predictions = []
        with request.progress.task("held-out benchmarks", len(benchmarks)) as advance:
            for benchmark in benchmarks:
                predictions.append(predict(benchmark))
                advance()
        note = "each benchmark is predicted from vectors fitted without its questions"
        return PredictResult(
            manifest=manifest,
            **counts_of_answers(matrix),
            predictions=tuple(predictions),
            notes=(*matrix.notes, note),
        )

    return prepared(
        "fleet predict",
        request,
        compute,
        data=(card,),
        settings={
            "benchmarks": ", ".join(benchmarks),
            "splits": request.splits,
            "train_share": request.train_share,
            "seed": request.seed,
        },
    )
