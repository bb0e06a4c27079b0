"""Benchmark prediction: the accuracy of a model on a benchmark that it was not run on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.answers import Run
from scope.core.request import as_function
from scope.jobs.fleet.embed import Learning, load_needed_encoder, prepared, tabulate
from scope.jobs.fleet.forecaster import Forecaster, VectorForecaster
from scope.jobs.fleet.map import answer_vectors, counts_of_answers
from scope.jobs.fleet.matrix import CorrectnessMatrix, benchmarks_of, load_answers, require_known
from scope.jobs.fleet.requests import PredictRequest
from scope.jobs.runner import Prepared, run_job
from scope.protocols import Encoder
from scope.records import (
    BenchmarkPoint,
    BenchmarkPrediction,
    Contribution,
    Estimate,
    Manifest,
    PredictResult,
    Setting,
    Undefined,
)
from scope.records.fleet import EVERY
from scope.statistics.intervals import one_numpy_thread

Vectors = NDArray[np.floating]
"""Shape (models, dimensions)."""

Rows = NDArray[np.int64]

FEWEST_MODELS = 10
"""With fewer models, a split has too few on either side to predict an order."""

STRENGTHS = tuple(10.0**power for power in range(-2, 5))
"""Strengths of the ridge, from almost none; leave-one-out over the training models chooses."""

SVD = "svd"
_LEFT_OUT = "each benchmark is predicted from vectors fitted without its questions"
NOTES = {
    SVD: (_LEFT_OUT, "vectors: skills and factors of the answers; ridge regression"),
    "mf": (_LEFT_OUT, "vectors: matrix factorization; plain linear regression, as in EmbedLLM"),
    "knn": (_LEFT_OUT, "one number a model: its mean forecast by knn; plain linear regression"),
}

SAME = 12
"""Decimals to which predictions are compared, so that rounding errors give no order."""


class LeftOut(NamedTuple):
    """Vectors learned without a benchmark, and the accuracies on it to predict.

    ``models`` are those that have both; ``questions`` counts those of the benchmark.
    """

    benchmark: str
    models: Sequence[str]
    vectors: Vectors
    observed: NDArray[np.float64]
    questions: int


def leave_out(
    matrix: CorrectnessMatrix,
    benchmark: str,
    embed: Callable[[Rows, Rows], Vectors],
    without: Collection[str] = (),
) -> LeftOut:
    """Learn vectors without a benchmark's questions, and average the answers to them.

    Parameters
    ----------
    matrix
        The answers; a question's benchmark is its category.
    benchmark
        The category to leave out.
    embed
        Given the rows to learn from and the columns of the models with an answer there, returns
        one vector for each of these columns.
    without
        Further categories to leave out.

    Examples
    --------
    Each model's vector is its accuracy on the other questions; the second has no answer on gsm8k:

    >>> answers = np.array([[1, 0], [0, 0], [1, np.nan]], dtype=np.float32)
    >>> matrix = CorrectnessMatrix(
    ...     models=("a", "b"), ids=("1", "2", "3"), texts=("",) * 3,
    ...     categories=("arc", "arc", "gsm8k"), correct=answers,
    ... )
    >>> def accuracies(rows, columns):
    ...     return answers[np.ix_(rows, columns)].mean(axis=0)[:, np.newaxis]
    >>> left = leave_out(matrix, "gsm8k", accuracies)
    >>> left.models, left.vectors.tolist(), left.observed.tolist(), left.questions
    (['a'], [[0.5]], [1.0], 1)
    """
    inside = np.array([category == benchmark for category in matrix.categories])
    outside = ~inside & np.array([category not in without for category in matrix.categories])
    known_inside, known_outside = (~np.isnan(matrix.correct[part]) for part in (inside, outside))
    learned = np.flatnonzero(known_outside.any(axis=0))
    vectors = embed(np.flatnonzero(outside), learned) if len(learned) else np.empty((0, 1))
    both = known_inside.any(axis=0)[learned]
    answers = matrix.correct[np.ix_(inside, learned[both])].astype(np.float64)
    return LeftOut(
        benchmark,
        [matrix.models[column] for column in learned[both]],
        vectors[both],
        np.nanmean(answers, axis=0) if both.any() else np.empty(0),
        int(inside.sum()),
    )


class Split(NamedTuple):
    """The models on one side of a split, predicted by a regression on the other side.

    ``error`` is the mean squared error, ``baseline`` that of predicting the mean.
    """

    models: Rows
    predicted: NDArray[np.float64]
    error: float
    baseline: float
    tau: float
    significant: bool


def predict_benchmark(
    left: LeftOut, *, splits: int = 100, train: float = 0.5, seed: int = 0, ridge: bool = True
) -> BenchmarkPrediction:
    """Predict accuracies on a benchmark from vectors learned without it, by a linear model.

    The models are split at random many times; a ridge regression on standardised vectors learns
    from one side and predicts the other. Kendall's τ then measures whether the order of the other
    side is predicted; a split in which all predictions or all accuracies are equal counts as τ = 0.
    EmbedLLM regresses without a ridge: with fewer models than dimensions, it fits all training
    models exactly.

    τ and the mean squared error are undefined, and ``splits`` 0, if there are fewer than 10 models
    or all have the same accuracy. The intervals hold the middle 95 % of the splits: they show the
    variation with the split, not with the choice of questions.

    ``train`` is the share of the models to fit. With ``ridge`` the weights are penalised, with a
    strength chosen by leave-one-out.

    Examples
    --------
    >>> skills = np.linspace(0.2, 0.9, 40)
    >>> left = LeftOut("arc", list(map(str, range(40))), skills[:, np.newaxis], skills**2, 25)
    >>> prediction = predict_benchmark(left)
    >>> prediction.significant, prediction.tested, round(prediction.tau.value, 2)
    (100, 20, 1.0)
    """
    models, unknown = len(left.models), None
    if models < FEWEST_MODELS:
        unknown = Undefined(reason=f"{models} models, and {FEWEST_MODELS} are needed", n=models)
    elif np.ptp(left.observed) == 0:
        unknown = Undefined(reason=f"all {models} models score {left.observed[0]:.3f}", n=models)
    # At least two models on either side, so that there is an order to predict.
    learned = min(max(round(train * models), 2), models - 2)
    generator = np.random.default_rng(seed)
    orders = [generator.permutation(models) for _ in range(0 if unknown else splits)]
    results = [_predict_split(left, order[:learned], order[learned:], ridge) for order in orders]
    errors = np.array([split.error for split in results])
    return BenchmarkPrediction(
        benchmark=left.benchmark,
        questions=left.questions,
        models=models,
        tested=0 if unknown else models - learned,
        splits=len(results),
        significant=sum(split.significant for split in results),
        tau=unknown or over_splits(np.array([split.tau for split in results]), models),
        mse=unknown or over_splits(errors, models),
        baseline=unknown or over_splits(np.array([split.baseline for split in results]), models),
        errors=tuple(errors.tolist()),
        points=_points(left, results),
    )


def _predict_split(left: LeftOut, known: Rows, asked: Rows, ridge: bool) -> Split:
    """Fit to the known models' accuracies, and predict those of the other models."""
    from scipy.stats import kendalltau
    from sklearn.linear_model import LinearRegression, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    regression = RidgeCV(alphas=STRENGTHS) if ridge else LinearRegression()
    model = make_pipeline(StandardScaler(), regression)
    learned, observed = left.observed[known], left.observed[asked]
    with one_numpy_thread():
        predicted = model.fit(left.vectors[known], learned).predict(left.vectors[asked])
    rank = kendalltau(np.round(predicted, SAME), observed)
    return Split(
        models=asked,
        predicted=predicted,
        error=((predicted - observed) ** 2).mean(),
        baseline=((learned.mean() - observed) ** 2).mean(),
        tau=0.0 if np.isnan(rank.statistic) else rank.statistic,
        significant=bool(rank.statistic > 0 and rank.pvalue < 0.05),
    )


def _points(left: LeftOut, results: Sequence[Split]) -> tuple[BenchmarkPoint, ...]:
    """Each model's prediction, averaged over the splits that predict it."""
    sums, counts = np.zeros((2, len(left.models)))
    for split in results:
        sums[split.models] += split.predicted
        counts[split.models] += 1
    return tuple(
        BenchmarkPoint(
            model=left.models[place],
            predicted=float(sums[place] / counts[place]),
            observed=float(left.observed[place]),
        )
        for place in np.flatnonzero(counts).tolist()
    )


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
    """The contribution of each benchmark to the prediction of every other one, as in EmbedLLM.

    The contribution is the squared error of predicted accuracies with vectors learned without the
    source, minus the error with the source; the target is left out in both. A benchmark's
    contribution to itself is 0 by definition. Sums over targets and over sources follow, under the
    name `EVERY`.

    ``predict`` takes a target and the further benchmarks to leave out; ``targets`` are predicted,
    and ``sources`` left out in turn.

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
    wholes = {target: predict(target) for target in targets}
    # The squared errors without a source minus those with it, split by split; NaN if unpaired.
    gains = {}
    for target, whole in wholes.items():
        for source in dict.fromkeys((target, *sources)):
            less = whole if source == target else predict(target, source)
            paired = less.models == whole.models and less.errors and whole.errors
            errors = np.subtract(less.errors, whole.errors) if paired else np.array([np.nan])
            gains[source, target] = errors
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


def vectors_by(
    request: PredictRequest, matrix: CorrectnessMatrix, encoder: Encoder | None
) -> Callable[[str, Rows, Rows], Vectors]:
    """The function that learns vectors for a benchmark from the answers in some rows and columns.

    svd: skills and factors of the answers. mf: the vectors of matrix factorization. knn: the mean
    forecast of the benchmark's questions, one number per model.
    """
    if encoder is None:
        return lambda _, rows, columns: answer_vectors(matrix.correct[np.ix_(rows, columns)])
    learning = Learning.of(request)
    table, layout = tabulate(matrix, encoder, request.progress, features=False)
    fits: dict[bytes, Forecaster] = {}

    def embed(benchmark: str, rows: Rows, columns: Rows) -> Vectors:
        key = rows.tobytes()
        if key not in fits:
            (unfitted,) = learning.candidates(layout)
            fits[key] = unfitted.fit(table[rows], matrix.correct[np.ix_(rows, columns)])
        learned = fits[key]
        if isinstance(learned, VectorForecaster):
            return learned.model_vectors_
        asked = [category == benchmark for category in matrix.categories]
        shares: Vectors = learned.predict_proba(table[asked]).mean(axis=0)[:, np.newaxis]
        return shares

    return embed


def run_predict_fleet(request: PredictRequest) -> PredictResult:
    """Predict the accuracies, or continue the run."""
    return run_job(request, prepare_predict)


predict_fleet = as_function(PredictRequest, run_predict_fleet)


def prepare_predict(request: PredictRequest) -> Prepared[PredictResult]:
    """Read and check the answers, the benchmarks and, for mf and knn, the encoder."""
    matrix, card = load_answers(request.data, request)
    every = benchmarks_of(matrix, "one to predict, others to fit on")
    require_known(request.benchmarks, every, "--benchmark", "benchmark")
    benchmarks = tuple(dict.fromkeys(request.benchmarks)) or every
    settings: dict[str, Setting] = {}
    encoder = None
    if request.forecaster != SVD:
        learning = Learning.of(request)
        encoder = load_needed_encoder(learning, matrix, request.encoder, request.model_options)
        settings = learning.settings(encoder)
    if request.contributions:
        settings["contributions"] = True
    return prepared(
        "fleet predict",
        request,
        partial(_compute, request, matrix, every, benchmarks, encoder),
        data=(card,),
        settings={
            **settings,
            "benchmarks": ", ".join(benchmarks),
            "splits": request.splits,
            "train_share": request.train_share,
            "seed": request.seed,
        },
        encoder=encoder,
        texts=matrix.texts,
    )


def _compute(
    request: PredictRequest,
    matrix: CorrectnessMatrix,
    every: Sequence[str],
    benchmarks: Sequence[str],
    encoder: Encoder | None,
    manifest: Manifest,
    _: Run,
) -> PredictResult:
    embed = vectors_by(request, matrix, encoder)

    def predict(benchmark: str, *without: str) -> BenchmarkPrediction:
        left = leave_out(matrix, benchmark, partial(embed, benchmark), without)
        return predict_benchmark(
            left,
            splits=request.splits,
            train=request.train_share,
            seed=request.seed,
            ridge=request.forecaster == SVD,
        )

    predictions = []
    with request.progress.task("held-out benchmarks", len(benchmarks)) as advance:
        for benchmark in benchmarks:
            predictions.append(predict(benchmark))
            advance()
    asked = request.contributions
    return PredictResult(
        manifest=manifest,
        **counts_of_answers(matrix, encoder),
        predictions=tuple(predictions),
        contributions=contribution_matrix(predict, benchmarks, every) if asked else (),
        notes=(*matrix.notes, *NOTES[request.forecaster]),
    )
