"""Benchmark prediction: the accuracy of a model on a benchmark that it was not run on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.answers import Run
from scope.core.request import as_function
from scope.jobs.fleet.contributions import contribution_matrix, over_splits
from scope.jobs.fleet.embed import Learning, load_needed_encoder, prepared, tabulate
from scope.jobs.fleet.forecaster import Forecaster, VectorForecaster
from scope.jobs.fleet.inputs import benchmarks_of, load_answers, require_known
from scope.jobs.fleet.matrix import CorrectnessMatrix
from scope.jobs.fleet.models import NO_ENCODER, answer_vectors, counts_of_answers
from scope.jobs.fleet.questions import Answers
from scope.jobs.fleet.requests import PredictRequest
from scope.jobs.runner import Prepared, run_job
from scope.protocols import Encoder
from scope.records import (
    BenchmarkPoint,
    BenchmarkPrediction,
    Manifest,
    PredictResult,
    Setting,
    Undefined,
)
from scope.statistics.threads import one_numpy_thread

Vectors = NDArray[np.floating]
"""Shape (models, dimensions)."""

Embed = Callable[[NDArray[np.int64], NDArray[np.int64]], Vectors]
"""Learns vectors from the answers in some rows and columns: one vector for each column."""

FEWEST_MODELS = 10
"""With fewer, half of them say nothing of the order of the other half."""

STRENGTHS = tuple(10.0**power for power in range(-2, 5))
"""Of the ridge, from almost none; the models that are learned from choose by leave-one-out."""

SVD = "svd"
_LEFT_OUT = "each benchmark is predicted from vectors fitted without its questions"
NOTES = {
    SVD: (_LEFT_OUT, "vectors: skills and factors of the answers; ridge regression"),
    "mf": (_LEFT_OUT, "vectors: matrix factorization; plain linear regression, as in EmbedLLM"),
    "knn": (_LEFT_OUT, "one number a model: its mean forecast by knn; plain linear regression"),
}

SAME = 12
"""Decimals to which predictions are compared: rounding gives no order."""


class LeftOut(NamedTuple):
    """Vectors learned without a benchmark, and the accuracies on it that they are to predict.

    ``columns`` are the models that have both; ``questions`` counts those of the benchmark.
    """

    columns: NDArray[np.int64]
    vectors: Vectors
    observed: NDArray[np.float64]
    questions: int


def leave_out(
    answers: Answers,
    categories: Sequence[str | None],
    benchmark: str,
    embed: Embed,
    without: Collection[str] = (),
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
    without
        Further categories whose questions are not learned from.

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
    outside = ~inside & np.array([category not in without for category in categories])
    known_inside, known_outside = (~np.isnan(answers[part]) for part in (inside, outside))
    columns = np.flatnonzero(known_inside.any(axis=0) & known_outside.any(axis=0))
    learned = np.flatnonzero(known_outside.any(axis=0))
    if not len(learned):
        return LeftOut(learned, np.empty((0, 1)), np.empty(0), int(inside.sum()))
    vectors = embed(np.flatnonzero(outside), learned)[np.isin(learned, columns)]
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
    ridge: bool = True,
) -> BenchmarkPrediction:
    """Predict accuracies on a benchmark from vectors learned without it, by a linear model.

    The models are split at random many times; a ridge regression on standardised vectors learns
    from one side and predicts the other. Kendall's τ then says whether the other side's order is
    predicted; a split in which either is the same for all counts as τ = 0. EmbedLLM regresses
    without a ridge: with fewer models than dimensions, all models learned from are then fitted
    exactly.

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
    ridge
        Whether the weights are penalised, by a strength that leave-one-out chooses.

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
    from sklearn.linear_model import LinearRegression, RidgeCV
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
        regression = RidgeCV(alphas=STRENGTHS) if ridge else LinearRegression()
        model = make_pipeline(StandardScaler(), regression)
        with one_numpy_thread():
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
        tau=over_splits(taus, len(models)),
        mse=over_splits(errors, len(models)),
        baseline=over_splits(baseline, len(models)),
        errors=tuple(errors.tolist()),
        points=points,
    )


def vectors_by(
    forecaster: str, matrix: CorrectnessMatrix, encoder: Encoder | None, request: PredictRequest
) -> Callable[[str], Embed]:
    """For each benchmark, the function that learns the models' vectors without it.

    svd: skills and factors of the answers. mf: the vectors of matrix factorization. knn: the mean
    forecast of the benchmark's questions, one number a model.
    """
    if encoder is None:
        return lambda _: lambda rows, columns: answer_vectors(matrix.correct[np.ix_(rows, columns)])
    table, layout = tabulate(matrix, encoder, request.progress, features=False)
    fits: dict[bytes, Forecaster] = {}

    def embed(benchmark: str, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Vectors:
        key = rows.tobytes()
        if key not in fits:
            (unfitted,) = Learning(forecaster=forecaster, seed=request.seed).candidates(layout)
            fits[key] = unfitted.fit(table[rows], matrix.correct[np.ix_(rows, columns)])
        learned = fits[key]
        if isinstance(learned, VectorForecaster):
            return learned.model_vectors_
        asked = [category == benchmark for category in matrix.categories]
        shares: Vectors = learned.predict_proba(table[asked]).mean(axis=0)[:, np.newaxis]
        return shares

    return lambda benchmark: partial(embed, benchmark)


def run_predict_fleet(request: PredictRequest) -> PredictResult:
    """Predict the accuracies, or continue the run."""
    return run_job(request, prepare)


predict_fleet = as_function(PredictRequest, run_predict_fleet)


def prepare(request: PredictRequest) -> Prepared[PredictResult]:
    """Read and check the answers.

    Raises
    ------
    DataError
        If there are fewer than two benchmarks.
    SpecError
        If a named benchmark does not exist.
    """
    matrix, card = load_answers(request.data, request.columns)
    every = benchmarks_of(matrix, "one to predict, others to fit on")
    require_known(request.benchmarks, every, "--benchmark", "benchmark")
    benchmarks = tuple(dict.fromkeys(request.benchmarks)) or every
    name, encoder = request.forecaster, None
    settings: dict[str, Setting] = {}
    if name != SVD:
        learning = Learning(forecaster=name)
        encoder = load_needed_encoder(learning, matrix, request.encoder, request.model_options)
        settings = learning.settings(encoder)

    def predict(
        embedding: Callable[[str], Embed], benchmark: str, *without: str
    ) -> BenchmarkPrediction:
        embed = embedding(benchmark)
        left = leave_out(matrix.correct, matrix.categories, benchmark, embed, without)
        return predict_benchmark(
            left.vectors,
            left.observed,
            benchmark=benchmark,
            models=[matrix.models[column] for column in left.columns],
            questions=left.questions,
            splits=request.splits,
            train=request.train_share,
            seed=request.seed,
            ridge=name == SVD,
        )

    def compute(manifest: Manifest, _: Run) -> PredictResult:
        by_embedding = partial(predict, vectors_by(name, matrix, encoder, request))
        predictions = []
        with request.progress.task("held-out benchmarks", len(benchmarks)) as advance:
            for benchmark in benchmarks:
                predictions.append(by_embedding(benchmark))
                advance()
        return PredictResult(
            manifest=manifest,
            **counts_of_answers(matrix, encoder.spec if encoder else NO_ENCODER),
            predictions=tuple(predictions),
            contributions=contribution_matrix(by_embedding, benchmarks, every)
            if request.contributions
            else (),
            notes=(*matrix.notes, *NOTES[name]),
        )

    return prepared(
        "fleet predict",
        request,
        compute,
        data=(card,),
        settings={
            **settings,
            **({"contributions": True} if request.contributions else {}),
            "benchmarks": ", ".join(benchmarks),
            "splits": request.splits,
            "train_share": request.train_share,
            "seed": request.seed,
        },
        encoder=encoder,
        texts=matrix.texts if encoder else (),
    )
