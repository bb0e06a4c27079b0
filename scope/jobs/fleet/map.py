"""The map of a fleet: similar models, communities, and contributions of benchmarks."""

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
from scope.fleet.findings.similar_models import community_distances
from scope.fleet.matrix import CorrectnessMatrix
from scope.jobs.fleet.answers import load_answers, load_questions
from scope.jobs.fleet.contributions import PlannedContributions, plan_contributions
from scope.jobs.fleet.learning import prepared
from scope.jobs.fleet.model_tables import read_communities, require_known
from scope.jobs.fleet.models import (
    FROM_ANSWERS,
    answer_vectors,
    describe_models,
    place_models,
    skills_of_answers,
    skills_of_fleet,
)
from scope.jobs.fleet.requests import MapRequest
from scope.jobs.fleet.scoring import NO_ENCODER
from scope.jobs.fleet.stored_fleet import open_fleet, with_added_models
from scope.jobs.runner import Prepared, carry_out
from scope.records import DataCard, Estimate, Manifest, MapResult, Setting, Undefined
from scope.store import Run


class MappedModels(NamedTuple):
    """Models with their vectors, from a stored fleet or from answers, and counts."""

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


def carry_out_map_fleet(request: MapRequest) -> MapResult:
    """Compute the map, or continue the run."""
    return carry_out(request, prepare)


map_fleet = as_function(MapRequest, carry_out_map_fleet)


def prepare(request: MapRequest) -> Prepared[MapResult]:
    """Read the fleet or the answers, and the communities."""
    communities = request.communities
    labels = communities if isinstance(communities, Mapping) else _read(communities)
    settings: dict[str, Setting] = {"seed": request.seed, "communities": _digest(labels)}
    planned: PlannedContributions | None = None
    if request.fleet is not None:
        mapped, cards, digest = _of_fleet(request.fleet, request)
        settings["fleet"] = digest
        require_known(labels, mapped.models, "--communities")
    else:
        matrix, card = load_answers(request.data, request.columns)
        mapped, cards = _of_answers(matrix), (card,)
        require_known(labels, mapped.models, "--communities")
        if request.contributions:
            planned = plan_contributions(matrix, request)
            settings.update(planned.settings)
    # A mapping has no path for the reproduce command.
    named = replace(request, communities=None) if isinstance(communities, Mapping) else request
    find = partial(_find, mapped, labels, request.seed, planned)
    return prepared(
        "fleet map",
        named,
        find,
        data=cards,
        settings=settings,
        encoder=planned.encoder if planned else None,
        texts=planned.matrix.texts if planned else (),
    )


def _read(communities: str | Path | None) -> dict[str, str]:
    return {} if communities is None else read_communities(communities)


def _digest(labels: Mapping[str, str]) -> str | None:
    if not labels:
        return None
    pairs = json.dumps(sorted(labels.items()))
    return hashlib.sha256(pairs.encode()).hexdigest()[:16]


def _of_fleet(
    spec: str | Path, request: MapRequest
) -> tuple[MappedModels, tuple[DataCard, ...], str]:
    stored = open_fleet(spec, request.runs)
    fleet = stored.fleet
    cards: tuple[DataCard, ...] = ()
    if request.add is not None:
        answers, card = load_questions(request.add, request.columns)
        fleet, cards = with_added_models(fleet, answers), (card,)
    placed = place_models(fleet.forecaster)
    mapped = MappedModels(
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
    return mapped, cards, stored.digest


def _of_answers(matrix: CorrectnessMatrix) -> MappedModels:
    return MappedModels(
        models=matrix.models,
        skills=skills_of_answers(matrix.correct),
        vectors=answer_vectors(matrix.correct),
        added=(),
        questions=len(matrix.ids),
        answers=matrix.n_answers,
        conflicts=matrix.conflicts,
        forecaster=FROM_ANSWERS,
        encoder=NO_ENCODER,
        notes=(*matrix.notes, "the map shows vectors of the answers; it uses no texts"),
    )


def _find(
    mapped: MappedModels,
    labels: Mapping[str, str],
    seed: int,
    planned: PlannedContributions | None,
    manifest: Manifest,
    _: Run,
) -> MapResult:
    listed, shown = describe_models(
        mapped.models, mapped.skills, mapped.vectors, communities=labels, added=mapped.added
    )
    return MapResult(
        manifest=manifest,
        questions=mapped.questions,
        models=len(mapped.models),
        answers=mapped.answers,
        conflicts=mapped.conflicts,
        forecaster=mapped.forecaster,
        encoder=planned.encoder.spec if planned else mapped.encoder,
        fleet=listed,
        contributions=planned.find() if planned else (),
        communities=community_distances(mapped.vectors, mapped.models, labels, seed=seed)
        if labels
        else (),
        notes=(*mapped.notes, shown, *(planned.notes if planned else ())),
    )
