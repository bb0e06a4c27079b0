"""What an exam shows: how good the fleet's forecasts are, beside those of simpler ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scope.fleet.findings.forecasting import forecast_scores
from scope.fleet.forecasters.forecaster import Probabilities
from scope.fleet.forecasters.mean import MeanForecaster
from scope.jobs.fleet.exam import Exam
from scope.jobs.fleet.given import same_texts
from scope.jobs.fleet.members import skills_of_fleet
from scope.printing import counted
from scope.records import FleetFindings, FleetModel, ForecastScore

NO_ENCODER = "none"
"""What is told in place of an encoder where no text is read."""


def score_forecasts(exam: Exam, probabilities: Probabilities) -> tuple[ForecastScore, ...]:
    """The scores of each model's mean, of others and of the fleet; none where no answer is known.

    Parameters
    ----------
    probabilities
        The fleet's own forecasts, shape (questions, models).
    """
    rows = exam.scored
    if not len(rows):
        return ()
    questions = exam.questions.take(rows)
    # For models that were added later too: the accuracy on what each answered of the fleet's own.
    means = np.tile(exam.fleet.skills, (len(rows), 1))
    chosen = exam.fleet.forecaster.spelling
    forecasts = {
        MeanForecaster.short_name: means,
        **{one.spelling: one.predict_proba(exam.table[rows]) for one in exam.others},
        chosen: probabilities[rows],
    }
    return tuple(
        score
        for spelling, foretold in forecasts.items()
        for score in forecast_scores(
            foretold,
            questions.correct,
            same_texts(questions),
            forecaster=spelling,
            categories=questions.categories,
            mean_probabilities=None if spelling == MeanForecaster.short_name else means,
            chosen=spelling == chosen,
        )
    )


def findings_of(exam: Exam, *, notes: Sequence[str] = (), **found: Any) -> FleetFindings:
    """What was found, with the counts of what the fleet was learned from and the exam's notes.

    Of the models only those are told of that were added to the fleet for this exam.
    """
    fleet = exam.fleet
    asked, scored = len(exam.questions.ids), len(exam.scored)
    return FleetFindings(
        questions=len(fleet.ids),
        models=len(fleet.models),
        answers=int(fleet.answered.sum()),
        conflicts=exam.conflicts,
        forecaster=fleet.forecaster.spelling,
        encoder=fleet.encoder or NO_ENCODER,
        members=tuple(
            FleetModel(name=name, skill=skill, added=True)
            for name, skill in zip(fleet.models, skills_of_fleet(fleet), strict=True)
            if name in fleet.added
        ),
        notes=(
            f"{counted(asked, 'question')} asked of the fleet, of which {scored} scored",
            *notes,
            *exam.notes,
        ),
        **found,
    )
