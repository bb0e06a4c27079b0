"""Routing: the best model for each question."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.answers import Run
from scope.core.request import as_function
from scope.jobs.fleet.forecast import (
    Evaluation,
    plan_evaluation,
    score_forecasts,
)
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
from scope.jobs.fleet.routing import (
    Columns,
    route_mix,
    route_questions,
    router_scores,
    single_best,
)
from scope.jobs.fleet.stored_fleet import write_table
from scope.jobs.runner import Prepared, run_job
from scope.printing import counted, listed
from scope.records import Manifest, RouteResult, RouterScore

ROUTES = "routes.csv"


class Candidates(NamedTuple):
    """The candidate models, and their costs if known."""

    models: tuple[str, ...]
    costs: Sequence[float] | None


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
    candidates = Candidates(models, checked_costs(costs, models))
    return plan.prepared(
        "fleet route",
        request,
        partial(_compute, candidates),
        {
            "models": f"{counted(len(models), 'model')} {short_digest(models)}",
            "costs": digest_by_model(costs),
        },
    )


def _compute(
    candidates: Candidates, evaluation: Evaluation, manifest: Manifest, run: Run
) -> RouteResult:
    """Select a model for every question, and score the selection if answers are known."""
    forecaster, models = evaluation.fleet.forecaster, candidates.models
    columns = np.array([evaluation.fleet.models.index(name) for name in models])
    probabilities = forecaster.predict_proba(evaluation.table)
    preferences = forecaster.routing_scores(evaluation.table)[:, columns]
    chosen = route_questions(preferences, candidates.costs)
    rows = (
        (name, models[column], float(chances[columns[column]]))
        for name, column, chances in zip(
            evaluation.questions.ids, chosen.tolist(), probabilities, strict=True
        )
    )
    write_table(run.path / ROUTES, ("question", "model", "probability"), rows)
    notes = [routing_note(forecaster)]
    if candidates.costs is not None:
        spent = float(np.asarray(candidates.costs)[chosen].mean())
        notes.insert(0, f"all {len(chosen)} questions cost {spent:.4g} on average")
    return RouteResult(
        manifest=manifest,
        **evaluation.facts(notes),
        scores=score_forecasts(evaluation, probabilities),
        routers=_router_scores(evaluation, candidates, chosen, columns),
        mix=route_mix(chosen, models),
        files=(ROUTES,),
    )


def routing_note(forecaster: Forecaster) -> str:
    """A note on the router's weight of the questions' texts."""
    weights = getattr(forecaster, "route_weights_", None)
    if weights is None:
        return (
            "the router selects the model with the highest probability of a correct answer, as "
            f"predicted by {forecaster.short_name}, subject to costs"
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
    evaluation: Evaluation, candidates: Candidates, chosen: Columns, columns: NDArray[np.int64]
) -> tuple[RouterScore, ...]:
    """The router and its baselines on new questions with answers; empty if there are none."""
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
        models=candidates.models,
        single=single_best(skills, candidates.costs),
        categories=questions.categories,
        costs=candidates.costs,
    )
