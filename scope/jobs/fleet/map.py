"""The map of a fleet: similar models, and communities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from scope.answers import Run
from scope.core.request import as_function
from scope.jobs.fleet import models
from scope.jobs.fleet.embed import prepared
from scope.jobs.fleet.inputs import digest_by_model, load_answers, read_communities, require_known
from scope.jobs.fleet.requests import MapRequest
from scope.jobs.fleet.similar_models import community_distances
from scope.jobs.fleet.stored_fleet import open_fleet
from scope.jobs.runner import Prepared, run_job
from scope.records import Manifest, MapResult, Setting


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
        mapped, notes, cards = models.models_of_answers(matrix), matrix.notes, [card]
        require_known(labels, matrix.models, "--communities")
    else:
        fleet, settings["fleet"], cards = open_fleet(request, request.fleet)
        mapped, notes = models.models_of_fleet(fleet), ()
        require_known(labels, fleet.models, "--communities")
    compute = partial(_compute, request, labels, mapped, notes)
    return prepared("fleet map", request, compute, data=cards, settings=settings)


def _compute(
    request: MapRequest,
    labels: Mapping[str, str],
    mapped: models.MappedModels,
    notes: Sequence[str],
    manifest: Manifest,
    _: Run,
) -> MapResult:
    listed, shown = models.describe_models(mapped, labels)
    return MapResult(
        manifest=manifest,
        **mapped.counts,
        fleet=listed,
        communities=community_distances(mapped.vectors, mapped.models, labels, seed=request.seed),
        notes=(*notes, mapped.note, shown),
    )
