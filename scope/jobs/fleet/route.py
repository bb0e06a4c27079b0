"""Routing: the best model for each question."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from scope.answers import Run
from scope.core.request import as_function
from scope.jobs.fleet.forecast import Evaluation, plan_evaluation, score_forecasts
from scope.jobs.fleet.forecaster import Forecaster
from scope.jobs.fleet.inputs import (
    checked_costs,
    digest_by_model,
    read_costs,
    require_known,
    same_texts,
    short_digest,
)
from scope.jobs.fleet.requests import RouteRequest
from scope.jobs.fleet.routing import Columns, route_mix, route_questions, router_scores, single_best
from scope.jobs.fleet.stored_fleet import write_table
from scope.jobs.runner import Prepared, run_job
from scope.printing import counted, listed
from scope.records import Manifest, RouteResult, RouterScore

ROUTES = "routes.csv"


def run_route_fleet(request: RouteRequest) -> RouteResult:
    """Route the questions, or continue the run."""
    return run_job(request, prepare)


route_fleet = as_function(RouteRequest, run_route_fleet)


def prepare(request: RouteRequest) -> Prepared[RouteResult]:
    """Read the costs, and the fleet with its questions or the answers to fit and score."""
    costs = read_costs(request.costs_file) if request.costs_file else {}
    costs |= request.costs
    plan = plan_evaluation(request)
    require_known(request.models, plan.models, "--model")
    require_known(costs, plan.models, "--cost or --costs")
    models = tuple(name for name in plan.models if not request.models or name in request.models)
    return plan.prepared(
        "fleet route",
        request,
        partial(_compute, models, checked_costs(costs, models)),
        {
            "models": f"{counted(len(models), 'model')} {short_digest(models)}",
            "costs": digest_by_model(costs),
        },
    )


def _compute(
    models: tuple[str, ...],
    costs: Sequence[float] | None,
    evaluation: Evaluation,
    manifest: Manifest,
    run: Run,
) -> RouteResult:
    """Select a model for every question, and score the selection if answers are known."""
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
        files=(ROUTES,),
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


def _router_scores(
    evaluation: Evaluation, models: Sequence[str], costs: Sequence[float] | None, chosen: Columns
) -> tuple[RouterScore, ...]:
    """The router and its baselines on new questions with answers; empty if there are none."""
    columns = [evaluation.fleet.models.index(name) for name in models]
    answers = evaluation.questions.correct[:, columns]
    rows = evaluation.scored[~np.isnan(answers[evaluation.scored]).all(axis=1)]
    if not len(rows):
        return ()
    questions = evaluation.questions.take(rows)
    skills = evaluation.fleet.forecaster.skills_[columns]
    return router_scores(
        chosen[rows],
        answers[rows],
        same_texts(questions),
        models=models,
        single=single_best(skills, costs),
        categories=questions.categories,
        costs=costs,
    )
