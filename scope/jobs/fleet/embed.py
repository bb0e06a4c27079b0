"""Embedding: a compact vector for every model, learned from who answered what, and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from scope.fleet.findings.forecasting import reliability
from scope.fleet.matrix import CorrectnessMatrix
from scope.fleet.saved_numbers import DESCRIPTION, NUMBERS
from scope.fleet.saving import save_fleet
from scope.jobs.fleet.given import listed_specs, read_answers, same_texts
from scope.jobs.fleet.learning import AUTO, Learning, learn, load_needed_encoder
from scope.jobs.fleet.marking import NO_ENCODER
from scope.jobs.fleet.members import describe_models, place_models, skills_of_fleet
from scope.jobs.fleet.opening import EMBEDDER
from scope.jobs.fleet.plan import FleetPlan, carry_out
from scope.jobs.frame import Surroundings
from scope.models import ModelOptions
from scope.protocols import Encoder, Progress
from scope.records import Comparison, FleetFindings
from scope.store import Run


def embed_fleet(
    *,
    data: str | Sequence[str],
    embedder: str | None = None,
    encoder: str | None = None,
    dimensions: int | None = None,
    folds: int = 5,
    features: bool = True,
    columns: Mapping[str, str] | None = None,
    seed: int = 0,
    model_options: ModelOptions | None = None,
    run: str | Path | None = None,
    runs: Path = Path("runs"),
    progress: Progress | None = None,
) -> Comparison:
    """Learn a vector for every model from who answered what rightly, and keep the fleet.

    The fleet lies in the run's folder under ``embedder``, from where `forecast_fleet`,
    `route_fleet` and `map_fleet` take it.

    Parameters
    ----------
    data
        Who answered what: a long table, a folder of saved answers, or a finished run of
        `compare`; several are joined.
    embedder
        ``factors``, ``irt``, ``knn``, ``mean``, or ``mf`` as published; by default the best of the
        first four, on questions left out in turn, is chosen.
    encoder
        The sentence encoder of the questions.
    dimensions
        Of each model's vector.
    folds
        Into how many parts the questions are drawn, each forecast from the others.
    features
        Whether lengths, digits and symbols of the text are read beside its vector.
    columns
        Which column of a table holds what, by role, where it has no usual name.
    seed
        Decides the folds and all that is learned.
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
    learning = Learning(
        embedder=embedder or AUTO,
        dimensions=dimensions,
        folds=folds,
        features=features,
        seed=seed,
    )
    around = Surroundings.of(model_options, run, runs, progress)
    matrix, card = read_answers(data, columns)
    loaded = load_needed_encoder(learning, matrix, encoder, around.models)
    plan = FleetPlan(
        job="embed",
        data=(card,),
        settings=learning.settings(loaded),
        asked={
            "data": listed_specs(data),
            "embedder": embedder,
            "encoder": encoder,
            "dimensions": dimensions,
            "folds": folds,
            "no_features": not features,
            "column": [f"{role}={name}" for role, name in (columns or {}).items()],
            "seed": seed,
        },
    )
    return carry_out(plan, around, partial(_find, matrix, learning, loaded, around))


def _find(
    matrix: CorrectnessMatrix,
    learning: Learning,
    encoder: Encoder | None,
    around: Surroundings,
    run: Run,
) -> FleetFindings:
    fleet, choice, _ = learn(matrix, learning, encoder, around)
    save_fleet(fleet, run.path / EMBEDDER)
    placed = place_models(fleet.forecaster, matrix.correct)
    members, shown = describe_models(fleet.models, skills_of_fleet(fleet), placed.vectors)
    answered = np.flatnonzero(~np.isnan(matrix.correct).all(axis=1))
    return FleetFindings(
        questions=len(matrix.ids),
        models=len(matrix.models),
        answers=matrix.n_answers,
        conflicts=matrix.conflicts,
        forecaster=fleet.forecaster.spelling,
        encoder=fleet.encoder or NO_ENCODER,
        members=members,
        scores=choice.scores,
        reliability=reliability(
            choice.probabilities[answered],
            matrix.correct[answered],
            same_texts(matrix.take(answered)),
        ),
        notes=(
            *matrix.notes,
            f"scores are of questions left out in turn, in {learning.folds} parts",
            placed.note,
            shown,
        ),
        files=(f"{EMBEDDER}/{DESCRIPTION}", f"{EMBEDDER}/{NUMBERS}"),
    )
