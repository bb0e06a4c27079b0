"""Forecasts and routes of questions, new or held out: which model answers which correctly.

A forecast is the probability that a model answers a question correctly. Routing takes the best
model for each question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.answers import Run
from scope.core.request import as_function
from scope.errors import counted, listed
from scope.jobs.fleet import embed, matrix, selection as scoring
from scope.jobs.fleet.forecaster import Forecaster, MeanForecaster, Probabilities
from scope.jobs.fleet.map import counts_of_fleet, skill_estimates
from scope.jobs.fleet.matrix import MOST_NAMED, CorrectnessMatrix, load_answers, load_questions
from scope.jobs.fleet.questions import Answers, Table, held_out_rows, question_table
from scope.jobs.fleet.requests import Evaluates, ForecastRequest, RouteRequest
from scope.jobs.fleet.selection import Part, from_greatest
from scope.jobs.fleet.stored_fleet import Fleet, matched_rows, open_fleet, write_table
from scope.jobs.runner import Prepared, run_job
from scope.protocols import Encoder, Progress
from scope.records import (
    Estimate,
    ExpectedAccuracy,
    FleetModel,
    ForecastResult,
    ForecastScore,
    Manifest,
    QuestionForecast,
    RouteResult,
    RouterScore,
    RouteShare,
    Setting,
    Undefined,
)
from scope.records.fleet import BEST_PER_BENCHMARK, ORACLE, ROUTER, SAME_MIX, SINGLE_BEST
from scope.statistics.intervals import mean_estimate

FORECASTS = "forecasts.csv"
ALL_SEEN = "the fleet was fitted on all of these questions"


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A fleet, and the questions that it is evaluated on.

    ``questions`` have a column of answers for each model of the fleet, in its order, NaN if
    unknown; ``table`` is the questions as the input of the fleet's forecaster. ``fresh`` marks the
    questions that the fleet was not fitted on; only these are scored. ``conflicts`` counts repeated
    answers with different values, and ``notes`` are for the reader of the result.
    """

    fleet: Fleet
    questions: CorrectnessMatrix
    table: Table
    fresh: NDArray[np.bool_]
    conflicts: int = 0
    notes: tuple[str, ...] = ()

    @property
    def scored(self) -> NDArray[np.int64]:
        """The rows of the questions that the fleet was not fitted on and that have an answer."""
        answered = ~np.isnan(self.questions.correct).all(axis=1)
        return np.flatnonzero(self.fresh & answered)

    def facts(self, notes: Sequence[str] = ()) -> dict[str, Any]:
        """The fields that results of forecasts and of routing share.

        Only models added to the fleet for this evaluation are listed.
        """
        fleet, total = self.fleet, counted(len(self.questions.ids), "question")
        skills = skill_estimates(fleet.skills, fleet.answered)
        return {
            **counts_of_fleet(fleet, self.conflicts),
            "fleet": tuple(
                FleetModel(name=name, skill=skill, added=True)
                for name, skill in zip(fleet.models, skills, strict=True)
                if name in fleet.added
            ),
            "notes": (f"{total} forecast, {len(self.scored)} of them scored", *notes, *self.notes),
        }


class PlannedEvaluation(NamedTuple):
    """A checked evaluation; ``build`` does the expensive part.

    ``models`` are those of the fleet, ``settings`` those that determine the result. ``prepared``
    is `scope.jobs.fleet.embed.prepared` with the data and the encoder.
    """

    models: tuple[str, ...]
    settings: dict[str, Setting]
    build: Callable[[], Evaluation]
    prepared: Callable[..., Prepared[Any]]


def plan_evaluation(request: Evaluates) -> PlannedEvaluation:
    """Read and check a fleet and its new questions, or answers to fit and to hold out."""
    if request.fleet is not None and request.questions is not None:
        return _plan_new_questions(request, request.fleet, request.questions)
    learning = embed.Learning.of(request)
    matrix, card = load_answers(request.data, request)
    held_out = held_out_rows(matrix.texts, request.test_share, request.seed)
    encoder = embed.load_needed_encoder(learning, matrix, request.encoder, request.model_options)
    return PlannedEvaluation(
        models=matrix.models,
        settings=learning.settings(encoder) | {"test_share": request.test_share},
        build=partial(_on_held_out, matrix, held_out, learning, encoder, request.progress),
        prepared=partial(embed.prepared, data=(card,), encoder=encoder, texts=matrix.texts),
    )


def _plan_new_questions(request: Evaluates, spec: str | Path, asked: str) -> PlannedEvaluation:
    fleet, digest, cards = open_fleet(request, spec)
    questions, card = load_questions(asked, request)
    encoder = embed.load_encoder_of(fleet, questions, request.encoder, request.model_options)
    data = (card, *cards)
    return PlannedEvaluation(
        models=fleet.models,
        settings={"fleet": digest, "encoder": embed.encoder_setting(encoder)},
        build=partial(_on_new_questions, fleet, questions, encoder, request.progress),
        prepared=partial(embed.prepared, data=data, encoder=encoder, texts=questions.texts),
    )


def _on_new_questions(
    fleet: Fleet, questions: CorrectnessMatrix, encoder: Encoder | None, progress: Progress
) -> Evaluation:
    """Give the questions one column for each model of the fleet."""
    columns = {name: column for column, name in enumerate(fleet.models)}
    known = [place for place, name in enumerate(questions.models) if name in columns]
    correct = np.full((len(questions.ids), len(fleet.models)), np.nan, dtype=np.float32)
    correct[:, [columns[questions.models[place]] for place in known]] = questions.correct[:, known]
    unknown = [name for name in questions.models if name not in columns]
    ignored = (
        f"answers of {counted(len(unknown), 'model')} not in the fleet are ignored: "
        f"{listed(unknown, MOST_NAMED)}",
    )
    evaluation = _evaluation(
        fleet, replace(questions, models=fleet.models, correct=correct), encoder, progress
    )
    means = embed.means_note([fleet.forecaster], len(fleet.ids))
    notes = (*questions.notes, *evaluation.notes, *(ignored if unknown else ()), *means)
    return replace(evaluation, notes=notes)


def _on_held_out(
    matrix: CorrectnessMatrix,
    held_out: NDArray[np.bool_],
    learning: embed.Learning,
    encoder: Encoder | None,
    progress: Progress,
) -> Evaluation:
    """Fit on the other questions."""
    rows = np.flatnonzero(~held_out)
    fleet, _ = embed.learn(matrix.take(rows).checked(), learning, encoder, progress)
    evaluation = _evaluation(fleet, matrix.take(held_out), encoder, progress)
    notes = (
        *matrix.notes,
        f"{int(held_out.sum())} of {len(matrix.ids)} questions are held out (seed "
        f"{learning.seed}); the fleet is fitted and selected on the others",
        *evaluation.notes,
        *embed.means_note([fleet.forecaster], len(rows)),
    )
    return replace(evaluation, conflicts=matrix.conflicts, notes=notes)


def _evaluation(
    fleet: Fleet, questions: CorrectnessMatrix, encoder: Encoder | None, progress: Progress
) -> Evaluation:
    """Tabulate the questions and mark those that the fleet was fitted on, with a note on them."""
    rows = matched_rows(fleet, questions)
    fresh = rows < 0
    pairs = zip(questions.ids, rows.tolist(), strict=True)
    renamed = sum(row >= 0 and fleet.ids[row] != name for name, row in pairs)
    seen = (
        f"the fleet was fitted on {int((~fresh).sum())} of the {len(fresh)} questions, {renamed} "
        "of them under another id: recognised by their words, they count neither as unseen nor in "
        "any score or expected accuracy",
    )
    table = question_table(
        fleet.forecaster.layout,
        vectors=embed.vectors_of(questions, encoder, progress),
        texts=questions.texts,
        categories=questions.categories,
    )
    return Evaluation(fleet, questions, table, fresh, notes=() if fresh.all() else seen)


def score_forecasts(
    evaluation: Evaluation, probabilities: Probabilities
) -> tuple[ForecastScore, ...]:
    """The scores of each model's mean and of the fleet; empty if no answer is known.

    Parameters
    ----------
    probabilities
        The fleet's own forecasts, shape (questions, models).
    """
    rows = evaluation.scored
    if not len(rows):
        return ()
    questions = evaluation.questions.take(rows)
    # For added models too: the accuracy on the answered questions of the fleet.
    means = np.tile(evaluation.fleet.skills, (len(rows), 1))
    chosen = evaluation.fleet.forecaster.spelling
    score = partial(
        scoring.forecast_scores,
        answers=questions.correct,
        ids=questions.text_names,
        categories=questions.categories,
    )
    name = MeanForecaster.short_name
    if chosen == name:
        return score(probabilities[rows], forecaster=name, chosen=True)
    return (
        *score(means, forecaster=name),
        *score(probabilities[rows], forecaster=chosen, mean_probabilities=means, chosen=True),
    )


def run_forecast_fleet(request: ForecastRequest) -> ForecastResult:
    """Forecast the answers, or continue the run."""
    return run_job(request, prepare_forecast)


forecast_fleet = as_function(ForecastRequest, run_forecast_fleet)


def prepare_forecast(request: ForecastRequest) -> Prepared[ForecastResult]:
    """Read the fleet and the questions, or the answers to fit and score."""
    plan = plan_evaluation(request)
    compute = partial(_compute, plan.build)
    return plan.prepared("fleet forecast", request, compute, settings=plan.settings)


def _compute(build: Callable[[], Evaluation], manifest: Manifest, run: Run) -> ForecastResult:
    """Write all forecasts, and score those with known answers."""
    evaluation = build()
    fleet, questions = evaluation.fleet, evaluation.questions
    probabilities = fleet.forecaster.predict_proba(evaluation.table)
    rows = (
        (name, model, chance)
        for name, chances in zip(questions.ids, probabilities, strict=True)
        for model, chance in zip(fleet.models, chances.tolist(), strict=True)
    )
    write_table(run.path / FORECASTS, ("question", "model", "probability"), rows)
    scored, fresh = questions.take(evaluation.scored), questions.take(evaluation.fresh)
    predicted, names = probabilities[evaluation.scored], scored.text_names
    known = ~np.isnan(scored.correct)
    shift: Estimate | Undefined | None = None
    if scored.ids:
        observed = scoring.means_of_known(scored.correct, known)
        shift = scoring.known_gain(observed, scoring.means_of_known(predicted, known), names)
    return ForecastResult(
        manifest=manifest,
        **evaluation.facts(),
        scores=score_forecasts(evaluation, probabilities),
        reliability=scoring.reliability(predicted, scored.correct, names),
        expected=_expected(evaluation, probabilities),
        shift=shift,
        examples=scoring.surprising_questions(
            fresh.ids, fresh.texts, probabilities[evaluation.fresh], fresh.correct
        ),
        files=(FORECASTS,),
    )


def _expected(evaluation: Evaluation, probabilities: Probabilities) -> tuple[ExpectedAccuracy, ...]:
    """Each model's expected and observed accuracy on the unseen questions, the highest first."""
    questions = evaluation.questions.take(evaluation.fresh)
    chances, names = probabilities[evaluation.fresh].T, questions.text_names
    answered = len(evaluation.scored) > 0
    accuracies = [
        ExpectedAccuracy(
            model=model,
            accuracy=mean_estimate(predicted, names, empty=ALL_SEEN),
            observed=scoring.known_mean(answers, names) if answered else None,
            shift=scoring.known_gain(answers, predicted, names) if answered else None,
        )
        for model, predicted, answers in zip(
            evaluation.fleet.models, chances, questions.correct.T, strict=True
        )
    ]
    return tuple(sorted(accuracies, key=lambda model: from_greatest(model.accuracy)))


Costs = NDArray[np.float64]
"""Shape (models,): the cost of a question."""

Columns = NDArray[np.int64]
"""Shape (questions,): the column of the model for each question."""


def route_questions(scores: ArrayLike, costs: ArrayLike | None = None) -> Columns:
    """The column of the model to ask each question: the one with the highest score.

    Of equal scores the cheaper model is asked, then the first one.

    Parameters
    ----------
    scores
        Shape (questions, models): the score of each model for a question, as by ``routing_scores``.
    costs
        Shape (models,): the cost per question, in any unit.

    Examples
    --------
    >>> scores = [[0.7, 0.9], [0.6, 0.6], [0.2, 0.8]]
    >>> route_questions(scores).tolist(), route_questions(scores, costs=[3, 1]).tolist()
    ([1, 0, 1], [1, 1, 1])
    """
    worth = np.asarray(scores, dtype=np.float64)
    # The first of equals is taken below, and so the cheapest.
    order = np.argsort(_prices(costs, worth.shape[1]), kind="stable")
    models: Columns = order[worth[:, order].argmax(axis=1)]
    return models


def _prices(costs: ArrayLike | None, models: int) -> Costs:
    """The models' costs, NaN if unknown."""
    return np.full(models, np.nan) if costs is None else np.asarray(costs, dtype=np.float64)


def single_best(skills: ArrayLike, costs: ArrayLike | None = None) -> int:
    """The column of the most skilled model, of equals the cheapest.

    Parameters
    ----------
    skills
        Shape (models,): accuracies on questions other than those to be routed.
    costs
        As for `route_questions`.

    Examples
    --------
    >>> single_best([0.5, 0.9, 0.7]), single_best([0.9, 0.9], costs=[2, 1])
    (1, 1)
    """
    return int(route_questions(np.asarray(skills)[np.newaxis], costs)[0])


def route_mix(chosen: Columns, models: Sequence[str]) -> tuple[RouteShare, ...]:
    """The share of the questions of each model, greatest first, without unused models.

    Examples
    --------
    >>> for row in route_mix(np.array([2, 0, 2, 2]), ["a", "b", "c"]):
    ...     print(row.model, row.share)
    c 0.75
    a 0.25
    """
    counts = Counter(models[column] for column in chosen.tolist())
    by_share = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(RouteShare(model=model, share=count / len(chosen)) for model, count in by_share)


class Router(NamedTuple):
    """A routing strategy: its accuracy and its cost on each question.

    ``model`` is the name of the single best model; None for other strategies.
    """

    name: str
    model: str | None
    shares: scoring.Shares
    costs: Costs


def router_scores(
    chosen: Columns,
    answers: Answers,
    ids: Sequence[str],
    *,
    models: Sequence[str],
    single: int,
    categories: Sequence[str | None] | None = None,
    costs: ArrayLike | None = None,
) -> tuple[RouterScore, ...]:
    """Accuracy, cost and the router's gain for each strategy: on all questions, then by category.

    The random router draws a model for each question, with the router's shares of the models over
    all questions; its accuracy is the expectation, not that of one draw. The oracle is right if any
    model is known to be right; it asks the cheapest model that is right, or the cheapest of all if
    none is. With categories, the best model of each category on these same questions is an upper
    bound for routers that use only the category; with few questions it is optimistic.

    A question counts for a strategy only if one of its possible answers is known, and for a gain
    only if it counts for both strategies; ``n`` is their number. The random router's shares are
    rescaled to the models with a known answer.

    Parameters
    ----------
    chosen
        Shape (questions,): the router's columns, as by `route_questions`.
    answers
        Shape (questions, models): 1 right, 0 wrong, NaN unknown.
    ids
        Ids of the questions; questions with the same id count as one in the intervals.
    models
        Names of the models.
    single
        The column of the single best model, as by `single_best`.
    categories
        Category of each question; None for a question that counts only towards all.
    costs
        Shape (models,): the cost per question.

    Examples
    --------
    Two models, each right on one of two questions, and a router that knows which:

    >>> answers = np.array([[1, 0], [0, 1]], dtype=np.float32)
    >>> scores = router_scores(
    ...     np.array([0, 1]), answers, ["a", "b"], models=["this", "that"], single=0
    ... )
    >>> for score in scores:
    ...     print(score.router, score.model, score.accuracy.value)
    router None 1.0
    single best this 0.5
    random with the same mix None 0.5
    oracle None 1.0
    """
    groups = [None] * len(ids) if categories is None else categories
    prices = _prices(costs, len(models))
    routers = (
        _asking(ROUTER, None, chosen, answers, prices),
        _asking(SINGLE_BEST, models[single], np.full(len(answers), single), answers, prices),
        *([_best_per_benchmark(answers, groups, prices)] if any(groups) else []),
        _drawing(chosen, answers, prices),
        _oracle(answers, prices),
    )
    return tuple(
        _score(router, routers[0], part, ids)
        for part in scoring.question_parts(groups)
        for router in routers
    )


def _asking(
    name: str, model: str | None, columns: Columns, answers: Answers, costs: Costs
) -> Router:
    shares = answers[np.arange(len(answers)), columns].astype(np.float64)
    return Router(name, model, shares, costs[columns])


def _best_per_benchmark(answers: Answers, categories: Sequence[str | None], costs: Costs) -> Router:
    columns = np.zeros(len(answers), dtype=np.int64)
    for part in scoring.question_parts(categories)[1:]:
        inside = answers[part.rows].T
        shares = scoring.means_of_known(inside, ~np.isnan(inside))
        columns[part.rows] = np.nan_to_num(shares, nan=-1).argmax()
    router = _asking(BEST_PER_BENCHMARK, None, columns, answers, costs)
    without = np.array([category is None for category in categories])
    return router._replace(shares=np.where(without, np.nan, router.shares))


def _drawing(chosen: Columns, answers: Answers, costs: Costs) -> Router:
    mix = np.bincount(chosen, minlength=answers.shape[1]) / max(len(chosen), 1)
    known = ~np.isnan(answers)
    right, weight = np.where(known, answers, 0) @ mix, known @ mix
    shares = np.divide(right, weight, out=np.full(len(answers), np.nan), where=weight > 0)
    # A sum of shares may exceed 1 by its last bit.
    return Router(SAME_MIX, None, np.minimum(shares, 1.0), np.full(len(answers), costs @ mix))


def _oracle(answers: Answers, costs: Costs) -> Router:
    right = answers == 1
    shares = np.where(np.isnan(answers).all(axis=1), np.nan, right.any(axis=1))
    cheapest_right = np.where(right, costs, np.inf).min(axis=1)
    spent = np.where(np.isinf(cheapest_right), costs.min(), cheapest_right)
    return Router(ORACLE, None, shares, spent)


def _score(router: Router, judged: Router, part: Part, ids: Sequence[str]) -> RouterScore:
    """The score of a router on some questions, and the gain of ``judged`` over it."""
    rows, names = part.rows, scoring.names_at(part.rows, ids)
    cost = float(router.costs[rows].mean()) if len(rows) else np.nan
    return RouterScore(
        router=router.name,
        model=router.model,
        accuracy=scoring.known_mean(router.shares[rows], names),
        cost=None if np.isnan(cost) else cost,
        gain=None
        if router is judged
        else scoring.known_gain(judged.shares[rows], router.shares[rows], names),
        category=part.category,
    )


ROUTES = "routes.csv"


def run_route_fleet(request: RouteRequest) -> RouteResult:
    """Route the questions, or continue the run."""
    return run_job(request, prepare_route)


route_fleet = as_function(RouteRequest, run_route_fleet)


def prepare_route(request: RouteRequest) -> Prepared[RouteResult]:
    """Read the costs, and the fleet with its questions or the answers to fit and score."""
    costs = matrix.read_costs(request.costs_file) if request.costs_file else {}
    costs |= request.costs
    plan = plan_evaluation(request)
    matrix.require_known(request.models, plan.models, "--model")
    matrix.require_known(costs, plan.models, "--cost or --costs")
    models = tuple(name for name in plan.models if not request.models or name in request.models)
    settings = {
        "models": f"{counted(len(models), 'model')} {matrix.short_digest(models)}",
        "costs": matrix.digest_by_model(costs),
    }
    compute = partial(_compute_routes, models, matrix.checked_costs(costs, models), plan.build)
    return plan.prepared("fleet route", request, compute, settings={**plan.settings, **settings})


def _compute_routes(
    models: tuple[str, ...],
    costs: Sequence[float] | None,
    build: Callable[[], Evaluation],
    manifest: Manifest,
    run: Run,
) -> RouteResult:
    """Select a model for every question, and score the selection if answers are known."""
    evaluation = build()
    forecaster = evaluation.fleet.forecaster
    columns = np.array([evaluation.fleet.models.index(name) for name in models])
    probabilities = forecaster.predict_proba(evaluation.table)
    preferences = forecaster.routing_scores(evaluation.table)[:, columns]
    chosen = route_questions(preferences, costs)
    rows = (
        (name, models[column], float(chances[columns[column]]))
        for name, column, chances in zip(
            evaluation.questions.ids, chosen.tolist(), probabilities, strict=True
        )
    )
    write_table(run.path / ROUTES, ("question", "model", "probability"), rows)
    notes = [routing_note(forecaster)]
    if costs is not None:
        spent = float(np.asarray(costs)[chosen].mean())
        notes.insert(0, f"all {len(chosen)} questions cost {spent:.4g} on average")
    return RouteResult(
        manifest=manifest,
        **evaluation.facts(notes),
        scores=score_forecasts(evaluation, probabilities),
        routers=_router_scores(evaluation, models, costs, chosen),
        mix=route_mix(chosen, models),
        examples=_examples(
            evaluation,
            columns[chosen],
            int(columns[_best_of(evaluation, columns, costs)]),
            probabilities,
        ),
        files=(ROUTES,),
    )


MOST_EXAMPLES = 1
"""Most examples of either outcome."""


def _examples(
    evaluation: Evaluation, chosen: Columns, single: int, probabilities: Answers
) -> tuple[QuestionForecast, ...]:
    """Unseen questions that the router does not give to the single best model.

    If answers are known, those where one of the two models alone is right.
    """
    questions, models = evaluation.questions, evaluation.fleet.models
    rows = np.flatnonzero(evaluation.fresh & (chosen != single))
    right, alone = questions.correct[rows, chosen[rows]], questions.correct[rows, single]
    kept = [*rows[right > alone][:MOST_EXAMPLES], *rows[right < alone][:MOST_EXAMPLES]]

    def known(row: int, column: int) -> float | None:
        value = float(questions.correct[row, column])
        return None if np.isnan(value) else value

    return tuple(
        QuestionForecast(
            id=questions.ids[row],
            text=scoring.shortened(questions.texts[row]),
            expected=float(probabilities[row, chosen[row]]),
            observed=known(row, chosen[row]),
            model=models[chosen[row]],
            single_best=known(row, single),
        )
        for row in kept or rows[:MOST_EXAMPLES]
    )


def routing_note(forecaster: Forecaster) -> str:
    """A note on the router's weight of the questions' texts."""
    weights = getattr(forecaster, "route_weights_", None)
    if weights is None:
        return (
            "the router selects the model with the highest probability of a correct answer, as "
            f"predicted by {forecaster.short_name}, and of equals the cheapest"
        )
    if not weights.any():
        return (
            "routing by text is not better than the single best model in cross-validation: "
            "the router uses only the models' skills"
        )
    pairs = zip(forecaster.layout.categories, weights, strict=False)
    harmful = [category for category, weight in pairs if not weight]
    by_skill = f"; the weight is 0 for {listed(harmful, most=5)}, where it is harmful"
    return (
        "the router combines each model's skill with the prediction from the text, whose weight "
        f"from cross-validation is {weights.max():.2f} (at most 1); it may not select the model "
        f"with the highest probability{by_skill if harmful else ''}"
    )


def _best_of(evaluation: Evaluation, columns: Columns, costs: Sequence[float] | None) -> int:
    """The place of the single best model among the columns."""
    return single_best(evaluation.fleet.forecaster.skills_[columns], costs)


def _router_scores(
    evaluation: Evaluation, models: Sequence[str], costs: Sequence[float] | None, chosen: Columns
) -> tuple[RouterScore, ...]:
    """The router and its baselines on new questions with answers; empty if there are none."""
    columns = np.array([evaluation.fleet.models.index(name) for name in models])
    answers = evaluation.questions.correct[:, columns]
    rows = evaluation.scored[~np.isnan(answers[evaluation.scored]).all(axis=1)]
    if not len(rows):
        return ()
    questions = evaluation.questions.take(rows)
    return router_scores(
        chosen[rows],
        answers[rows],
        questions.text_names,
        models=models,
        single=_best_of(evaluation, columns, costs),
        categories=questions.categories,
        costs=costs,
    )
