"""The map of a fleet: similar models, communities, and contributions of benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scope.answers import Run
from scope.core.request import as_function
from scope.jobs.fleet.embed import prepared, tabulate
from scope.jobs.fleet.forecaster import Probabilities
from scope.jobs.fleet.inputs import (
    benchmarks_of,
    digest_by_model,
    held_out_rows,
    load_answers,
    load_questions,
    read_communities,
    require_known,
    same_texts,
)
from scope.jobs.fleet.matrix import CorrectnessMatrix
from scope.jobs.fleet.models import (
    NO_ENCODER,
    answer_vectors,
    counts_of_answers,
    counts_of_fleet,
    describe_models,
    place_models,
    skills_of_answers,
    skills_of_fleet,
)
from scope.jobs.fleet.questions import require_texts
from scope.jobs.fleet.requests import TEST_SHARE, MapRequest
from scope.jobs.fleet.scores import contributions
from scope.jobs.fleet.similar_models import community_distances
from scope.jobs.fleet.stored_fleet import open_fleet, with_added_models
from scope.jobs.fleet.text_factors import TextFactors
from scope.jobs.runner import Prepared, run_job
from scope.models import load_encoder
from scope.models.options import SENTENCE_ENCODER
from scope.protocols import Encoder, Progress
from scope.records import Contribution, DataCard, Estimate, Manifest, MapResult, Setting, Undefined


@dataclass(frozen=True, kw_only=True, eq=False)
class MappedModels:
    """Models with their vectors, from a stored fleet or from answers, and counts."""

    models: tuple[str, ...]
    skills: tuple[Estimate | Undefined, ...]
    vectors: NDArray[np.floating]
    added: tuple[str, ...] = ()
    counts: Mapping[str, Any]
    notes: tuple[str, ...]


def run_map_fleet(request: MapRequest) -> MapResult:
    """Compute the map, or continue the run."""
    return run_job(request, prepare)


map_fleet = as_function(MapRequest, run_map_fleet)


def prepare(request: MapRequest) -> Prepared[MapResult]:
    """Read the fleet or the answers, and the communities."""
    communities = request.communities
    if communities is None or isinstance(communities, Mapping):
        labels = communities or {}
    else:
        labels = read_communities(communities)
    settings: dict[str, Setting] = {"seed": request.seed, "communities": digest_by_model(labels)}
    matrix, encoder = None, None
    if request.fleet is not None:
        mapped, cards, settings["fleet"] = _of_fleet(request)
        require_known(labels, mapped.models, "--communities")
    else:
        matrix, card = load_answers(request.data, request.columns)
        require_known(labels, matrix.models, "--communities")
        if request.contributions:
            benchmarks_of(matrix, "contributions are from one benchmark to another")
            require_texts(matrix.texts, f"the forecaster {TextFactors.short_name}", matrix.ids)
            held_out = held_out_rows(matrix.texts, TEST_SHARE, request.seed)
            encoder = load_encoder(request.encoder or SENTENCE_ENCODER, request.model_options)
            settings["encoder"] = f"{encoder.spec} {encoder.fingerprint}"
            settings["test_share"] = TEST_SHARE
        mapped, cards = _of_answers(matrix, encoder.spec if encoder else NO_ENCODER), (card,)

    def compute(manifest: Manifest, _: Run) -> MapResult:
        listed, shown = describe_models(
            mapped.models, mapped.skills, mapped.vectors, communities=labels, added=mapped.added
        )
        result = MapResult(
            manifest=manifest,
            **mapped.counts,
            fleet=listed,
            communities=community_distances(
                mapped.vectors, mapped.models, labels, seed=request.seed
            )
            if labels
            else (),
            notes=(*mapped.notes, shown),
        )
        if matrix is None or encoder is None:
            return result
        note = (
            f"contributions: {int(held_out.sum())} of {len(held_out)} questions are held out and "
            "predicted by factors fitted with and without each benchmark's other questions"
        )
        measured = contributions_of(matrix, held_out, encoder, request.seed, request.progress)
        return replace(result, contributions=measured, notes=(*result.notes, note))

    return prepared(
        "fleet map",
        # A mapping has no path for the reproduce command.
        replace(request, communities=None) if isinstance(communities, Mapping) else request,
        compute,
        data=cards,
        settings=settings,
        encoder=encoder,
        texts=matrix.texts if matrix and encoder else (),
    )


def _of_fleet(request: MapRequest) -> tuple[MappedModels, tuple[DataCard, ...], str]:
    """The models of a stored fleet and of added answers, and the fleet's digest."""
    fleet, digest = open_fleet(request.fleet or "", request.runs)
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
        counts=counts_of_fleet(fleet),
        notes=(placed.note,),
    )
    return mapped, cards, digest


def _of_answers(matrix: CorrectnessMatrix, encoder: str) -> MappedModels:
    return MappedModels(
        models=matrix.models,
        skills=skills_of_answers(matrix.correct),
        vectors=answer_vectors(matrix.correct),
        counts=counts_of_answers(matrix, encoder),
        notes=(*matrix.notes, "the map shows vectors of the answers; it uses no texts"),
    )


def contributions_of(
    matrix: CorrectnessMatrix,
    held_out: NDArray[np.bool_],
    encoder: Encoder,
    seed: int,
    progress: Progress,
) -> tuple[Contribution, ...]:
    """Fit without each benchmark in turn, and score the forecasts on every benchmark."""
    known, test = matrix.take(~held_out).checked(), matrix.take(held_out)
    table, layout = tabulate(matrix, encoder, progress, features=True)
    train, questions = table[~held_out], table[held_out]

    def fit_predict(rows: NDArray[np.bool_]) -> Probabilities:
        forecaster = TextFactors(layout=layout, seed=seed)
        return forecaster.fit(train[rows], known.correct[rows]).predict_proba(questions)

    fits = len({category for category in known.categories if category is not None}) + 1
    with progress.task("contributions of benchmarks", fits) as advance:
        return contributions(
            fit_predict,
            known.categories,
            test.correct,
            same_texts(test),
            test.categories,
            advance=advance,
        )
