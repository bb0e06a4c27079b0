"""Routing: which model should be asked which question?"""

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
from scope.fleet.findings.routing import route, route_mix, single_best
from scope.fleet.forecasters.forecaster import Forecaster, Probabilities
from scope.jobs.fleet.exam import Exam, PlannedExam
from scope.jobs.fleet.examining import plan_exam
from scope.jobs.fleet.files import ROUTES, write_table
from scope.jobs.fleet.given import same_texts
from scope.jobs.fleet.labels import checked_costs, read_costs, require_known
from scope.jobs.fleet.marking import findings_of, score_forecasts
from scope.jobs.fleet.plan import prepared
from scope.jobs.fleet.requests import RouteRequest
from scope.jobs.runner import Prepared, carry_out
from scope.printing import counted, listed
from scope.records import Comparison, FleetFindings, RouterScore, Setting
from scope.store import Run


class Fare(NamedTuple):
    """Who may be asked, what each costs, and what a question may cost on average."""

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
    exam = plan_exam(request)
    fare = _fare(exam.models, request.models, {**costs, **request.costs}, request.budget)
    return prepared(
        "fleet route",
        request,
        partial(_find, exam, fare),
        data=exam.data,
        settings={**exam.settings, **_settings(fare)},
    )


def _fare(
    known: Sequence[str], named: Sequence[str], costs: Mapping[str, float], budget: float | None
) -> Fare:
    """Who may be asked and at what cost, if the fleet has them all.

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
    asked = tuple(name for name in known if not named or name in set(named))
    prices = checked_costs(costs, asked)
    # Refuses a budget without costs, or one below the cheapest model.
    single_best(np.zeros(len(asked)), prices, budget)
    return Fare(asked, costs, budget)


def _settings(fare: Fare) -> dict[str, Setting]:
    return {
        "models": f"{counted(len(fare.models), 'model')} {_digest(fare.models)}",
        "costs": _digest(sorted(fare.costs.items())) if fare.costs else None,
        "budget": fare.budget,
    }


def _digest(told: object) -> str:
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def _find(planned: PlannedExam, fare: Fare, run: Run) -> FleetFindings:
    """Hold the exam: choose a model for every question, and judge the choices where it can be."""
    exam = planned.begin()
    columns = np.array([exam.fleet.models.index(name) for name in fare.models])
    prices = checked_costs(fare.costs, fare.models)
    probabilities = exam.fleet.forecaster.predict_proba(exam.table)
    wishes = exam.fleet.forecaster.routing_scores(exam.table)[:, columns]
    chosen = route(wishes, prices, fare.budget)
    write_table(
        run.path / ROUTES,
        ("question", "model", "probability"),
        _rows(exam, fare, chosen, probabilities[:, columns]),
    )
    return findings_of(
        exam,
        notes=(*_spent(fare, prices, chosen), went_by(exam.fleet.forecaster)),
        scores=score_forecasts(exam, probabilities),
        routers=_judged(exam, fare, chosen, columns),
        mix=route_mix(chosen, fare.models),
        files=(ROUTES,),
    )


def went_by(forecaster: Forecaster) -> str:
    """How far the router goes by the questions' texts."""
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
    """Where the text did harm, and skill alone decides."""
    named = [
        category
        for category, weight in zip(forecaster.layout.categories, weights, strict=False)
        if not weight
    ]
    return f"; of {listed(named, most=5)}, where it did harm, skill alone decides" if named else ""


def _spent(fare: Fare, prices: Sequence[float] | None, chosen: Columns) -> tuple[str, ...]:
    """What the choices cost, all questions counted: those in the table may be fewer."""
    if prices is None:
        return ()
    spent = float(np.asarray(prices)[chosen].mean())
    kept = "" if fare.budget is None else f", within the budget of {fare.budget:g}"
    return (f"all {len(chosen)} questions cost {spent:.4g} on average{kept}",)


def _rows(
    exam: Exam, fare: Fare, chosen: Columns, probabilities: Probabilities
) -> Iterator[tuple[str, str, float]]:
    for row, (name, column) in enumerate(zip(exam.questions.ids, chosen.tolist(), strict=True)):
        yield name, fare.models[column], float(probabilities[row, column])


def _judged(
    exam: Exam, fare: Fare, chosen: Columns, columns: NDArray[np.int64]
) -> tuple[RouterScore, ...]:
    """The router beside what it must beat, on new questions with answers; nothing without any."""
    answers = exam.questions.correct[:, columns]
    rows = exam.scored[~np.isnan(answers[exam.scored]).all(axis=1)]
    if not len(rows):
        return ()
    questions = exam.questions.take(rows)
    prices = checked_costs(fare.costs, fare.models)
    return router_scores(
        chosen[rows],
        answers[rows],
        same_texts(questions),
        models=fare.models,
        single=single_best(exam.fleet.forecaster.skills_[columns], prices, fare.budget),
        categories=questions.categories,
        costs=prices,
    )
