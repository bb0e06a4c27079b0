"""The models of a fleet in a result: skill, position on the map, nearest models, communities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.answers import Run
from scope.core.request import as_function
from scope.jobs.fleet.factorization import factorize
from scope.jobs.fleet.forecaster import Forecaster, VectorForecaster, accuracies
from scope.jobs.fleet.inputs import digest_by_model, load_answers, read_communities, require_known
from scope.jobs.fleet.matrix import CorrectnessMatrix
from scope.jobs.fleet.questions import Answers
from scope.jobs.fleet.requests import MapRequest
from scope.jobs.fleet.similar_models import community_distances, model_map, nearest_models
from scope.jobs.fleet.stored_fleet import Fleet, open_fleet
from scope.jobs.fleet.text_factors import MOST_DIMENSIONS
from scope.jobs.identity import manifest_of
from scope.jobs.runner import Prepared, run_job
from scope.protocols import Encoder
from scope.records import Estimate, FleetModel, Manifest, MapResult, Setting, Undefined
from scope.statistics.intervals import LEVEL, normal_quantile, wilson

FROM_ANSWERS = "factors of the answers"
"""The name in results for vectors of the answers."""

NO_ENCODER = "none"
"""The name of the encoder in results if no text is used."""


class MappedModels(NamedTuple):
    """Models with their skills and vectors, and a note on the vectors' origin.

    ``counts`` are the fields on the matrix and the forecaster that every result has.
    """

    models: Sequence[str]
    skills: Sequence[Estimate | Undefined]
    vectors: NDArray[np.floating]
    note: str
    counts: Mapping[str, Any]
    added: Sequence[str] = ()


def models_of_fleet(
    fleet: Fleet, answers: Answers | None = None, conflicts: int = 0
) -> MappedModels:
    """The models of a fitted fleet, and the answers that it was fitted on if these are known."""
    vectors, note = place_models(fleet.forecaster, answers)
    skills = skill_estimates(fleet.skills, fleet.answered)
    counts = counts_of_fleet(fleet, conflicts)
    return MappedModels(fleet.models, skills, vectors, note, counts, fleet.added)


def models_of_answers(matrix: CorrectnessMatrix) -> MappedModels:
    """The models of a response matrix."""
    answered = (~np.isnan(matrix.correct)).sum(axis=0)
    return MappedModels(
        matrix.models,
        skill_estimates(accuracies(matrix.correct), answered),
        answer_vectors(matrix.correct),
        "the map shows vectors of the answers; it uses no texts",
        counts_of_answers(matrix, None),
    )


def place_models(
    forecaster: Forecaster, answers: Answers | None = None
) -> tuple[NDArray[np.floating], str]:
    """A forecaster's vectors of the models, or vectors of the answers if it has none; and a note.

    The squared distance between a forecaster's vectors is that of its forecasts: a dimension
    without influence on forecasts has none on distances. Nearest neighbours have no vectors of
    models, and means have one number per model. The vectors of the answers from
    `scope.jobs.fleet.factorization`, which uses no texts, replace them.
    """
    name = forecaster.short_name
    places = forecaster.places_ if isinstance(forecaster, VectorForecaster) else None
    if places is not None and places.shape[1] > 1:
        return places, f"the map shows the models' vectors of {name}"
    known = getattr(forecaster, "answers_", answers)
    if known is not None:
        note = f"the map shows vectors of the answers, because {name} has no vectors of models"
        return answer_vectors(known), note
    return np.asarray(places), f"the map is a line, because {name} has one number per model"


def answer_vectors(answers: Answers) -> NDArray[np.float32]:
    """Each model's skill, and its coordinates from a factorization of the answers."""
    factors = factorize(answers, min(MOST_DIMENSIONS, answers.shape[1]))
    return np.column_stack([factors.skills, factors.model_vectors])


def describe_models(
    mapped: MappedModels, communities: Mapping[str, str] | None = None
) -> tuple[tuple[FleetModel, ...], str]:
    """All models in their order, and a note on the variance that the map shows."""
    places, shown = model_map(mapped.vectors)
    labels = communities or {}
    near = nearest_models(mapped.vectors, mapped.models)
    rows = zip(mapped.models, mapped.skills, places.tolist(), near, strict=True)
    listed = tuple(
        FleetModel(
            name=name,
            skill=skill,
            x=x,
            y=y,
            community=labels.get(name),
            nearest=nearest,
            added=name in mapped.added,
        )
        for name, skill, (x, y), nearest in rows
    )
    if isinstance(shown, Undefined):
        return listed, f"the map is undefined: {shown.reason}"
    return listed, (
        f"the map shows {100 * shown:.0f} % of the variance between the models: models near on it "
        "may be unlike, so go by the numbers"
    )


def counts_of_answers(matrix: CorrectnessMatrix, encoder: Encoder | None) -> dict[str, Any]:
    """The matrix, forecaster and encoder of a result on vectors of the answers."""
    return {
        "questions": len(matrix.ids),
        "models": len(matrix.models),
        "answers": matrix.n_answers,
        "conflicts": matrix.conflicts,
        "forecaster": FROM_ANSWERS,
        "encoder": encoder.spec if encoder else NO_ENCODER,
    }


def counts_of_fleet(fleet: Fleet, conflicts: int) -> dict[str, Any]:
    """The matrix, forecaster and encoder of a result on a fitted fleet."""
    return {
        "questions": len(fleet.ids),
        "models": len(fleet.models),
        "answers": int(fleet.answered.sum()),
        "conflicts": conflicts,
        "forecaster": fleet.forecaster.spelling,
        "encoder": fleet.encoder or NO_ENCODER,
    }


def skill_estimates(
    skills: NDArray[np.float32], answered: NDArray[np.int64]
) -> tuple[Estimate | Undefined, ...]:
    """Each model's accuracy on its known answers, of which ``answered`` counts them."""
    return tuple(map(skill_estimate, skills.tolist(), answered.tolist()))


def skill_estimate(skill: float, answered: int) -> Estimate | Undefined:
    """An accuracy with Wilson's interval.

    Examples
    --------
    >>> print(skill_estimate(0.75, 4))
    0.750 [0.301, 0.954]
    """
    if not answered:
        return Undefined(reason="no known answer")
    low, high = wilson(skill, answered, normal_quantile(LEVEL))
    return Estimate(
        value=skill,
        low=max(0.0, min(low, skill)),
        high=min(1.0, max(high, skill)),
        n=answered,
        method="Wilson",
    )


def run_map_fleet(request: MapRequest) -> MapResult:
    """Compute the map, or continue the run."""
    return run_job(request, prepare)


map_fleet = as_function(MapRequest, run_map_fleet)


def prepare(request: MapRequest) -> Prepared[MapResult]:
    """Read the fleet or the answers, and the communities."""
    labels: Mapping[str, str] = {}
    if isinstance(request.communities, Mapping):
        labels = request.communities
        # A mapping has no path for the reproduce command.
        request = replace(request, communities=None)
    elif request.communities is not None:
        labels = read_communities(request.communities)
    settings: dict[str, Setting] = {"seed": request.seed, "communities": digest_by_model(labels)}
    if request.fleet is None:
        matrix, card = load_answers(request.data, request)
        mapped, notes, cards = models_of_answers(matrix), matrix.notes, [card]
        require_known(labels, matrix.models, "--communities")
    else:
        fleet, settings["fleet"], cards = open_fleet(request, request.fleet)
        mapped, notes = models_of_fleet(fleet), ()
        require_known(labels, fleet.models, "--communities")
    manifest = manifest_of("fleet map", request, settings, data=cards)
    compute = partial(_compute, request, labels, mapped, notes, manifest)
    return Prepared(manifest, compute, trains_models=True)


def _compute(
    request: MapRequest,
    labels: Mapping[str, str],
    mapped: MappedModels,
    notes: Sequence[str],
    manifest: Manifest,
    _: Run,
) -> MapResult:
    listed, shown = describe_models(mapped, labels)
    return MapResult(
        manifest=manifest,
        **mapped.counts,
        fleet=listed,
        communities=community_distances(mapped.vectors, mapped.models, labels, seed=request.seed),
        notes=(*notes, mapped.note, shown),
    )
