"""Forecasts: the probability that each model answers each new or held-out question correctly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.answers import Run
from scope.core.request import as_function
from scope.errors import counted, listed
from scope.jobs.fleet import embed, selection as scoring
from scope.jobs.fleet.forecaster import MeanForecaster, Probabilities
from scope.jobs.fleet.map import counts_of_fleet, skill_estimates
from scope.jobs.fleet.matrix import MOST_NAMED, CorrectnessMatrix, load_answers, load_questions
from scope.jobs.fleet.questions import Table, held_out_rows, question_table
from scope.jobs.fleet.requests import Evaluates, ForecastRequest
from scope.jobs.fleet.selection import from_greatest
from scope.jobs.fleet.stored_fleet import Fleet, matched_rows, open_fleet, write_table
from scope.jobs.runner import Prepared, run_job
from scope.protocols import Encoder, Progress
from scope.records import (
    Estimate,
    ExpectedAccuracy,
    FleetModel,
    ForecastResult,
    ForecastScore,
    Manifest,
    Setting,
    Undefined,
)
from scope.statistics.intervals import mean_estimate

FORECASTS = "forecasts.csv"
ALL_SEEN = "the fleet was fitted on all of these questions"


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A fleet, and the questions that it is evaluated on.

    ``questions`` have a column of answers for each model of the fleet, in its order, NaN if
    unknown; ``table`` is the questions as the input of the fleet's forecaster. ``fresh`` marks the
    questions that the fleet was not fitted on; only these are scored. ``conflicts`` counts repeated
    answers with different values, and ``notes`` are for the reader of the result.
    """

    fleet: Fleet
    questions: CorrectnessMatrix
    table: Table
    fresh: NDArray[np.bool_]
    conflicts: int = 0
    notes: tuple[str, ...] = ()

    @property
    def scored(self) -> NDArray[np.int64]:
        """The rows of the questions that the fleet was not fitted on and that have an answer."""
        answered = ~np.isnan(self.questions.correct).all(axis=1)
        return np.flatnonzero(self.fresh & answered)

    def facts(self, notes: Sequence[str] = ()) -> dict[str, Any]:
        """The fields that results of forecasts and of routing share.

        Only models added to the fleet for this evaluation are listed.
        """
        fleet, total = self.fleet, counted(len(self.questions.ids), "question")
        skills = skill_estimates(fleet.skills, fleet.answered)
        return {
            **counts_of_fleet(fleet, self.conflicts),
            "fleet": tuple(
                FleetModel(name=name, skill=skill, added=True)
                for name, skill in zip(fleet.models, skills, strict=True)
                if name in fleet.added
            ),
            "notes": (f"{total} forecast, {len(self.scored)} of them scored", *notes, *self.notes),
        }


class PlannedEvaluation(NamedTuple):
    """A checked evaluation; ``build`` does the expensive part.

    ``models`` are those of the fleet, ``settings`` those that determine the result. ``prepared``
    is `scope.jobs.fleet.embed.prepared` with the data and the encoder.
    """

    models: tuple[str, ...]
    settings: dict[str, Setting]
    build: Callable[[], Evaluation]
    prepared: Callable[..., Prepared[Any]]


def plan_evaluation(request: Evaluates) -> PlannedEvaluation:
    """Read and check a fleet and its new questions, or answers to fit and to hold out."""
    if request.fleet is not None and request.questions is not None:
        return _plan_new_questions(request, request.fleet, request.questions)
    learning = embed.Learning.of(request)
    matrix, card = load_answers(request.data, request)
    held_out = held_out_rows(matrix.texts, request.test_share, request.seed)
    encoder = embed.load_needed_encoder(learning, matrix, request.encoder, request.model_options)
    return PlannedEvaluation(
        models=matrix.models,
        settings=learning.settings(encoder) | {"test_share": request.test_share},
        build=partial(_on_held_out, matrix, held_out, learning, encoder, request.progress),
        prepared=partial(embed.prepared, data=(card,), encoder=encoder, texts=matrix.texts),
    )


def _plan_new_questions(request: Evaluates, spec: str | Path, asked: str) -> PlannedEvaluation:
    fleet, digest, cards = open_fleet(request, spec)
    questions, card = load_questions(asked, request)
    encoder = embed.load_encoder_of(fleet, questions, request.encoder, request.model_options)
    data = (card, *cards)
    return PlannedEvaluation(
        models=fleet.models,
        settings={"fleet": digest, "encoder": embed.encoder_setting(encoder)},
        build=partial(_on_new_questions, fleet, questions, encoder, request.progress),
        prepared=partial(embed.prepared, data=data, encoder=encoder, texts=questions.texts),
    )


def _on_new_questions(
    fleet: Fleet, questions: CorrectnessMatrix, encoder: Encoder | None, progress: Progress
) -> Evaluation:
    """Give the questions one column for each model of the fleet."""
    columns = {name: column for column, name in enumerate(fleet.models)}
    known = [place for place, name in enumerate(questions.models) if name in columns]
    correct = np.full((len(questions.ids), len(fleet.models)), np.nan, dtype=np.float32)
    correct[:, [columns[questions.models[place]] for place in known]] = questions.correct[:, known]
    unknown = [name for name in questions.models if name not in columns]
    ignored = (
        f"answers of {counted(len(unknown), 'model')} not in the fleet are ignored: "
        f"{listed(unknown, MOST_NAMED)}",
    )
    evaluation = _evaluation(
        fleet, replace(questions, models=fleet.models, correct=correct), encoder, progress
    )
    means = embed.means_note([fleet.forecaster], len(fleet.ids))
    notes = (*questions.notes, *evaluation.notes, *(ignored if unknown else ()), *means)
    return replace(evaluation, notes=notes)


def _on_held_out(
    matrix: CorrectnessMatrix,
    held_out: NDArray[np.bool_],
    learning: embed.Learning,
    encoder: Encoder | None,
    progress: Progress,
) -> Evaluation:
    """Fit on the other questions."""
    rows = np.flatnonzero(~held_out)
    fleet, _ = embed.learn(matrix.take(rows).checked(), learning, encoder, progress)
    evaluation = _evaluation(fleet, matrix.take(held_out), encoder, progress)
    notes = (
        *matrix.notes,
        f"{int(held_out.sum())} of {len(matrix.ids)} questions are held out (seed "
        f"{learning.seed}); the fleet is fitted and selected on the others",
        *evaluation.notes,
        *embed.means_note([fleet.forecaster], len(rows)),
    )
    return replace(evaluation, conflicts=matrix.conflicts, notes=notes)


def _evaluation(
    fleet: Fleet, questions: CorrectnessMatrix, encoder: Encoder | None, progress: Progress
) -> Evaluation:
    """Tabulate the questions and mark those that the fleet was fitted on, with a note on them."""
    rows = matched_rows(fleet, questions)
    fresh = rows < 0
    pairs = zip(questions.ids, rows.tolist(), strict=True)
    renamed = sum(row >= 0 and fleet.ids[row] != name for name, row in pairs)
    seen = (
        f"the fleet was fitted on {int((~fresh).sum())} of the {len(fresh)} questions, {renamed} "
        "of them under another id: recognised by their words, they count neither as unseen nor in "
        "any score or expected accuracy",
    )
    table = question_table(
        fleet.forecaster.layout,
        vectors=embed.vectors_of(questions, encoder, progress),
        texts=questions.texts,
        categories=questions.categories,
    )
    return Evaluation(fleet, questions, table, fresh, notes=() if fresh.all() else seen)


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
    score = partial(
        scoring.forecast_scores,
        answers=questions.correct,
        ids=questions.text_names,
        categories=questions.categories,
    )
    name = MeanForecaster.short_name
    if chosen == name:
        return score(probabilities[rows], forecaster=name, chosen=True)
    return (
        *score(means, forecaster=name),
        *score(probabilities[rows], forecaster=chosen, mean_probabilities=means, chosen=True),
    )


def run_forecast_fleet(request: ForecastRequest) -> ForecastResult:
    """Forecast the answers, or continue the run."""
    return run_job(request, prepare)


forecast_fleet = as_function(ForecastRequest, run_forecast_fleet)


def prepare(request: ForecastRequest) -> Prepared[ForecastResult]:
    """Read the fleet and the questions, or the answers to fit and score."""
    plan = plan_evaluation(request)
    compute = partial(_compute, plan.build)
    return plan.prepared("fleet forecast", request, compute, settings=plan.settings)


def _compute(build: Callable[[], Evaluation], manifest: Manifest, run: Run) -> ForecastResult:
    """Write all forecasts, and score those with known answers."""
    evaluation = build()
    fleet, questions = evaluation.fleet, evaluation.questions
    probabilities = fleet.forecaster.predict_proba(evaluation.table)
    rows = (
        (name, model, chance)
        for name, chances in zip(questions.ids, probabilities, strict=True)
        for model, chance in zip(fleet.models, chances.tolist(), strict=True)
    )
    write_table(run.path / FORECASTS, ("question", "model", "probability"), rows)
    scored, fresh = questions.take(evaluation.scored), questions.take(evaluation.fresh)
    predicted, names = probabilities[evaluation.scored], scored.text_names
    known = ~np.isnan(scored.correct)
    shift: Estimate | Undefined | None = None
    if scored.ids:
        observed = scoring.means_of_known(scored.correct, known)
        shift = scoring.known_gain(observed, scoring.means_of_known(predicted, known), names)
    return ForecastResult(
        manifest=manifest,
        **evaluation.facts(),
        scores=score_forecasts(evaluation, probabilities),
        reliability=scoring.reliability(predicted, scored.correct, names),
        expected=_expected(evaluation, probabilities),
        shift=shift,
        examples=scoring.surprising_questions(
            fresh.ids, fresh.texts, probabilities[evaluation.fresh], fresh.correct
        ),
        files=(FORECASTS,),
    )


def _expected(evaluation: Evaluation, probabilities: Probabilities) -> tuple[ExpectedAccuracy, ...]:
    """Each model's expected and observed accuracy on the unseen questions, the highest first."""
    questions = evaluation.questions.take(evaluation.fresh)
    chances, names = probabilities[evaluation.fresh].T, questions.text_names
    answered = len(evaluation.scored) > 0
    accuracies = [
        ExpectedAccuracy(
            model=model,
            accuracy=mean_estimate(predicted, names, empty=ALL_SEEN),
            observed=scoring.known_mean(answers, names) if answered else None,
            shift=scoring.known_gain(answers, predicted, names) if answered else None,
        )
        for model, predicted, answers in zip(
            evaluation.fleet.models, chances, questions.correct.T, strict=True
        )
    ]
    return tuple(sorted(accuracies, key=lambda model: from_greatest(model.accuracy)))
