"""New questions for a fleet that was learned before."""

from __future__ import annotations

from functools import partial

import numpy as np

from scope.errors import DataError
from scope.fleet.layout import Table
from scope.fleet.matrix import CorrectnessMatrix
from scope.fleet.questions import question_table, require_texts
from scope.fleet.saving import Fleet
from scope.jobs.fleet.exam import Exam, PlannedExam
from scope.jobs.fleet.given import read_asked
from scope.jobs.fleet.labels import SHOWN
from scope.jobs.fleet.learning import vectors_of
from scope.jobs.fleet.opening import matched_rows, open_fleet, with_further_models
from scope.jobs.fleet.requests import ForecastRequest
from scope.models import ModelOptions, load_encoder
from scope.printing import counted, listed
from scope.protocols import Encoder, Progress


def plan_stored_exam(request: ForecastRequest) -> PlannedExam:
    """Open the fleet, let further models join it, read the questions and load the encoder."""
    stored = open_fleet(request.fleet or "", request.runs)
    joined, cards = stored.fleet, []
    if request.add is not None:
        answers, card = read_asked(request.add, request.columns)
        joined = with_further_models(joined, answers)
        cards.append(card)
    asked, card = read_asked(request.questions or "", request.columns)
    encoder = load_encoder_of(joined, request.encoder, request.model_options)
    if encoder is not None:
        require_texts(asked.texts, f"the embedder {joined.forecaster.short_name}", asked.ids)
    return PlannedExam(
        models=joined.models,
        data=(card, *cards),
        settings={
            "fleet": stored.digest,
            "encoder": f"{encoder.spec} {encoder.fingerprint}" if encoder else None,
        },
        begin=partial(_begin, joined, asked, encoder, request.progress),
    )


def load_encoder_of(fleet: Fleet, spec: str | None, options: ModelOptions) -> Encoder | None:
    """The encoder that a fleet's questions were read with, where it reads any.

    Raises
    ------
    DataError
        When the encoder named gives other vectors than those the fleet was fitted on.
    """
    expected = fleet.forecaster.layout.encoder
    if not expected:
        return None
    encoder = load_encoder(spec or fleet.encoder, options)
    if encoder.fingerprint != expected:
        raise DataError(
            f"the encoder `{encoder.spec}` with the fingerprint {encoder.fingerprint}",
            expected=f"that of the fleet, `{fleet.encoder}` with the fingerprint {expected}",
            mend="name it with --encoder, and the same --dtype; or embed the fleet again with "
            "this one",
        )
    return encoder


def _begin(
    fleet: Fleet, asked: CorrectnessMatrix, encoder: Encoder | None, progress: Progress
) -> Exam:
    seen = matched_rows(fleet, asked) >= 0
    aligned, notes = _aligned(asked, fleet)
    if seen.any():
        notes += (
            f"{int(seen.sum())} of the {len(seen)} questions are among those that the fleet was "
            "fitted on; they are left out of every score",
        )
    return Exam(
        fleet=fleet,
        questions=aligned,
        table=table_of(fleet, asked, encoder, progress),
        fresh=~seen,
        notes=(*asked.notes, *notes),
    )


def table_of(
    fleet: Fleet, questions: CorrectnessMatrix, encoder: Encoder | None, progress: Progress
) -> Table:
    """The questions as the fleet's forecaster reads them."""
    return question_table(
        fleet.forecaster.layout,
        vectors=vectors_of(questions, encoder, progress),
        texts=questions.texts,
        categories=questions.categories,
        encoder=encoder.fingerprint if encoder else "",
    )


def _aligned(asked: CorrectnessMatrix, fleet: Fleet) -> tuple[CorrectnessMatrix, tuple[str, ...]]:
    """The same questions with one column a model of the fleet, and what was left out for it."""
    correct = np.full((len(asked.ids), len(fleet.models)), np.nan, dtype=np.float32)
    columns = {name: column for column, name in enumerate(fleet.models)}
    foreign = []
    for place, name in enumerate(asked.models):
        if name in columns:
            correct[:, columns[name]] = asked.correct[:, place]
        else:
            foreign.append(name)
    aligned = CorrectnessMatrix(
        models=fleet.models,
        ids=asked.ids,
        texts=asked.texts,
        categories=asked.categories,
        correct=correct,
        part=True,
    )
    if not foreign:
        return aligned, ()
    return aligned, (
        f"answers of {counted(len(foreign), 'model')} that the fleet lacks count for nothing: "
        f"{listed(foreign, SHOWN)}",
    )
