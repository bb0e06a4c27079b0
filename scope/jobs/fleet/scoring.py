"""Scores of a fleet's forecasts and of baselines, and what results state of an evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from scope.fleet.findings.forecasting import forecast_scores
from scope.fleet.forecasters.baselines import MeanForecaster
from scope.fleet.forecasters.forecaster import Probabilities
from scope.jobs.fleet.answers import same_texts
from scope.jobs.fleet.evaluation import Evaluation
from scope.jobs.fleet.models import skills_of_fleet
from scope.printing import counted
from scope.records import FleetModel, ForecastScore

NO_ENCODER = "none"
"""The name of the encoder in results if no text is used."""


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
    forecasts = {
        MeanForecaster.short_name: means,
        chosen: probabilities[rows],
    }
    return tuple(
        score
        for spelling, predicted in forecasts.items()
        for score in forecast_scores(
            predicted,
            questions.correct,
            same_texts(questions),
            forecaster=spelling,
            categories=questions.categories,
            mean_probabilities=None if spelling == MeanForecaster.short_name else means,
            chosen=spelling == chosen,
        )
    )


class Evaluated(TypedDict):
    """What the results of forecasts and of routing have in common."""

    questions: int
    models: int
    answers: int
    conflicts: int
    forecaster: str
    encoder: str
    fleet: tuple[FleetModel, ...]
    notes: tuple[str, ...]


def evaluated(evaluation: Evaluation, notes: Sequence[str] = ()) -> Evaluated:
    """The counts of the fleet's answers and the evaluation's notes.

    Only models added to the fleet for this evaluation are listed.
    """
    fleet = evaluation.fleet
    total, scored = len(evaluation.questions.ids), len(evaluation.scored)
    return Evaluated(
        questions=len(fleet.ids),
        models=len(fleet.models),
        answers=int(fleet.answered.sum()),
        conflicts=evaluation.conflicts,
        forecaster=fleet.forecaster.spelling,
        encoder=fleet.encoder or NO_ENCODER,
        fleet=tuple(
            FleetModel(name=name, skill=skill, added=True)
            for name, skill in zip(fleet.models, skills_of_fleet(fleet), strict=True)
            if name in fleet.added
        ),
        notes=(
            f"{counted(total, 'question')} forecast, {scored} of them scored",
            *notes,
            *evaluation.notes,
        ),
    )
