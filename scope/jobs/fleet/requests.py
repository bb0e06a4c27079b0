"""The requests of the jobs on a fleet of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from scope.core.options import (
    DATA,
    HIDDEN,
    METHOD,
    MODELS,
    Limits,
    named_values,
    option,
    repeated,
    whole_number,
)
from scope.core.request import Job, described, refuse_unused
from scope.data.sources import data_spec
from scope.errors import SpecError
from scope.jobs.configuration import LeavesOut
from scope.models.options import Loading, ModelOptions

ForecasterName = Literal["auto", "factors", "knn", "mean", "mf"]
"""Methods that fit a fleet; auto selects one."""

OF_TEXTS = ("encoder", "engine", *(option.name for option in described(Loading)))
"""The options of jobs that read texts."""

TEST_SHARE = 0.2
"""Default share of held-out questions."""


def _cost(written: str) -> float:
    try:
        return float(written)
    except ValueError as error:
        raise SpecError(
            f"`{written}` as the cost of a model",
            expected="MODEL=COST with a number",
            fix="write for example --cost yi-34b=0.8",
        ) from error


@dataclass(frozen=True, kw_only=True)
class FleetRequest(LeavesOut):
    """The options of every job on a fleet."""

    columns: Annotated[
        Mapping[str, str],
        named_values(DATA, "--column", metavar="ROLE=NAME", example="model=system"),
    ] = field(default_factory=dict)
    """Column of a role, such as model=system; auto-detected if omitted. Roles: model, item (the
    question's id), question (its text), category, correct, context, options, gold (the right answer
    of a saved prediction, or of a question). In a table with a column of answers per model,
    model=A,B,C names them. May be repeated."""

    correct_above: Annotated[float | None, option(DATA)] = None
    """Score above which an answer is right, for tables with scores such as 0.25 in the column
    correct."""

    seed: Annotated[int, whole_number(DATA), Limits(least=0)] = 0
    """Random seed of splits and fitting."""

    @property
    def roles(self) -> Mapping[str, str]:
        """The columns, and the score above which an answer is right."""
        above = {} if self.correct_above is None else {"correct above": str(self.correct_above)}
        return {**self.columns, **above}

    def __post_init__(self) -> None:
        super().__post_init__()
        tables = ("data", "add", "questions")
        self.take(data_spec, *(name for name in tables if hasattr(self, name)))


@dataclass(frozen=True, kw_only=True)
class ReadsTexts(FleetRequest):
    """A job that may use the questions' texts."""

    encoder: Annotated[
        str | None,
        option(METHOD, metavar="MODEL", default="all-mpnet-base-v2, or the encoder of the fleet"),
    ] = None
    """Sentence encoder of the questions."""

    model_options: Annotated[ModelOptions, HIDDEN, Loading] = field(default_factory=ModelOptions)
    """How the encoder is loaded and run."""


@dataclass(frozen=True, kw_only=True)
class Learns(ReadsTexts):
    """A job that can fit a fleet."""

    forecaster: Annotated[ForecasterName, option(METHOD)] = "auto"
    """Method that fits the fleet. auto selects mean, knn or factors by cross-validation over the
    questions; mf, as published, takes minutes."""

    tune: Annotated[bool, option(METHOD)] = False
    """Choose the neighbours of knn, and the epochs and learning rate of mf, by cross-validation."""


@dataclass(frozen=True, kw_only=True)
class FromAnswers(FleetRequest):
    """A job on answers."""

    data: Annotated[Sequence[str | Any], option(DATA, metavar="ANSWERS")]
    """Answers: a long .csv, .jsonl or .parquet with one row per model and question, a folder of
    saved answers, or a finished run of `scope compare`; may be repeated.

    In Python also a DataFrame or a Dataset of such rows."""


@dataclass(frozen=True, kw_only=True)
class EmbedRequest(FromAnswers, Learns):
    """Learn a vector for every model from its answers.

    The fleet is saved in the run's folder, under `embedder`, for the other commands. An interrupted
    run continues when the same command is given again, with the same result.

    Example: scope fleet embed --data answers.csv --run ours
    """

    dimensions: Annotated[
        int | None, whole_number(METHOD, default="that of the forecaster"), Limits(least=1)
    ] = None
    """Dimension of the models' vectors, for factors and mf."""

    folds: Annotated[int, whole_number(METHOD), Limits(least=2)] = 5
    """Folds of the cross-validation over the questions."""

    features: Annotated[bool, option(METHOD, negative="--no-features")] = True
    """Use lengths, digits and symbols of a question's text in addition to its vector."""


@dataclass(frozen=True, kw_only=True)
class FleetOrAnswers(FleetRequest):
    """A job on a stored fleet, or on answers."""

    forms: ClassVar[str] = "--fleet RUN, or --data ANSWERS"

    fleet: Annotated[str | Path | None, option(MODELS, metavar="RUN")] = None
    """Run of `scope fleet embed`, by name or path."""

    add: Annotated[str | Any | None, option(MODELS, metavar="ANSWERS")] = None
    """Answers of further models to questions of the fleet, matched by id or text: these models are
    added without retraining."""

    data: Annotated[Sequence[str | Any], option(DATA, metavar="ANSWERS")] = ()
    """Answers in place of --fleet: a long .csv, .jsonl or .parquet with one row per model and
    question, a folder of saved answers, or a finished run of `scope compare`; may be repeated."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.fleet is None) == (not self.data):
            neither = self.fleet is None
            raise SpecError(
                "neither a fleet nor answers" if neither else "both a fleet and answers",
                expected=self.forms,
                fix="add --fleet or --data" if neither else "omit --fleet or --data",
            )
        if self.fleet is None:
            refuse_unused(self, ("add",), "with --data", self.forms)


@dataclass(frozen=True, kw_only=True)
class Evaluates(FleetOrAnswers, Learns):
    """A job on new questions of a fleet, or on a held-out part of answers."""

    forms: ClassVar[str] = (
        "--fleet RUN with --questions FILE, or --data ANSWERS, part of which is held out"
    )

    questions: Annotated[str | Any | None, option(DATA, metavar="FILE")] = None
    """New questions for --fleet, with or without the models' answers."""

    test_share: Annotated[float, option(DATA), Limits(above=0, below=1)] = TEST_SHARE
    """Share of the questions of --data to hold out."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fleet is None:
            refuse_unused(self, ("questions",), "with --data", self.forms)
            return
        refuse_unused(self, ("test_share", "forecaster", "tune"), "with --fleet", self.forms)
        if self.questions is None:
            raise SpecError(
                "a fleet without questions", expected=self.forms, fix="add --questions FILE"
            )


@dataclass(frozen=True, kw_only=True)
class ForecastRequest(Evaluates):
    """Predict how likely each model answers each new question correctly.

    All forecasts are written to forecasts.csv in the run's folder. With --data instead of --fleet,
    part of the questions is held out, and forecasts are scored on it. An interrupted run continues
    when the same command is given again, with the same result.

    Example: scope fleet forecast --fleet ours --questions new.csv
    """


@dataclass(frozen=True, kw_only=True)
class RouteRequest(Evaluates):
    """Select a model for each new question.

    The selection uses each model's skill, and the question's text if that helps. It is written to
    routes.csv in the run's folder, with the predicted probability. If answers are known, the router
    is compared with the single best model, a random choice and an oracle. An interrupted run
    continues when the same command is given again, with the same result.

    Example: scope fleet route --fleet ours --questions new.csv
    """

    models: Annotated[Sequence[str], option(MODELS, "--model", metavar="NAME")] = ()
    """Candidate model of the fleet, by default all; may be repeated."""

    costs: Annotated[
        Mapping[str, float],
        named_values(METHOD, "--cost", metavar="MODEL=COST", example="yi-34b=0.8", value=_cost),
    ] = field(default_factory=dict)
    """Cost per question of a model, in any unit; may be repeated. Of two equally good models the
    cheaper one is selected."""

    costs_file: Annotated[str | Path | None, option(METHOD, "--costs", metavar="FILE")] = None
    """Table (.csv) of costs with the columns model and cost; --cost takes precedence."""


@dataclass(frozen=True, kw_only=True)
class PredictRequest(FromAnswers, ReadsTexts):
    """Predict the models' accuracies on each benchmark from the other benchmarks.

    Vectors of the models are learned without the benchmark; a linear model from vector to accuracy
    is fitted on some of the models and predicts the others, for many random splits. A question's
    benchmark is its category; texts and an encoder are used by mf and knn alone. An interrupted run
    continues when the same command is given again, with the same result.

    Example: scope fleet predict --data answers.csv
    """

    forecaster: Annotated[Literal["svd", "mf", "knn"], option(METHOD)] = "svd"
    """Method. svd: factors of the answers, and ridge regression. mf: vectors of EmbedLLM's matrix
    factorization, and plain linear regression, as published. knn: the mean forecast of the
    benchmark's questions by the nearest others, and plain linear regression."""

    contributions: Annotated[bool, option(METHOD)] = False
    """Measure how much lower the error on each benchmark is with each other one, as in EmbedLLM."""

    benchmarks: Annotated[Sequence[str], option(DATA, "--benchmark", metavar="NAME")] = ()
    """Benchmark to predict, by default each in turn; may be repeated."""

    splits: Annotated[int, whole_number(METHOD), Limits(least=1)] = 100
    """Number of random splits of the models into fitted and predicted ones."""

    train_share: Annotated[float, option(METHOD), Limits(above=0, below=1)] = 0.5
    """Share of the models that the linear model is fitted on."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.forecaster == "svd":
            refuse_unused(self, OF_TEXTS, "with --forecaster svd", "mf or knn, which read texts")


@dataclass(frozen=True, kw_only=True)
class MapRequest(FleetOrAnswers):
    """Map the models, and find the most similar ones.

    Models are close if they answer the same questions correctly. With --data the map is computed
    from the answers. An interrupted run continues when the same command is given again, with the
    same result.

    Example: scope fleet map --fleet ours --communities families.csv
    """

    communities: Annotated[
        str | Path | Mapping[str, str] | None,
        repeated(DATA, "--communities", metavar="FILE", convert=lambda written: written[-1]),
    ] = None
    """Table (.csv) with the columns model and community, such as families of models. Measures the
    distances within and between communities.

    In Python also a mapping."""


def _job(name: str, request: type[FleetRequest], *, module: str = "") -> Job:
    home = f"scope.jobs.fleet.{module or name}"
    return Job(
        name=f"fleet {name}",
        request=request,
        run=f"{home}:run_{name}_fleet",
        prepare=f"{home}:prepare_{name}",
        result=f"scope.records:{name.title()}Result",
        page=f"scope.jobs.fleet.page:{name}_page",
    )


JOBS = (
    _job("embed", EmbedRequest),
    _job("forecast", ForecastRequest),
    _job("route", RouteRequest, module="forecast"),
    _job("predict", PredictRequest),
    _job("map", MapRequest),
)
