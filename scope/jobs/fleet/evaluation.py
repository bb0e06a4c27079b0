"""A fleet, the questions that it is evaluated on (new or held-out ones), and its scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError
from scope.jobs.fleet.embed import Learning, learn, load_needed_encoder, means_note, vectors_of
from scope.jobs.fleet.forecaster import MeanForecaster, Probabilities
from scope.jobs.fleet.inputs import (
    SHOWN,
    held_out_rows,
    load_answers,
    load_questions,
    require_enough_left,
    same_texts,
)
from scope.jobs.fleet.matrix import CorrectnessMatrix
from scope.jobs.fleet.models import Counts, counts_of_fleet, skills_of_fleet
from scope.jobs.fleet.questions import Table, question_table, require_texts
from scope.jobs.fleet.requests import ForecastRequest
from scope.jobs.fleet.scores import forecast_scores
from scope.jobs.fleet.stored_fleet import Fleet, matched_rows, open_fleet, with_added_models
from scope.models import ModelOptions, load_encoder
from scope.printing import counted, listed
from scope.protocols import Encoder, Progress
from scope.records import DataCard, FleetModel, ForecastScore, Setting


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """A fleet, and the questions that it is evaluated on.

    Parameters
    ----------
    fleet
        Fitted, including added models.
    questions
        With a column of answers for each model of the fleet, in its order; NaN if unknown.
    table
        The questions as the input of the fleet's forecaster.
    fresh
        Mask of the questions that the fleet was not fitted on; only these are scored.
    conflicts
        Number of answers, both fitted and scored, that are given twice with different values;
        0 for a stored fleet, for which it is unknown.
    notes
        Remarks for the reader of the result.
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


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedEvaluation:
    """A checked evaluation; ``build`` does the expensive part.

    ``models`` are those of the fleet, ``settings`` those that determine the result. ``encoder``
    makes vectors of the ``texts``.
    """

    models: tuple[str, ...]
    data: tuple[DataCard, ...]
    settings: Mapping[str, Setting]
    build: Callable[[], Evaluation]
    encoder: Encoder | None
    texts: tuple[str, ...]


def plan_evaluation(request: ForecastRequest) -> PlannedEvaluation:
    """Read and check the inputs."""
    if request.fleet is not None and request.questions is not None:
        return _plan_with_fleet(request.fleet, request.questions, request)
    return _plan_with_answers(request)


def _plan_with_fleet(fleet: str | Path, new: str, request: ForecastRequest) -> PlannedEvaluation:
    """Open the fleet, add further models, read the questions and load the encoder."""
    stored = open_fleet(fleet, request.runs)
    with_added, cards = stored.fleet, []
    if request.add is not None:
        answers, card = load_questions(request.add, request.columns)
        with_added = with_added_models(with_added, answers)
        cards.append(card)
    questions, card = load_questions(new, request.columns)
    encoder = load_encoder_of(with_added, request.encoder, request.model_options)
    if encoder is not None:
        require_texts(
            questions.texts, f"the forecaster {with_added.forecaster.short_name}", questions.ids
        )
    return PlannedEvaluation(
        models=with_added.models,
        data=(card, *cards),
        settings={
            "fleet": stored.digest,
            "encoder": f"{encoder.spec} {encoder.fingerprint}" if encoder else None,
        },
        build=partial(_with_fleet, with_added, questions, encoder, request.progress),
        encoder=encoder,
        texts=questions.texts,
    )


def load_encoder_of(fleet: Fleet, spec: str | None, options: ModelOptions) -> Encoder | None:
    """The encoder of a fleet's questions; None if the fleet uses no texts.

    Raises
    ------
    DataError
        If the encoder is not the one that the fleet was fitted with.
    """
    expected = fleet.forecaster.layout.encoder
    if not expected:
        return None
    encoder = load_encoder(spec or fleet.encoder, options)
    if encoder.fingerprint != expected:
        raise DataError(
            f"the encoder `{encoder.spec}` with the fingerprint {encoder.fingerprint}",
            expected=f"the fleet's encoder, `{fleet.encoder}` with the fingerprint {expected}",
            fix="use the fleet's encoder with --encoder and the same --dtype, or embed the fleet "
            "again with this one",
        )
    return encoder


def _with_fleet(
    fleet: Fleet, questions: CorrectnessMatrix, encoder: Encoder | None, progress: Progress
) -> Evaluation:
    aligned, notes = _aligned(questions, fleet)
    fresh, seen = _unseen(fleet, questions)
    return Evaluation(
        fleet=fleet,
        questions=aligned,
        table=table_of(fleet, questions, encoder, progress),
        fresh=fresh,
        notes=(
            *questions.notes,
            *seen,
            *notes,
            *means_note([fleet.forecaster], len(fleet.ids)),
        ),
    )


def _unseen(
    fleet: Fleet, questions: CorrectnessMatrix
) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    """Mask of the questions that the fleet was not fitted on, and a note on the others."""
    rows = matched_rows(fleet, questions)
    pairs = zip(questions.ids, rows.tolist(), strict=True)
    renamed = sum(row >= 0 and fleet.ids[row] != name for name, row in pairs)
    fresh = rows < 0
    if fresh.all():
        return fresh, ()
    return fresh, (
        f"the fleet was fitted on {int((~fresh).sum())} of the {len(fresh)} questions, {renamed} "
        "of them under another id: recognised by their words, they count neither as unseen nor in "
        "any score or expected accuracy",
    )


def _aligned(
    questions: CorrectnessMatrix, fleet: Fleet
) -> tuple[CorrectnessMatrix, tuple[str, ...]]:
    """The questions with one column for each model of the fleet, and a note on ignored models."""
    correct = np.full((len(questions.ids), len(fleet.models)), np.nan, dtype=np.float32)
    columns = {name: column for column, name in enumerate(fleet.models)}
    foreign = []
    for place, name in enumerate(questions.models):
        if name in columns:
            correct[:, columns[name]] = questions.correct[:, place]
        else:
            foreign.append(name)
    aligned = CorrectnessMatrix(
        models=fleet.models,
        ids=questions.ids,
        texts=questions.texts,
        categories=questions.categories,
        correct=correct,
    )
    if not foreign:
        return aligned, ()
    return aligned, (
        f"answers of {counted(len(foreign), 'model')} not in the fleet are ignored: "
        f"{listed(foreign, SHOWN)}",
    )


def _plan_with_answers(request: ForecastRequest) -> PlannedEvaluation:
    """Read the answers, choose the questions to hold out, and load the encoder."""
    learning = Learning(forecaster=request.forecaster, seed=request.seed)
    matrix, card = load_answers(request.data, request.columns)
    held_out = held_out_rows(matrix.texts, request.test_share, request.seed)
    require_enough_left(matrix, held_out, learning.folds)
    encoder = load_needed_encoder(learning, matrix, request.encoder, request.model_options)
    return PlannedEvaluation(
        models=matrix.models,
        data=(card,),
        settings={**learning.settings(encoder), "test_share": request.test_share},
        build=partial(_with_answers, matrix, held_out, learning, encoder, request.progress),
        encoder=encoder,
        texts=matrix.texts,
    )


def _with_answers(
    matrix: CorrectnessMatrix,
    held_out: NDArray[np.bool_],
    learning: Learning,
    encoder: Encoder | None,
    progress: Progress,
) -> Evaluation:
    # Not marked as a part, so that models without any answer left are refused by name.
    known = matrix.take(~held_out).checked()
    questions = matrix.take(held_out)
    learned = learn(known, learning, encoder, progress)
    fresh, seen = _unseen(learned.fleet, questions)
    return Evaluation(
        fleet=learned.fleet,
        questions=questions,
        table=table_of(learned.fleet, questions, encoder, progress),
        fresh=fresh,
        conflicts=matrix.conflicts,
        notes=(
            *matrix.notes,
            f"{len(questions.ids)} of {len(matrix.ids)} questions are held out (seed "
            f"{learning.seed}); the fleet is fitted and selected on the others",
            *seen,
            *means_note([learned.fleet.forecaster], len(known.ids)),
        ),
    )


def table_of(
    fleet: Fleet, questions: CorrectnessMatrix, encoder: Encoder | None, progress: Progress
) -> Table:
    """The questions as the input of the fleet's forecaster."""
    return question_table(
        fleet.forecaster.layout,
        vectors=vectors_of(questions, encoder, progress),
        texts=questions.texts,
        categories=questions.categories,
    )


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


class Evaluated(Counts):
    """What the results of forecasts and of routing have in common."""

    fleet: tuple[FleetModel, ...]
    notes: tuple[str, ...]


def evaluated(evaluation: Evaluation, notes: Sequence[str] = ()) -> Evaluated:
    """The counts of the fleet's answers and the evaluation's notes.

    Only models added to the fleet for this evaluation are listed.
    """
    fleet = evaluation.fleet
    total, scored = len(evaluation.questions.ids), len(evaluation.scored)
    return Evaluated(
        **counts_of_fleet(fleet, evaluation.conflicts),
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
