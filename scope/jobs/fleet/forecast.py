"""Forecasts: how likely is it that each model answers each new question rightly?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from scope.fleet.findings.forecasting import reliability
from scope.fleet.forecasters.forecaster import Probabilities
from scope.jobs.fleet.exam import Exam, PlannedExam
from scope.jobs.fleet.examining import ExamRequest, plan_exam
from scope.jobs.fleet.files import FORECASTS, write_table
from scope.jobs.fleet.given import same_texts
from scope.jobs.fleet.marking import findings_of, score_forecasts
from scope.jobs.fleet.plan import FleetPlan, carry_out
from scope.jobs.frame import Surroundings
from scope.models import ModelOptions
from scope.protocols import Progress
from scope.records import Comparison, ExpectedAccuracy, FleetFindings
from scope.statistics.intervals import mean_estimate
from scope.store import Run


def forecast_fleet(
    *,
    fleet: str | Path | None = None,
    questions: str | None = None,
    add: str | None = None,
    data: str | Sequence[str] = (),
    test_share: float | None = None,
    embedder: str | None = None,
    encoder: str | None = None,
    columns: Mapping[str, str] | None = None,
    seed: int = 0,
    model_options: ModelOptions | None = None,
    run: str | Path | None = None,
    runs: Path = Path("runs"),
    progress: Progress | None = None,
) -> Comparison:
    """Foretell who answers new questions rightly, and say how good the forecasts are.

    Every forecast stands in ``forecasts.csv`` in the run's folder, and how many of the questions
    each model is expected to answer rightly in the result. Where answers are known, the
    forecasts are scored on questions that the fleet was not fitted on.

    Parameters
    ----------
    fleet, questions
        A run of `embed_fleet`, by name or path, and new questions, with or without answers.
    add
        Answers of further models to questions that the fleet was fitted on: they join it.
    data, test_share
        In place of a fleet: answers, of which a share of the questions is held out, 0.2 unless
        said otherwise. All is learned from the others, and scored on these.
    embedder, encoder
        As for `embed_fleet`; a stored fleet has its own.
    columns
        Which column of a table holds what, by role, where it has no usual name.
    seed
        Decides which questions are held out, and all that is learned.
    model_options
        How the encoder is loaded and run.
    run, runs
        The run's name under the folder ``runs``, or its path.
    progress
        Where to show progress; nowhere by default.

    Raises
    ------
    ScopeError
        Whatever the user can mend: see `scope.errors`.
    """
    request = ExamRequest(
        fleet=fleet,
        questions=questions,
        add=add,
        data=data,
        test_share=test_share,
        embedder=embedder,
        encoder=encoder,
        columns=columns or {},
        seed=seed,
    )
    around = Surroundings.of(model_options, run, runs, progress)
    exam = plan_exam(request, around)
    plan = FleetPlan(job="forecast", data=exam.data, settings=exam.settings, asked=exam.asked)
    return carry_out(plan, around, partial(_find, exam))


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
