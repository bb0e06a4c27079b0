"""The map of a fleet: which models are alike, which communities, what benchmarks contribute."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.core.request import as_function
from scope.fleet.findings.communities import community_distances
from scope.fleet.matrix import CorrectnessMatrix
from scope.jobs.fleet.benchmark_help import PlannedHelp, plan_help
from scope.jobs.fleet.given import read_answers, read_asked
from scope.jobs.fleet.labels import read_communities, require_known
from scope.jobs.fleet.marking import NO_ENCODER
from scope.jobs.fleet.members import (
    FROM_ANSWERS,
    answer_vectors,
    describe_models,
    place_models,
    skills_of_answers,
    skills_of_fleet,
)
from scope.jobs.fleet.opening import open_fleet, with_further_models
from scope.jobs.fleet.plan import prepared
from scope.jobs.fleet.requests import MapRequest
from scope.jobs.runner import Prepared, carry_out
from scope.records import Comparison, DataCard, Estimate, FleetFindings, Setting, Undefined
from scope.store import Run


class Crowd(NamedTuple):
    """Models with their vectors, whichever way they were named, and the counts behind them."""

    models: tuple[str, ...]
    skills: tuple[Estimate | Undefined, ...]
    vectors: NDArray[np.floating]
    added: tuple[str, ...]
    questions: int
    answers: int
    conflicts: int
    forecaster: str
    encoder: str
    notes: tuple[str, ...]


def carry_out_map_fleet(request: MapRequest) -> Comparison:
    """Draw the map, or continue where the run was."""
    return carry_out(request, prepare)


map_fleet = as_function(MapRequest, carry_out_map_fleet)


def prepare(request: MapRequest) -> Prepared:
    """Read the fleet or the answers, and the communities."""
    communities = request.communities
    labels = communities if isinstance(communities, Mapping) else _read(communities)
    settings: dict[str, Setting] = {"seed": request.seed, "communities": _digest(labels)}
    help_: PlannedHelp | None = None
    if request.fleet is not None:
        crowd, cards, digest = _of_fleet(request.fleet, request)
        settings["fleet"] = digest
    else:
        matrix, card = read_answers(request.data, request.columns)
        crowd, cards = _of_answers(matrix), (card,)
        if request.contributions:
            help_ = plan_help(matrix, request)
            settings.update(help_.settings)
    require_known(labels, crowd.models, "--communities")
    # A mapping has no file that a command could name.
    named = replace(request, communities=None) if isinstance(communities, Mapping) else request
    find = partial(_find, crowd, labels, request.seed, help_)
    return prepared("fleet map", named, find, data=cards, settings=settings)


def _read(communities: str | Path | None) -> dict[str, str]:
    return {} if communities is None else read_communities(communities)


def _digest(labels: Mapping[str, str]) -> str | None:
    if not labels:
        return None
    told = json.dumps(sorted(labels.items()))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _of_fleet(spec: str | Path, request: MapRequest) -> tuple[Crowd, tuple[DataCard, ...], str]:
    stored = open_fleet(spec, request.runs)
    fleet = stored.fleet
    cards: tuple[DataCard, ...] = ()
    if request.add is not None:
        answers, card = read_asked(request.add, request.columns)
        fleet, cards = with_further_models(fleet, answers), (card,)
    placed = place_models(fleet.forecaster)
    crowd = Crowd(
        models=fleet.models,
        skills=skills_of_fleet(fleet),
        vectors=placed.vectors,
        added=fleet.added,
        questions=len(fleet.ids),
        answers=int(fleet.answered.sum()),
        conflicts=0,
        forecaster=fleet.forecaster.spelling,
        encoder=fleet.encoder or NO_ENCODER,
        notes=(placed.note,),
    )
    return crowd, cards, stored.digest


def _of_answers(matrix: CorrectnessMatrix) -> Crowd:
    return Crowd(
        models=matrix.models,
        skills=skills_of_answers(matrix.correct),
        vectors=answer_vectors(matrix.correct),
        added=(),
        questions=len(matrix.ids),
        answers=matrix.n_answers,
        conflicts=matrix.conflicts,
        forecaster=FROM_ANSWERS,
        encoder=NO_ENCODER,
        notes=(*matrix.notes, "the map shows vectors of the answers; no text was read for it"),
    )


def _find(
    crowd: Crowd, labels: Mapping[str, str], seed: int, help_: PlannedHelp | None, _: Run
) -> FleetFindings:
    members, shown = describe_models(
        crowd.models, crowd.skills, crowd.vectors, communities=labels, added=crowd.added
    )
    return FleetFindings(
        questions=crowd.questions,
        models=len(crowd.models),
        answers=crowd.answers,
        conflicts=crowd.conflicts,
        forecaster=crowd.forecaster,
        encoder=help_.encoder.spec if help_ else crowd.encoder,
        members=members,
        contributions=help_.find() if help_ else (),
        communities=community_distances(crowd.vectors, crowd.models, labels, seed=seed)
        if labels
        else (),
        notes=(*crowd.notes, shown, *(help_.notes if help_ else ())),
    )
