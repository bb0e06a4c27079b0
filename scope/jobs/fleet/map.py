"""The map of a fleet: similar models, communities, and contributions of benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from scope.answers import Run
from scope.core.request import as_function
from scope.errors import DataError
from scope.jobs.fleet.embed import (
    Learning,
    encoder_setting,
    load_needed_encoder,
    prepared,
    tabulate,
)
from scope.jobs.fleet.forecaster import Probabilities
from scope.jobs.fleet.inputs import (
    benchmarks_of,
    digest_by_model,
    held_out_rows,
    load_answers,
    read_communities,
    require_known,
    same_texts,
)
from scope.jobs.fleet.matrix import CorrectnessMatrix
from scope.jobs.fleet.models import (
    MappedModels,
    describe_models,
    models_of_answers,
    models_of_fleet,
)
from scope.jobs.fleet.requests import TEST_SHARE, MapRequest
from scope.jobs.fleet.scores import Shares, hit_shares, known_gain, names_at, question_parts
from scope.jobs.fleet.similar_models import community_distances
from scope.jobs.fleet.stored_fleet import open_fleet
from scope.jobs.fleet.text_factors import TextFactors
from scope.jobs.runner import Prepared, run_job
from scope.protocols import Encoder, Progress
from scope.records import Contribution, Estimate, Manifest, MapResult, Setting, Undefined


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
        return _prepare_answers(request, labels, settings)
    fleet, settings["fleet"], cards = open_fleet(request, request.fleet)
    require_known(labels, fleet.models, "--communities")
    compute = partial(_compute, request, labels, models_of_fleet(fleet), ())
    return prepared("fleet map", request, compute, data=cards, settings=settings)


def _prepare_answers(
    request: MapRequest, labels: Mapping[str, str], settings: dict[str, Setting]
) -> Prepared[MapResult]:
    matrix, card = load_answers(request.data, request)
    require_known(labels, matrix.models, "--communities")
    encoder = None
    if request.contributions:
        benchmarks_of(matrix, "contributions are from one benchmark to another")
        learning = Learning(forecaster=TextFactors.short_name)
        encoder = load_needed_encoder(learning, matrix, request.encoder, request.model_options)
        settings |= {"encoder": encoder_setting(encoder), "test_share": TEST_SHARE}
    compute = partial(_compute, request, labels, models_of_answers(matrix, encoder), matrix.notes)
    if encoder is not None:
        held_out = held_out_rows(matrix.texts, TEST_SHARE, request.seed)
        compute = partial(_compute_contributions, compute, matrix, held_out, encoder, request)
    return prepared(
        "fleet map",
        request,
        compute,
        data=(card,),
        settings=settings,
        encoder=encoder,
        texts=matrix.texts,
    )


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


def _compute_contributions(
    draw: Callable[[Manifest, Run], MapResult],
    matrix: CorrectnessMatrix,
    held_out: NDArray[np.bool_],
    encoder: Encoder,
    request: MapRequest,
    manifest: Manifest,
    run: Run,
) -> MapResult:
    """The map, and forecasts of held-out questions by fits without each benchmark in turn."""
    result = draw(manifest, run)
    known, test = matrix.take(~held_out).checked(), matrix.take(held_out)
    table, layout = tabulate(matrix, encoder, request.progress, features=True)
    train, questions = table[~held_out], table[held_out]

    def fit_predict(rows: NDArray[np.bool_]) -> Probabilities:
        forecaster = TextFactors(layout=layout, seed=request.seed)
        return forecaster.fit(train[rows], known.correct[rows]).predict_proba(questions)

    note = (
        f"contributions: {int(held_out.sum())} of {len(held_out)} questions are held out and "
        "predicted by factors fitted with and without each benchmark's other questions"
    )
    measured = contributions(fit_predict, known.categories, test, request.progress)
    return replace(result, contributions=measured, notes=(*result.notes, note))


def contributions(
    fit_predict: Callable[[NDArray[np.bool_]], Probabilities],
    train_categories: Sequence[str | None],
    test: CorrectnessMatrix,
    progress: Progress,
) -> tuple[Contribution, ...]:
    """The contribution of every training benchmark to every held-out benchmark.

    The error on a benchmark is the share of known answers that are predicted incorrectly, averaged
    over its held-out questions. The contribution of i to j is the error on j of a fit without i's
    questions, minus the error of a fit on all, paired by question: positive if i helps.

    Parameters
    ----------
    fit_predict
        Fits on a mask of the training questions, and predicts all held-out ones; called once with
        all questions, and once without each benchmark.
    train_categories
        Categories of the training questions.
    test
        The held-out questions.

    Returns
    -------
    tuple of Contribution
        By source, then by target, each in alphabetical order. Undefined if a fit without the source
        has too few answers, or the target has no known answer.
    """
    sources, targets = (question_parts(c)[1:] for c in (train_categories, test.categories))
    everything, names = np.ones(len(train_categories), dtype=np.bool_), same_texts(test)
    measured = []
    with progress.task("contributions of benchmarks", len(sources) + 1) as advance:
        whole = hit_shares(fit_predict(everything), test.correct)
        advance()
        for category, rows in sources:
            kept = everything.copy()
            kept[rows] = False
            less = _hits_without(str(category), kept, fit_predict, test)
            advance()
            for target, places in targets:
                value: Estimate | Undefined = (
                    less
                    if isinstance(less, Undefined)
                    # An error is 1 minus a hit: error without minus error with.
                    else known_gain(whole[places], less[places], names_at(places, names))
                )
                measured.append(Contribution(source=str(category), target=str(target), value=value))
    return tuple(measured)


def _hits_without(
    source: str,
    kept: NDArray[np.bool_],
    fit_predict: Callable[[NDArray[np.bool_]], Probabilities],
    test: CorrectnessMatrix,
) -> Shares | Undefined:
    try:
        return hit_shares(fit_predict(kept), test.correct)
    except DataError as error:
        # Such as a model that answered nothing else; the other benchmarks are still measured.
        return Undefined(reason=f"without {source}: {error.found}")
