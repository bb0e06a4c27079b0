"""Embedding: a compact vector for every model, learned from the response matrix and saved."""

from __future__ import annotations

from functools import partial

import numpy as np

from scope.answers import Run
from scope.core.request import as_function
from scope.fleet.findings.forecasting import reliability
from scope.fleet.matrix import CorrectnessMatrix
from scope.fleet.saving import DESCRIPTION, NUMBERS, save_fleet
from scope.jobs.fleet.answers import load_answers, same_texts
from scope.jobs.fleet.learning import Learning, learn, load_needed_encoder, means_note, prepared
from scope.jobs.fleet.models import (
    counts_of_fleet,
    describe_models,
    place_models,
    skills_of_fleet,
)
from scope.jobs.fleet.requests import EmbedRequest
from scope.jobs.fleet.stored_fleet import EMBEDDER
from scope.jobs.runner import Prepared, carry_out
from scope.protocols import Encoder, Progress
from scope.records import EmbedResult, Manifest


def carry_out_embed_fleet(request: EmbedRequest) -> EmbedResult:
    """Fit the fleet, or continue its run."""
    return carry_out(request, prepare)


embed_fleet = as_function(EmbedRequest, carry_out_embed_fleet)


def prepare(request: EmbedRequest) -> Prepared[EmbedResult]:
    """Read the answers and load the encoder."""
    learning = Learning(
        forecaster=request.forecaster,
        dimensions=request.dimensions,
        folds=request.folds,
        features=request.features,
        seed=request.seed,
    )
    matrix, card = load_answers(request.data, request.columns)
    encoder = load_needed_encoder(learning, matrix, request.encoder, request.model_options)
    return prepared(
        "fleet embed",
        request,
        partial(_find, matrix, learning, encoder, request.progress),
        data=(card,),
        settings=learning.settings(encoder),
        encoder=encoder,
        texts=matrix.texts,
    )


def _find(
    matrix: CorrectnessMatrix,
    learning: Learning,
    encoder: Encoder | None,
    progress: Progress,
    manifest: Manifest,
    run: Run,
) -> EmbedResult:
    fleet, choice = learn(matrix, learning, encoder, progress)
    save_fleet(fleet, run.path / EMBEDDER)
    placed = place_models(fleet.forecaster, matrix.correct)
    listed, shown = describe_models(fleet.models, skills_of_fleet(fleet), placed.vectors)
    answered = np.flatnonzero(~np.isnan(matrix.correct).all(axis=1))
    return EmbedResult(
        manifest=manifest,
        **counts_of_fleet(fleet, matrix.conflicts),
        fleet=listed,
        scores=choice.scores,
        reliability=reliability(
            choice.probabilities[answered],
            matrix.correct[answered],
            same_texts(matrix.take(answered)),
        ),
        notes=(
            *matrix.notes,
            f"scores are from {learning.folds}-fold cross-validation over the questions",
            *means_note(
                learning.candidates(fleet.forecaster.layout),
                len(matrix.ids) - len(matrix.ids) // learning.folds,
            ),
            placed.note,
            shown,
        ),
        files=(f"{EMBEDDER}/{DESCRIPTION}", f"{EMBEDDER}/{NUMBERS}"),
    )
