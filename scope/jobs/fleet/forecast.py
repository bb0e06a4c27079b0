"""Forecasts: how likely is it that each model answers each new question rightly?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from scope.core.request import as_function
from scope.fleet.findings.forecasting import reliability
from scope.fleet.forecasters.forecaster import Probabilities
from scope.jobs.fleet.exam import Exam, PlannedExam
from scope.jobs.fleet.examining import plan_exam
from scope.jobs.fleet.files import FORECASTS, write_table
from scope.jobs.fleet.given import same_texts
from scope.jobs.fleet.marking import findings_of, score_forecasts
from scope.jobs.fleet.plan import prepared
from scope.jobs.fleet.requests import ForecastRequest
from scope.jobs.runner import Prepared, carry_out
from scope.records import Comparison, ExpectedAccuracy, FleetFindings
from scope.statistics.intervals import mean_estimate
from scope.store import Run


def carry_out_forecast_fleet(request: ForecastRequest) -> Comparison:
    """Forecast the answers, or continue where the run was."""
    return carry_out(request, prepare)


forecast_fleet = as_function(ForecastRequest, carry_out_forecast_fleet)


def prepare(request: ForecastRequest) -> Prepared:
    """Read the fleet and the questions, or the answers to learn from and to score."""
    exam = plan_exam(request)
    return prepared(
        "fleet forecast", request, partial(_find, exam), data=exam.data, settings=exam.settings
    )


def _find(planned: PlannedExam, run: Run) -> FleetFindings:
    """Hold the exam: write every forecast, and score those whose answers are known."""
    exam = planned.begin()
    probabilities = exam.fleet.forecaster.predict_proba(exam.table)
    write_table(
        run.path / FORECASTS, ("question", "model", "probability"), _rows(exam, probabilities)
    )
    scored = exam.scored
    return findings_of(
        exam,
        scores=score_forecasts(exam, probabilities),
        reliability=reliability(
            probabilities[scored],
            exam.questions.correct[scored],
            same_texts(exam.questions.take(scored)),
        ),
        expected=_expected(exam, probabilities),
        files=(FORECASTS,),
    )


def _expected(exam: Exam, probabilities: Probabilities) -> tuple[ExpectedAccuracy, ...]:
    """How many of the questions asked each model is expected to answer rightly, most first."""
    names = same_texts(exam.questions)
    means = probabilities.mean(axis=0, dtype=np.float64)
    return tuple(
        ExpectedAccuracy(
            model=exam.fleet.models[column],
            accuracy=mean_estimate(probabilities[:, column], names),
        )
        for column in np.argsort(-means, kind="stable").tolist()
    )


def _rows(exam: Exam, probabilities: Probabilities) -> Iterator[tuple[str, str, float]]:
    for name, row in zip(exam.questions.ids, probabilities, strict=True):
        for model, one in zip(exam.fleet.models, row.tolist(), strict=True):
            yield name, model, one
