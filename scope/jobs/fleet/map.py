"""The map of a fleet: similar models, communities, and contributions of benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    Counts,
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
from scope.jobs.runner import Prepared, carry_out
from scope.models import load_encoder
from scope.models.options import SENTENCE_ENCODER
from scope.protocols import Encoder, Progress
from scope.records import (
    Contribution,
    DataCard,
    Estimate,
    Manifest,
    MapResult,
    Setting,
    Undefined,
)
from scope.store import Run


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedContributions:
    """Answers to questions of several benchmarks, and the encoder of their texts."""

    matrix: CorrectnessMatrix
    held_out: NDArray[np.bool_]
    encoder: Encoder
    seed: int
    progress: Progress

    @property
    def settings(self) -> Mapping[str, Setting]:
        """The settings that decide the result."""
        return {
            "encoder": f"{self.encoder.spec} {self.encoder.fingerprint}",
            "test_share": TEST_SHARE,
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the method."""
        return (
            f"contributions: {int(self.held_out.sum())} of {len(self.held_out)} questions are held "
            "out and predicted by factors fitted with and without each benchmark's other questions",
        )

    def find(self) -> tuple[Contribution, ...]:
        """Fit without each benchmark in turn, and score the forecasts on every benchmark."""
        known = self.matrix.take(~self.held_out).checked()
        test = self.matrix.take(self.held_out)
        learned = tabulate(self.matrix, self.encoder, self.progress, features=True)
        table, questions = learned.table[~self.held_out], learned.table[self.held_out]

        def fit_predict(rows: NDArray[np.bool_]) -> Probabilities:
            forecaster = TextFactors(layout=learned.layout, seed=self.seed)
            return forecaster.fit(table[rows], known.correct[rows]).predict_proba(questions)

        fits = len({one for one in known.categories if one is not None}) + 1
        with self.progress.task("contributions of benchmarks", fits) as advance:
            return contributions(
                fit_predict,
                known.categories,
                test.correct,
                same_texts(test),
                test.categories,
                advance=advance,
            )


def plan_contributions(matrix: CorrectnessMatrix, request: MapRequest) -> PlannedContributions:
    """Check the benchmarks and texts, and load the encoder.

    Raises
    ------
    DataError
        If there are fewer than two benchmarks, or a question has no text.
    """
    benchmarks_of(matrix, "contributions are from one benchmark to another")
    require_texts(matrix.texts, f"the forecaster {TextFactors.short_name}", matrix.ids)
    return PlannedContributions(
        matrix=matrix,
        held_out=held_out_rows(matrix.texts, TEST_SHARE, request.seed),
        encoder=load_encoder(request.encoder or SENTENCE_ENCODER, request.model_options),
        seed=request.seed,
        progress=request.progress,
    )


class MappedModels(NamedTuple):
    """Models with their vectors, from a stored fleet or from answers, and counts."""

    models: tuple[str, ...]
    skills: tuple[Estimate | Undefined, ...]
    vectors: NDArray[np.floating]
    added: tuple[str, ...]
    counts: Counts
    notes: tuple[str, ...]


def carry_out_map_fleet(request: MapRequest) -> MapResult:
    """Compute the map, or continue the run."""
    return carry_out(request, prepare)


map_fleet = as_function(MapRequest, carry_out_map_fleet)


def prepare(request: MapRequest) -> Prepared[MapResult]:
    """Read the fleet or the answers, and the communities."""
    communities = request.communities
    if communities is None or isinstance(communities, Mapping):
        labels = communities or {}
    else:
        labels = read_communities(communities)
    settings: dict[str, Setting] = {"seed": request.seed, "communities": digest_by_model(labels)}
    planned: PlannedContributions | None = None
    if request.fleet is not None:
        mapped, cards, digest = _of_fleet(request.fleet, request)
        settings["fleet"] = digest
        require_known(labels, mapped.models, "--communities")
    else:
        matrix, card = load_answers(request.data, request.columns)
        require_known(labels, matrix.models, "--communities")
        if request.contributions:
            planned = plan_contributions(matrix, request)
            settings.update(planned.settings)
        encoder = planned.encoder.spec if planned else NO_ENCODER
        mapped, cards = _of_answers(matrix, encoder), (card,)
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
        counts=counts_of_fleet(fleet),
        notes=(placed.note,),
    )
    return mapped, cards, stored.digest


def _of_answers(matrix: CorrectnessMatrix, encoder: str) -> MappedModels:
    return MappedModels(
        models=matrix.models,
        skills=skills_of_answers(matrix.correct),
        vectors=answer_vectors(matrix.correct),
        added=(),
        counts=counts_of_answers(matrix, encoder),
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
        **mapped.counts,
        fleet=listed,
        contributions=planned.find() if planned else (),
        communities=community_distances(mapped.vectors, mapped.models, labels, seed=seed)
        if labels
        else (),
        notes=(*mapped.notes, shown, *(planned.notes if planned else ())),
    )
