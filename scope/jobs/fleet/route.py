"""Routing: the best model for each question."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.core.request import as_function
from scope.jobs.fleet.embed import prepared
from scope.jobs.fleet.evaluation import (
    Evaluation,
    PlannedEvaluation,
    evaluated,
    plan_evaluation,
    score_forecasts,
)
from scope.jobs.fleet.forecaster import Forecaster, Probabilities
from scope.jobs.fleet.inputs import (
    checked_costs,
    digest_by_model,
    read_costs,
    require_known,
    same_texts,
)
from scope.jobs.fleet.requests import RouteRequest
from scope.jobs.fleet.routing import (
    Columns,
    route_mix,
    route_questions,
    router_scores,
    single_best,
)
from scope.jobs.fleet.stored_fleet import ROUTES, write_table
from scope.jobs.runner import Prepared, carry_out
from scope.printing import counted, listed
from scope.records import Manifest, RouteResult, RouterScore, Setting
from scope.store import Run


class Candidates(NamedTuple):
    """The candidate models, their costs, and the largest mean cost per question."""

    models: tuple[str, ...]
    costs: Mapping[str, float]
    budget: float | None


def carry_out_route_fleet(request: RouteRequest) -> RouteResult:
    """Route the questions, or continue the run."""
    return carry_out(request, prepare)


route_fleet = as_function(RouteRequest, carry_out_route_fleet)


def prepare(request: RouteRequest) -> Prepared[RouteResult]:
    """Read the costs, and the fleet with its questions or the answers to fit and score."""
    costs = read_costs(request.costs_file) if request.costs_file else {}
    evaluation = plan_evaluation(request)
    candidates = _candidates(
        evaluation.models, request.models, {**costs, **request.costs}, request.budget
    )
    return prepared(
        "fleet route",
        request,
        partial(_find, evaluation, candidates),
        data=evaluation.data,
        settings={**evaluation.settings, **_settings(candidates)},
        encoder=evaluation.encoder,
        texts=evaluation.texts,
    )


def _candidates(
    known: Sequence[str], named: Sequence[str], costs: Mapping[str, float], budget: float | None
) -> Candidates:
    """The candidate models and their costs, checked.

    Raises
    ------
    SpecError
        If a model is not in the fleet, a cost is negative, or there is a budget without costs or
        below all of them.
    DataError
        If some of the models have no cost.
    """
    require_known(named, known, "--model")
    require_known(costs, known, "--cost or --costs")
    models = tuple(name for name in known if not named or name in set(named))
    prices = checked_costs(costs, models)
    # Rejects a budget without costs or below the cheapest model.
    single_best(np.zeros(len(models)), prices, budget)
    return Candidates(models, costs, budget)


def _settings(candidates: Candidates) -> dict[str, Setting]:
    return {
        "models": f"{counted(len(candidates.models), 'model')} {_digest(candidates.models)}",
        "costs": digest_by_model(candidates.costs),
        "budget": candidates.budget,
    }


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


def _find(
    planned: PlannedEvaluation, candidates: Candidates, manifest: Manifest, run: Run
) -> RouteResult:
    """Select a model for every question, and score the selection if answers are known."""
    evaluation = planned.build()
    columns = np.array([evaluation.fleet.models.index(name) for name in candidates.models])
    prices = checked_costs(candidates.costs, candidates.models)
    probabilities = evaluation.fleet.forecaster.predict_proba(evaluation.table)
    wishes = evaluation.fleet.forecaster.routing_scores(evaluation.table)[:, columns]
    chosen = route_questions(wishes, prices, candidates.budget)
    write_table(
        run.path / ROUTES,
        ("question", "model", "probability"),
        _rows(evaluation, candidates, chosen, probabilities[:, columns]),
    )
    notes = (*_mean_cost(candidates, prices, chosen), routing_note(evaluation.fleet.forecaster))
    return RouteResult(
        manifest=manifest,
        **evaluated(evaluation, notes),
        scores=score_forecasts(evaluation, probabilities),
        routers=_router_scores(evaluation, candidates, chosen, columns),
        mix=route_mix(chosen, candidates.models),
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
    return (
        "the router combines each model's skill with the prediction from the text, whose weight "
        f"from cross-validation is {weights.max():.2f} (at most 1); it may not select the model "
        f"with the highest probability{_by_skill(forecaster, weights)}"
    )


def _by_skill(forecaster: Forecaster, weights: NDArray[np.float64]) -> str:
    """The categories in which routing by text is worse, so that only skill is used."""
    named = [
        category
        for category, weight in zip(forecaster.layout.categories, weights, strict=False)
        if not weight
    ]
    return f"; the weight is 0 for {listed(named, most=5)}, where it is harmful" if named else ""


def _mean_cost(
    candidates: Candidates, prices: Sequence[float] | None, chosen: Columns
) -> tuple[str, ...]:
    """A note on the mean cost of all selections; the table may cover fewer questions."""
    if prices is None:
        return ()
    spent = float(np.asarray(prices)[chosen].mean())
    kept = "" if candidates.budget is None else f", within the budget of {candidates.budget:g}"
    return (f"all {len(chosen)} questions cost {spent:.4g} on average{kept}",)


def _rows(
    evaluation: Evaluation, candidates: Candidates, chosen: Columns, probabilities: Probabilities
) -> Iterator[tuple[str, str, float]]:
    for row, (name, column) in enumerate(
        zip(evaluation.questions.ids, chosen.tolist(), strict=True)
    ):
        yield name, candidates.models[column], float(probabilities[row, column])


def _router_scores(
    evaluation: Evaluation, candidates: Candidates, chosen: Columns, columns: NDArray[np.int64]
) -> tuple[RouterScore, ...]:
    """The router and its baselines on new questions with answers; empty if there are none."""
    answers = evaluation.questions.correct[:, columns]
    rows = evaluation.scored[~np.isnan(answers[evaluation.scored]).all(axis=1)]
    if not len(rows):
        return ()
    questions = evaluation.questions.take(rows)
    prices = checked_costs(candidates.costs, candidates.models)
    return router_scores(
        chosen[rows],
        answers[rows],
        same_texts(questions),
        models=candidates.models,
        single=single_best(evaluation.fleet.forecaster.skills_[columns], prices, candidates.budget),
        categories=questions.categories,
        costs=prices,
    )
