"""The report on a pair of models: runs the jobs that fit, and joins their results."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, combinations
from typing import Any

from scope.answers import Run
from scope.answers.vectors import stored_latents
from scope.core.request import as_function, with_words
from scope.errors import DataError, ModelError, RunError, ScopeError, SpecError
from scope.estimation.matrix import label_similarities
from scope.jobs.answering_models import is_saved
from scope.jobs.audit.request import whole_spec
from scope.jobs.cost_estimate import facts_of
from scope.jobs.identity import default_run_name, manifest_of
from scope.jobs.pair.parts import Parts, left_out, plan_parts
from scope.jobs.pair.request import PairRequest
from scope.jobs.probe.steps import aligned
from scope.jobs.runner import Prepared, cost_in_short, prices_in, run_job
from scope.models.endpoint.protocol import EndpointError
from scope.models.scheme import load_latent_reader, loading_once
from scope.progress import Bars, Lines, remark
from scope.records import (
    COMPARED,
    OBJECT,
    AuditResult,
    CompareResult,
    DataCard,
    EstimatedResult,
    LayerAlignment,
    Manifest,
    ModelCard,
    ModelFacts,
    NotRun,
    PairResult,
    ReuseResult,
    Setting,
)
from scope.records.examples import BLANK


def run_pair(request: PairRequest) -> PairResult:
    """Run the jobs that fit, or resume them."""
    return run_job(request, prepare if prices_in(request) else _without_work)


pair = with_words(as_function(PairRequest, run_pair), "models")


def prepare(request: PairRequest) -> Prepared[PairResult]:
    """Load and check everything before any model answers."""
    shared = (*request.models, request.baseline, request.floor)
    # Each part reads its own saved answers.
    with loading_once([spec for spec in shared if isinstance(spec, str) and not is_saved(spec)]):
        parts = plan_parts(request)
    manifests = [part.manifest for part in parts.fitting]
    settings: dict[str, Setting] = {"seed": request.seed, "thorough": request.thorough}
    settings |= {part.key: default_run_name(part.manifest) for part in parts.fitting}
    pieces = {card.name: card for manifest in manifests for card in manifest.capabilities}
    manifest = manifest_of(
        "pair",
        request,
        settings,
        models=_models(manifests),
        data=_data(manifests),
        capabilities=tuple(pieces.values()),
    )
    find = partial(_conduct, request, parts, manifest)
    work = chain.from_iterable(part.prepared.work() for part in parts.fitting)
    return Prepared(manifest, find, work=lambda: work)


def _without_work(request: PairRequest) -> Prepared[PairResult]:
    """Without the work of the parts, which load models for it: each announces its own requests."""
    return prepare(request)._replace(work=tuple)


def _conduct(request: PairRequest, parts: Parts, manifest: Manifest, run: Run) -> PairResult:
    """Carry out one part after the other, each in its own run."""
    results: list[EstimatedResult] = []
    errors: list[ScopeError] = []
    not_run = [*parts.not_run]
    if isinstance(request.progress, Bars | Lines) and not _kept_facts(run):
        work = (planned for part in parts.fitting for planned in part.prepared.work())
        remark(request.progress, f"in all {cost_in_short(work)}, less what is kept")
    for place, part in enumerate(parts.fitting, start=1):
        remark(request.progress, f"part {place} of {len(parts.fitting)}: {part.name}")
        try:
            result = part.run()
        except EndpointError:
            # The endpoint may answer when the command is given again.
            raise
        except (DataError, ModelError, SpecError) as error:
            # Such as a reference that gives all texts one label, or too few texts for reuse.
            errors.append(error)
            not_run.append(left_out(part.name, part.key, error))
            continue
        if result.clock is not None:
            run.asked_again += result.clock.asked_again
            run.drifts += result.clock.drifts
        results.append(replace(result, clock=None, folder=None))
    if not results:
        raise errors[0]
    audits = tuple(result for result in results if isinstance(result, AuditResult))
    manifests = [result.manifest for result in results]
    models = _models(manifests)
    judged = [card for card in models if card.role == "model"]
    layers = tuple(_aligned_layers(request, judged, results[0]))
    method, asked = _asked_in(results[0])
    loaded = {getattr(model, "spec", ""): model for model in parts.fitting[0].prepared.models}
    return PairResult(
        manifest=replace(manifest, models=models, data=_data(manifests)),
        audits=audits,
        similarities=tuple(label_similarities(audits)),
        # Measured once: times differ from session to session.
        facts=(() if any(card.spec.startswith(OBJECT) for card in judged) else _kept_facts(run))
        or tuple(
            facts_of(card, loaded.get(card.spec), method, asked, request.model_options)
            for card in judged
        ),
        alignments=tuple(layer for layer in layers if isinstance(layer, LayerAlignment)),
        comparisons=tuple(result for result in results if isinstance(result, CompareResult)),
        reuses=tuple(result for result in results if isinstance(result, ReuseResult)),
        not_run=(*not_run, *(layer for layer in layers if isinstance(layer, NotRun))),
    )


def _kept_facts(run: Run) -> tuple[ModelFacts, ...]:
    """The facts that an earlier session of the run measured."""
    try:
        earlier = run.read_result()
    except RunError:
        return ()
    return earlier.facts if isinstance(earlier, PairResult) else ()


def _models(manifests: Sequence[Manifest]) -> tuple[ModelCard, ...]:
    """The models of all parts, each once; those of the pair have the same role."""
    models: dict[str, ModelCard] = {}
    for card in (card for manifest in manifests for card in manifest.models):
        role = card.role if card.role in (*COMPARED, "control") else "model"
        known = models.setdefault(card.spec, replace(card, role=role, missing=()))
        models[card.spec] = replace(known, missing=(*known.missing, *card.missing))
    return tuple(models.values())


def _data(manifests: Sequence[Manifest]) -> tuple[DataCard, ...]:
    """The data of all parts, each once."""
    data = {(card.spec, card.capability): card for manifest in manifests for card in manifest.data}
    return tuple(data.values())


def _asked_in(part: EstimatedResult) -> tuple[str, list[Any]]:
    """The method by which a part queried models, and its unchanged inputs."""
    if isinstance(part, AuditResult):
        return "classify", [example.example.text for example in part.examples]
    items = part.tasks[0].items if isinstance(part, CompareResult) else ()
    questions = [item.question for item in items]
    if any(question.options for question in questions):
        return "choose", questions
    return "fill" if any(BLANK in question.text for question in questions) else "answer", questions


def _aligned_layers(
    request: PairRequest, cards: Sequence[ModelCard], part: EstimatedResult
) -> Iterator[LayerAlignment | NotRun]:
    """The layers of each two models on some texts of a part, by linear CKA."""
    texts = sorted({getattr(item, "text", item) for item in _asked_in(part)[1]})
    most = min(len(texts), request.sizes["n"])
    drawn = random.Random(request.seed).sample(texts, most)  # noqa: S311 - no secret
    models = {whole_spec(model): model for model in request.models}
    for first, second in combinations(cards, 2):
        names = (first.name, second.name)
        try:
            latents = []
            for card in (first, second):
                reader = load_latent_reader(models.get(card.spec, card.spec), request.model_options)
                latents.append(stored_latents(drawn, reader, request.progress).rows(drawn))
            yield aligned(names, latents, request.seed)
        except ScopeError as error:
            part_name = f"similarity of the layers of {' and '.join(names)}"
            yield left_out(part_name, "probe", error)
