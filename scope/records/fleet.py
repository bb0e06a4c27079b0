"""What jobs on many models find: forecasts, routes, predictions and a map, and layers probed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from scope.records.estimates import Estimate, Undefined
from scope.records.examples import SPARSE_FIELD
from scope.records.result import FrameRow, Result

ROUTER, SINGLE_BEST = "router", "single best"
SAME_MIX, ORACLE = "random with the same mix", "oracle"
BEST_PER_BENCHMARK = "best per benchmark, in hindsight"
"""The routing strategies."""

EVERY = "all others"
"""In the place of a benchmark: the sum over all others."""

FEW_QUESTIONS = 10
"""With fewer questions, no difference is called significant."""

FEW_MODELS = 8
"""A community of fewer models is shown without a test and a conclusion."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbour:
    """A model near another one; distances are Euclidean, between the places of models."""

    model: str
    distance: float


@dataclass(frozen=True, kw_only=True, slots=True)
class FleetModel:
    """One model of the fleet: its accuracy on what it answered, and its place among the others.

    ``x`` and ``y`` are its place on the map, None if no map was drawn; ``nearest`` lists
    the nearest model first. ``added``: its vector was fitted with the rest of the fleet frozen.
    """

    name: str
    skill: Estimate | Undefined
    x: float | None = None
    y: float | None = None
    community: str | None = None
    nearest: tuple[Neighbour, ...] = ()
    added: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ForecastScore:
    """How well a forecaster predicts which model answers which unseen question correctly.

    ``forecaster`` is its spelling, such as ``knn(neighbours=131)``. ``accuracy`` is the share of
    answers whose correctness it predicts, ``brier`` the mean squared error of its probabilities;
    ``gain`` is the accuracy beyond that of each model's mean, paired by question, and None for
    the mean itself. ``category`` names a part of the questions, None stands for all. ``chosen``
    marks the forecaster that is used.
    """

    forecaster: str
    accuracy: Estimate | Undefined
    brier: Estimate | Undefined
    gain: Estimate | Undefined | None = None
    category: str | None = None
    chosen: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionForecast:
    """A question as an example; a long one without the middle of its text.

    ``expected`` is the mean forecast probability of a right answer over all models, and
    ``observed`` the share of them that are right, None if unknown. With a ``model``, which a router
    selects, both are of this model, and ``single_best`` is that of the single best model.
    """

    id: str
    text: str
    expected: float
    observed: float | None = None
    model: str | None = None
    single_best: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpectedAccuracy:
    """The share of the unseen questions that a model is expected to answer correctly.

    ``accuracy`` is the mean of its forecast probabilities; its interval is over questions, and
    says nothing of how far the probabilities can be trusted. ``observed`` is the model's accuracy
    where its answers are known and ``shift`` is observed minus forecast on those questions, paired;
    both are None where no answer of any model is known.
    """

    model: str
    accuracy: Estimate | Undefined
    observed: Estimate | Undefined | None = None
    shift: Estimate | Undefined | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ReliabilityBin:
    """Forecasts between two probabilities: their mean, and the share that came true."""

    low: float
    high: float
    predicted: float
    observed: Estimate | Undefined


@dataclass(frozen=True, kw_only=True, slots=True)
class RouterScore:
    """How often the model that a way of routing asks is right.

    ``router`` is ``router``, ``single best``, ``best per benchmark``, ``random with the same mix``
    or ``oracle``; the best per benchmark is known from the very answers that are scored.
    ``model`` names the single best. ``cost`` is the mean cost of a question where costs are
    known. ``gain`` is the router's accuracy minus this one's, paired by question, and None for
    the router itself. ``category`` names a part of the questions, None stands for all.
    """

    router: str
    model: str | None = None
    accuracy: Estimate | Undefined
    cost: float | None = None
    gain: Estimate | Undefined | None = None
    category: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RouteShare:
    """The share of the questions that the router gives to a model."""

    model: str
    share: float


@dataclass(frozen=True, kw_only=True, slots=True)
class BenchmarkPoint:
    """A model's accuracy on a benchmark, and the mean prediction of it by splits without it."""

    model: str
    predicted: float
    observed: float


@dataclass(frozen=True, kw_only=True, slots=True)
class BenchmarkPrediction:
    """A benchmark left out, and predicted from vectors that were learned without it.

    ``tau`` is Kendall's rank correlation between predicted and observed accuracies, the mean over
    ``splits`` random splits of the models with the middle 95 % of them as its interval;
    ``significant`` counts the splits in which it is positive with p below 0.05; ``mse`` is the
    mean squared error, of accuracies from 0 to 1, and ``baseline`` that of predicting the mean of
    the models that are learned from, None in old runs. ``tested`` is the number of models on the
    side of a split that is predicted, ``errors`` the squared error of each split, empty in old
    runs.
    """

    benchmark: str
    questions: int
    models: int
    tested: int
    splits: int
    significant: int
    tau: Estimate | Undefined
    mse: Estimate | Undefined
    baseline: Estimate | Undefined | None = None
    errors: tuple[float, ...] = ()
    points: tuple[BenchmarkPoint, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Contribution:
    """The effect of a benchmark on predictions of another: error without minus error with.

    It is a difference of mean squared errors of accuracies, positive where ``source`` helps to
    predict ``target``. `EVERY` stands for the sum over all sources or targets.
    """

    source: str
    target: str
    value: Estimate | Undefined


@dataclass(frozen=True, kw_only=True, slots=True)
class CommunityDistance:
    """The mean distance between the vectors of models of two communities, or within one.

    ``pairs`` counts the pairs of models. Within a community of `FEW_MODELS` or more ``p_value`` is
    the share of random communities of its size whose models lie as much nearer to each other than
    to all other models, or more so; else it is None. ``p_adjusted`` is the same after Benjamini
    and Hochberg's correction over all communities that have one.
    """

    first: str
    second: str
    pairs: int
    distance: Estimate | Undefined
    p_value: float | None = None
    p_adjusted: float | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class FleetResult(Result):
    """What every job on a fleet of models states: the response matrix and the forecaster.

    ``questions``, ``models`` and ``answers`` count the matrix, ``conflicts`` the answers that are
    given twice with different values. ``forecaster`` is the spelling of the one in use and
    ``encoder`` the spec behind the question vectors. ``notes`` are rules that were applied, in
    words, and ``files`` the names of files in the run's folder.
    """

    questions: int
    models: int
    answers: int
    conflicts: int = 0
    forecaster: str
    encoder: str
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, repr=False)
class ListedResult(FleetResult):
    """A result that lists models: all, or of a fleet that is evaluated those that were added."""

    fleet: tuple[FleetModel, ...] = ()

    def _skills(self) -> Iterator[FrameRow]:
        for model in self.fleet:
            yield FrameRow.of(self.manifest.job, "accuracy", model.name, model.skill)


@dataclass(frozen=True, kw_only=True, repr=False)
class EmbedResult(ListedResult):
    """A fleet: its models, and how well its forecaster did in cross-validation."""

    scores: tuple[ForecastScore, ...] = ()
    reliability: tuple[ReliabilityBin, ...] = ()
    examples: tuple[QuestionForecast, ...] = field(default=(), metadata=SPARSE_FIELD)

    def rows(self) -> Iterator[FrameRow]:
        """``target`` is the forecaster or the model, ``subset`` the category."""
        yield from _score_rows(self.manifest.job, self.scores)
        yield from _bin_rows(self.manifest.job, self.forecaster, self.reliability)
        yield from self._skills()


@dataclass(frozen=True, kw_only=True, repr=False)
class ForecastResult(ListedResult):
    """Forecasts of answers to new questions, and how well they did where answers are known.

    ``expected`` lists the models by expected accuracy, the highest first. ``shift`` is the mean
    observed minus forecast accuracy of all models on unseen questions with an answer; None where
    there are none.
    """

    scores: tuple[ForecastScore, ...] = ()
    expected: tuple[ExpectedAccuracy, ...] = ()
    shift: Estimate | Undefined | None = None
    reliability: tuple[ReliabilityBin, ...] = ()
    examples: tuple[QuestionForecast, ...] = field(default=(), metadata=SPARSE_FIELD)

    def rows(self) -> Iterator[FrameRow]:
        """``target`` is the forecaster or the model, ``subset`` the category."""
        job = self.manifest.job
        yield from _score_rows(job, self.scores)
        for model in self.expected:
            yield FrameRow.of(job, "expected_accuracy", model.model, model.accuracy)
            if model.observed is not None:
                yield FrameRow.of(job, "observed_accuracy", model.model, model.observed)
        if self.shift is not None:
            yield FrameRow.of(job, "accuracy_shift", self.forecaster, self.shift)
        yield from _bin_rows(job, self.forecaster, self.reliability)
        yield from self._skills()


@dataclass(frozen=True, kw_only=True, repr=False)
class RouteResult(ListedResult):
    """A model for each question, and how well the selection did where answers are known.

    ``mix`` holds the share of the questions of each selected model.
    """

    scores: tuple[ForecastScore, ...] = ()
    routers: tuple[RouterScore, ...] = ()
    mix: tuple[RouteShare, ...] = ()
    examples: tuple[QuestionForecast, ...] = field(default=(), metadata=SPARSE_FIELD)

    def rows(self) -> Iterator[FrameRow]:
        """``target`` is the forecaster, the routing strategy or the model."""
        job = self.manifest.job
        yield from _score_rows(job, self.scores)
        for score in self.routers:
            name = f"{score.router}: {score.model}" if score.model else score.router
            subset = score.category or ""
            yield FrameRow.of(job, "route_accuracy", name, score.accuracy, subset=subset)
            if score.gain is not None:
                gain = score.gain
                yield FrameRow.of(job, "route_gain", "router", gain, against=name, subset=subset)
        yield from self._skills()


@dataclass(frozen=True, kw_only=True, repr=False)
class PredictResult(FleetResult):
    """Benchmarks, each held out and predicted from the others."""

    predictions: tuple[BenchmarkPrediction, ...] = ()
    contributions: tuple[Contribution, ...] = ()

    def rows(self) -> Iterator[FrameRow]:
        """``target`` is the benchmark, or the one that contributes to the prediction of another."""
        job = self.manifest.job
        for each in self.contributions:
            yield FrameRow.of(job, "contribution", each.source, each.value, against=each.target)
        for prediction in self.predictions:
            yield FrameRow.of(job, "benchmark_tau", prediction.benchmark, prediction.tau)
            yield FrameRow.of(job, "benchmark_mse", prediction.benchmark, prediction.mse)
            if prediction.baseline is not None:
                yield FrameRow.of(job, "baseline_mse", prediction.benchmark, prediction.baseline)


@dataclass(frozen=True, kw_only=True, repr=False)
class MapResult(ListedResult):
    """The models on a map, and distances of communities."""

    communities: tuple[CommunityDistance, ...] = ()

    def rows(self) -> Iterator[FrameRow]:
        """``target`` and ``against`` are communities, or ``target`` is a model."""
        job = self.manifest.job
        for pair in self.communities:
            first, second = pair.first, pair.second
            yield FrameRow.of(job, "community_distance", first, pair.distance, against=second)
        yield from self._skills()


def _score_rows(job: str, scores: Iterable[ForecastScore]) -> Iterator[FrameRow]:
    for score in scores:
        name, subset = score.forecaster, score.category or ""
        yield FrameRow.of(job, "forecast_accuracy", name, score.accuracy, subset=subset)
        yield FrameRow.of(job, "forecast_brier", name, score.brier, subset=subset)
        if score.gain is not None:
            yield FrameRow.of(job, "forecast_gain", name, score.gain, against="mean", subset=subset)


def _bin_rows(job: str, forecaster: str, bins: Iterable[ReliabilityBin]) -> Iterator[FrameRow]:
    for x in bins:
        between = f"forecast {x.low:g} to {x.high:g}"
        yield FrameRow.of(job, "reliability", forecaster, x.observed, subset=between)


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbedModel:
    """How a model was read: the number and width of its layers, and the readout position.

    ``prompt`` is the template around the text, for the readout ``prompt`` alone; ``dtype`` the
    precision in which the model ran.
    """

    name: str
    layers: int
    width: int
    readout: str
    prompt: str | None
    dtype: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StepScore:
    """How well one step's scores follow people's, on the test pairs.

    ``parameters`` counts the numbers that are trained. The estimates are those of the first
    seed's probe; ``pearsons`` and ``spearmans`` hold each seed's, None where one has none.
    ``unseen`` is Pearson's correlation on those test pairs alone of which no sentence stands
    among the training and development pairs. ``error`` is the mean absolute difference from
    people's scores, in their unit; ``gain`` is Pearson's correlation beyond that of the step
    before, on all test pairs, and None for the first step. ``layer`` is that of ``raw``.
    """

    model: str
    step: str
    parameters: int
    pearson: Estimate | Undefined
    spearman: Estimate | Undefined
    unseen: Estimate | Undefined
    error: Estimate | Undefined
    gain: Estimate | Undefined | None = None
    pearsons: tuple[float | None, ...] = ()
    spearmans: tuple[float | None, ...] = ()
    layer: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerScore:
    """What one layer knows by itself, and what the last step's probe loses without it.

    ``raw`` is Pearson's correlation of the latents' own cosines with people's scores on the test
    pairs, ``encoded`` that of the probe's encodings where it has any. ``lost`` is the probe's
    correlation with all layers minus that without this one; None where there is but one layer.
    ``reconstruction`` is the share of the layer's variance that its autoencoder leaves unexplained
    on the test sentences; None without autoencoders.
    Layers count from 0, the input embeddings aside.
    """

    model: str
    layer: int
    raw: Estimate | Undefined
    encoded: Estimate | Undefined | None = None
    lost: Estimate | Undefined | None = None
    reconstruction: Estimate | Undefined | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerAblation:
    """What the last step's probe loses when it is fitted again without neighbouring layers.

    The layers from ``first`` to ``last`` are left out. ``pearson`` and ``spearman`` are the
    correlations with all layers minus those without these, on the same test pairs.
    """

    model: str
    step: str
    first: int
    last: int
    pearson: Estimate | Undefined
    spearman: Estimate | Undefined


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeDifference:
    """Pearson's correlation of one model's probe minus another's, on the same test pairs."""

    step: str
    first: str
    second: str
    pearson: Estimate | Undefined


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerAlignment:
    """How alike two models arrange the same sentences: linear CKA, from 0 to 1, layer by layer.

    ``values`` has a row for each layer of ``first`` and a column for each of ``second``;
    ``margins`` has the half widths of the 95 % intervals. ``chance`` is what the greatest value
    of the map stays below in 95 of 100 maps with the sentences of one model shuffled.
    """

    first: str
    second: str
    sentences: int
    values: tuple[tuple[float, ...], ...]
    margins: tuple[tuple[float, ...], ...]
    chance: float

    def cells(self) -> Mapping[tuple[int, int], Estimate]:
        """The CKA of each layer of ``first`` with each of ``second``, by the two numbers."""
        n = self.sentences
        return {
            (row, column): Estimate(
                value=value, low=value - margin, high=value + margin, n=n, method="CKA"
            )
            for row, pair in enumerate(zip(self.values, self.margins, strict=True))
            for column, (value, margin) in enumerate(zip(*pair, strict=True))
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class MisjudgedPair:
    """A test pair whose score by a step's probe is far from people's.

    The ``step`` is the last one, or ``raw`` where that has the higher correlation.
    """

    model: str
    id: str
    first: str
    second: str
    wanted: float
    given: float
    step: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeFindings:
    """All that a job on frozen latents found.

    ``train``, ``development`` and ``test`` count pairs, ``unseen`` the test pairs of which no
    sentence stands in the other two, and ``groups`` the groups of test pairs that share
    sentences, which intervals take for one each. ``sentences`` counts the different sentences in
    all pairs, ``unlabelled`` the sentences without scores that were read beside. ``low`` and
    ``high`` are the range of the scores. Of a saved probe that was put to the test ``train`` and
    ``development`` are 0. ``misjudged`` holds the worst pair of each model first. ``notes`` are
    rules that were applied, in words, and ``files`` the folders in which probes were saved.
    """

    train: int
    development: int
    test: int
    unseen: int
    groups: int
    sentences: int
    unlabelled: int
    low: float
    high: float
    models: tuple[ProbedModel, ...]
    scores: tuple[StepScore, ...]
    layers: tuple[LayerScore, ...] = ()
    ablations: tuple[LayerAblation, ...] = ()
    differences: tuple[ProbeDifference, ...] = ()
    alignments: tuple[LayerAlignment, ...] = ()
    misjudged: tuple[MisjudgedPair, ...] = ()
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, repr=False)
class ProbeResult(Result):
    """How well the frozen latents of each model predict human scores."""

    findings: ProbeFindings

    def rows(self) -> Iterator[FrameRow]:
        """Every number as a row of a data frame.

        ``target`` is the model, ``against`` the other model or the step before, and ``subset`` the
        step, the layer or the two layers.
        """
        job, findings = self.manifest.job, self.findings
        yield from _step_rows(job, findings.scores)
        for layer in findings.layers:
            for metric, estimate in (
                ("layer_pearson", layer.raw),
                ("layer_pearson_encoded", layer.encoded),
                ("layer_pearson_lost", layer.lost),
                ("layer_reconstruction_error", layer.reconstruction),
            ):
                if estimate is not None:
                    subset = f"layer {layer.layer}"
                    yield FrameRow.of(job, metric, layer.model, estimate, subset=subset)
        for each in findings.ablations:
            subset = f"without layers {each.first} to {each.last}"
            for metric, lost in (("pearson", each.pearson), ("spearman", each.spearman)):
                yield FrameRow.of(job, f"refitted_{metric}_lost", each.model, lost, subset=subset)
        for difference in findings.differences:
            yield FrameRow.of(
                job,
                "pearson_difference",
                difference.first,
                difference.pearson,
                against=difference.second,
                subset=difference.step,
            )
        for alignment in findings.alignments:
            first, second = alignment.first, alignment.second
            for (row, column), cell in alignment.cells().items():
                subset = f"layers {row} and {column}"
                yield FrameRow.of(job, "cka", first, cell, against=second, subset=subset)


def _step_rows(job: str, scores: tuple[StepScore, ...]) -> Iterator[FrameRow]:
    for before, score in zip((None, *scores), scores, strict=False):
        model, step = score.model, score.step
        for metric, estimate in (
            ("pearson", score.pearson),
            ("pearson_unseen", score.unseen),
            ("spearman", score.spearman),
            ("mean_absolute_error", score.error),
        ):
            yield FrameRow.of(job, metric, model, estimate, subset=step)
        if before is not None and score.gain is not None:
            last = before.step
            yield FrameRow.of(job, "pearson_gain", model, score.gain, against=last, subset=step)
