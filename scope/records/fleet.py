"""What the jobs on a whole fleet of models find: forecasts, routes, predictions and a map."""

from __future__ import annotations

from dataclasses import dataclass

from scope.records.estimates import Estimate, Undefined

EXAM_JOBS = ("fleet-forecast", "fleet-route")
"""Jobs that put new questions to a fleet: of its models only those added are told of."""

FEW_QUESTIONS = 10
"""Of fewer questions no difference is said to be beyond chance."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbour:
    """A model near another one; distances are Euclidean, between the places of models."""

    model: str
    distance: float


@dataclass(frozen=True, kw_only=True, slots=True)
class FleetModel:
    """One model of the fleet: its accuracy on what it answered, and its place among the others.

    ``x`` and ``y`` are its place on the map, None where none was drawn; ``nearest`` comes first
    what is nearest. ``added`` says that its vector was found with the rest of the fleet frozen.
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
    """How well a forecaster predicts who answers what correctly, on questions it never saw.

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
class ExpectedAccuracy:
    """The share of the questions asked that a model is expected to answer correctly.

    ``accuracy`` is the mean of its forecast probabilities; its interval is over questions, and
    says nothing of how far the probabilities can be trusted.
    """

    model: str
    accuracy: Estimate | Undefined


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

    ``router`` is ``router``, ``single best``, ``random with the same mix`` or ``oracle``;
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
    mean squared error, of accuracies from 0 to 1. ``tested`` is the number of models on the
    side of a split that is predicted.
    """

    benchmark: str
    questions: int
    models: int
    tested: int
    splits: int
    significant: int
    tau: Estimate | Undefined
    mse: Estimate | Undefined
    points: tuple[BenchmarkPoint, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Contribution:
    """What a benchmark's questions do for forecasts on another: error without minus error with.

    Positive where ``source`` helps to forecast ``target``; a share of answers, from -1 to 1.
    """

    source: str
    target: str
    value: Estimate | Undefined


@dataclass(frozen=True, kw_only=True, slots=True)
class CommunityDistance:
    """The mean distance between the vectors of models of two communities, or within one.

    ``pairs`` counts the pairs of models. Within a community ``p_value`` is the share of random
    communities of its size whose models lie as near to each other, or nearer; else it is None.
    ``p_adjusted`` is the same after Holm's correction over all communities that have one.
    """

    first: str
    second: str
    pairs: int
    distance: Estimate | Undefined
    p_value: float | None = None
    p_adjusted: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class FleetFindings:
    """All that a job on a fleet found; what a job does not ask for is empty.

    ``questions``, ``models`` and ``answers`` count the matrix of who answered what, ``conflicts``
    the answers that stood there twice and differed. ``forecaster`` is the spelling of the one in
    use and ``encoder`` the spec behind the question vectors. ``expected`` tells of the questions
    asked, the model first that is expected to be right most often. ``notes`` are rules that were
    applied, in words, and ``files`` the names of files in the run's folder.
    """

    questions: int
    models: int
    answers: int
    conflicts: int = 0
    forecaster: str
    encoder: str
    members: tuple[FleetModel, ...] = ()
    scores: tuple[ForecastScore, ...] = ()
    expected: tuple[ExpectedAccuracy, ...] = ()
    reliability: tuple[ReliabilityBin, ...] = ()
    routers: tuple[RouterScore, ...] = ()
    mix: tuple[RouteShare, ...] = ()
    predictions: tuple[BenchmarkPrediction, ...] = ()
    contributions: tuple[Contribution, ...] = ()
    communities: tuple[CommunityDistance, ...] = ()
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
