"""Routing: which model answers which question best?"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.core.request import as_function
from scope.fleet.findings.budgets import Columns
from scope.fleet.findings.routers import router_scores
from scope.fleet.findings.routing import route_mix, route_questions, single_best
from scope.fleet.forecasters.forecaster import Forecaster, Probabilities
from scope.jobs.fleet.answers import same_texts
from scope.jobs.fleet.evaluation import Evaluation, PlannedEvaluation, plan_evaluation
from scope.jobs.fleet.files import ROUTES, write_table
from scope.jobs.fleet.model_tables import checked_costs, read_costs, require_known
from scope.jobs.fleet.plan import prepared
from scope.jobs.fleet.requests import RouteRequest
from scope.jobs.fleet.scoring import findings_of, score_forecasts
from scope.jobs.runner import Prepared, carry_out
from scope.printing import counted, listed
from scope.records import Comparison, FleetFindings, RouterScore, Setting
from scope.store import Run


class Candidates(NamedTuple):
    """The models that may be asked, their costs, and the largest mean cost of a question."""

    models: tuple[str, ...]
    costs: Mapping[str, float]
    budget: float | None


def carry_out_route_fleet(request: RouteRequest) -> Comparison:
    """Route the questions, or continue where the run was."""
    return carry_out(request, prepare)


route_fleet = as_function(RouteRequest, carry_out_route_fleet)


def prepare(request: RouteRequest) -> Prepared:
    """Read the fleet, the questions and the costs, or the answers to learn from and to score."""
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
    )


def _candidates(
    known: Sequence[str], named: Sequence[str], costs: Mapping[str, float], budget: float | None
) -> Candidates:
    """The models that may be asked and their costs, checked.

    Raises
    ------
    SpecError
        When a model is not in the fleet, a cost is negative, or a budget is without costs or below
        all of them.
    DataError
        When some of the models have no cost.
    """
    require_known(named, known, "--model")
    require_known(costs, known, "--cost or --costs")
    models = tuple(name for name in known if not named or name in set(named))
    prices = checked_costs(costs, models)
    # Refuses a budget without costs, or one below the cheapest model.
    single_best(np.zeros(len(models)), prices, budget)
    return Candidates(models, costs, budget)


def _settings(candidates: Candidates) -> dict[str, Setting]:
    return {
        "models": f"{counted(len(candidates.models), 'model')} {_digest(candidates.models)}",
        "costs": _digest(sorted(candidates.costs.items())) if candidates.costs else None,
        "budget": candidates.budget,
    }


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


def _find(planned: PlannedEvaluation, candidates: Candidates, run: Run) -> FleetFindings:
    """Choose a model for every question, and score the choices where answers are known."""
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
    return findings_of(
        evaluation,
        notes=(*_mean_cost(candidates, prices, chosen), routing_note(evaluation.fleet.forecaster)),
        scores=score_forecasts(evaluation, probabilities),
        routers=_router_scores(evaluation, candidates, chosen, columns),
        mix=route_mix(chosen, candidates.models),
        files=(ROUTES,),
    )


def routing_note(forecaster: Forecaster) -> str:
    """A note on the weight that the router gives to the questions' texts."""
    weights = getattr(forecaster, "route_weights_", None)
    if weights is None:
        return (
            f"the router asks the model of which {forecaster.short_name} forecasts a right answer "
            "with the highest probability, as far as costs allow"
        )
    if not weights.any():
        return (
            "routing by text did not beat the single best model on questions left out in turn: "
            "the router goes by the models' skills alone"
        )
    return (
        "the router goes by each model's skill, and by the text as far as that proved useful on "
        f"questions left out in turn: its weight is {weights.max():.2f}, of at most 1; the "
        f"greatest probability does not always decide{_by_skill(forecaster, weights)}"
    )


def _by_skill(forecaster: Forecaster, weights: NDArray[np.float64]) -> str:
    """The categories in which texts made routing worse, so that skill alone decides."""
    named = [
        category
        for category, weight in zip(forecaster.layout.categories, weights, strict=False)
        if not weight
    ]
    return f"; of {listed(named, most=5)}, where it did harm, skill alone decides" if named else ""


def _mean_cost(
    candidates: Candidates, prices: Sequence[float] | None, chosen: Columns
) -> tuple[str, ...]:
    """A note on the mean cost of all choices; the table may cover fewer questions."""
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
    """The router and its baselines on new questions with answers; none without any."""
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
