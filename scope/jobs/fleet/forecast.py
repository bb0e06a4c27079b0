"""Forecasts: the probability that each model answers each new question correctly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from scope.core.request import as_function
from scope.jobs.fleet.embed import prepared
from scope.jobs.fleet.evaluation import (
    Evaluation,
    PlannedEvaluation,
    evaluated,
    plan_evaluation,
    score_forecasts,
)
from scope.jobs.fleet.forecaster import Probabilities
from scope.jobs.fleet.headlines import from_greatest
from scope.jobs.fleet.inputs import same_texts
from scope.jobs.fleet.requests import ForecastRequest
from scope.jobs.fleet.scores import known_gain, known_mean, means_of_known, reliability
from scope.jobs.fleet.stored_fleet import FORECASTS, write_table
from scope.jobs.runner import Prepared, carry_out
from scope.records import Estimate, ExpectedAccuracy, ForecastResult, Manifest, Undefined
from scope.statistics.intervals import mean_estimate
from scope.store import Run

ALL_SEEN = "the fleet was fitted on all of these questions"


def carry_out_forecast_fleet(request: ForecastRequest) -> ForecastResult:
    """Forecast the answers, or continue the run."""
    return carry_out(request, prepare)


forecast_fleet = as_function(ForecastRequest, carry_out_forecast_fleet)


def prepare(request: ForecastRequest) -> Prepared[ForecastResult]:
    """Read the fleet and the questions, or the answers to fit and score."""
    evaluation = plan_evaluation(request)
    return prepared(
        "fleet forecast",
        request,
        partial(_find, evaluation),
        data=evaluation.data,
        settings=evaluation.settings,
        encoder=evaluation.encoder,
        texts=evaluation.texts,
    )


def _find(planned: PlannedEvaluation, manifest: Manifest, run: Run) -> ForecastResult:
    """Write all forecasts, and score those with known answers."""
    evaluation = planned.build()
    probabilities = evaluation.fleet.forecaster.predict_proba(evaluation.table)
    write_table(
        run.path / FORECASTS, ("question", "model", "probability"), _rows(evaluation, probabilities)
    )
    scored = evaluation.scored
    return ForecastResult(
        manifest=manifest,
        **evaluated(evaluation),
        scores=score_forecasts(evaluation, probabilities),
        reliability=reliability(
            probabilities[scored],
            evaluation.questions.correct[scored],
            same_texts(evaluation.questions.take(scored)),
        ),
        expected=_expected(evaluation, probabilities),
        shift=_shift(evaluation, probabilities),
        files=(FORECASTS,),
    )


def _expected(evaluation: Evaluation, probabilities: Probabilities) -> tuple[ExpectedAccuracy, ...]:
    """Each model's expected and observed accuracy on the unseen questions, the highest first."""
    questions = evaluation.questions.take(evaluation.fresh)
    forecast, names = probabilities[evaluation.fresh], same_texts(questions)
    answered = len(evaluation.scored) > 0
    found = []
    for model, chances, answers in zip(
        evaluation.fleet.models, forecast.T, questions.correct.T, strict=True
    ):
        one = ExpectedAccuracy(model=model, accuracy=mean_estimate(chances, names, empty=ALL_SEEN))
        if answered:
            shift = known_gain(answers, chances, names)
            one = replace(one, observed=known_mean(answers, names), shift=shift)
        found.append(one)
    return tuple(sorted(found, key=lambda one: from_greatest(one.accuracy)))


def _shift(evaluation: Evaluation, probabilities: Probabilities) -> Estimate | Undefined | None:
    """Observed minus forecast accuracy over all models; None without an answer."""
    rows = evaluation.scored
    if not len(rows):
        return None
    questions = evaluation.questions.take(rows)
    known = ~np.isnan(questions.correct)
    return known_gain(
        means_of_known(questions.correct, known),
        means_of_known(probabilities[rows], known),
        same_texts(questions),
    )


def _rows(evaluation: Evaluation, probabilities: Probabilities) -> Iterator[tuple[str, str, float]]:
    for name, row in zip(evaluation.questions.ids, probabilities, strict=True):
        for model, one in zip(evaluation.fleet.models, row.tolist(), strict=True):
            yield name, model, one
