"""New probes: read pairs, fit each model's steps, and evaluate them on the test pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from scope.answers import Run
from scope.answers.asking import may_change
from scope.answers.vectors import recognise_reader, stored_latents
from scope.data import load_data
from scope.jobs.probe.leakage_groups import LeakageGroups, leakage_groups
from scope.jobs.probe.pair_task_choice import ChosenPairTask
from scope.jobs.probe.pairs import GivenPairs, human_scores, read_all_parts, sentences_of
from scope.jobs.probe.plan import ProbePlan
from scope.jobs.probe.readers import (
    NamedProgress,
    ReadModel,
    load_readers,
    prepare_folder,
    read_texts,
    readout_of,
    source_of,
    with_dtype,
)
from scope.jobs.probe.request import ProbeRequest
from scope.jobs.probe.scoring import JudgedModel, alignments, differences, judge_model, with_models
from scope.jobs.probe.steps import Material, fit_steps, require_enough
from scope.jobs.runner import Prepared
from scope.jobs.work import Planned, vectors_work
from scope.paths import expanded
from scope.probes import PRETRAINED, RANDOM_STEPS, SavedProbe, save_probe
from scope.protocols import LatentReader, Progress
from scope.records import DataCard, ProbeResult, Setting


def prepare_new(request: ProbeRequest) -> Prepared[ProbeResult]:
    """Read the pairs and the models' files, before any model is loaded."""
    # Fast checks first: a language model may take half a minute to load.
    readout = readout_of(request.readout, request.prompt)
    chosen = ChosenPairTask.of(request.task, request.low, request.high, request.settings)
    pairs = read_all_parts(chosen.task, request.pairs, n=request.n, seed=request.seed)
    unlabelled, card = _unlabelled(request)
    readers = load_readers(
        request.models, with_dtype(request.model_options, request.dtype), readout
    )
    plan = ProbePlan(
        request=request,
        chosen=chosen,
        pairs=pairs,
        sources=tuple(map(source_of, readers)),
        unlabelled=unlabelled,
        unlabelled_card=card,
        settings=_settings(request, pairs, unlabelled),
    )
    find = partial(_find, plan, request, readers, request.progress)
    return Prepared(plan.manifest(), find, work=partial(work_of, plan, readers), fits=True)


def work_of(plan: ProbePlan, readers: Sequence[LatentReader]) -> Iterator[Planned]:
    """What a dry run shows: each model reads all texts."""
    for name, reader in zip(plan.names, readers, strict=True):
        yield vectors_work(name, "latents", reader.latents, plan.texts)


def _unlabelled(request: ProbeRequest) -> tuple[tuple[str, ...], DataCard | None]:
    if request.unlabelled is None:
        return (), None
    data = load_data(
        request.unlabelled,
        text_column=request.text_column,
        label_column="none",
        n=request.most_unlabelled,
        seed=request.seed,
    )
    # Sorted, like pairs, so that the result does not depend on the order of the rows.
    return tuple(sorted(example.text for example in data.examples)), data.card


def _settings(
    request: ProbeRequest, pairs: GivenPairs, unlabelled: Sequence[str]
) -> dict[str, Setting]:
    """The settings that determine the result, besides models, data and task."""
    return {
        "seed": request.seed,
        "seeds": request.seeds,
        "steps": ", ".join(request.ordered_steps),
        "hidden": request.hidden,
        "development": len(pairs.development),
        "unlabelled": len(unlabelled),
    }


def _find(
    plan: ProbePlan,
    request: ProbeRequest,
    readers: list[LatentReader],
    progress: Progress,
    run: Run,
) -> ProbeResult:
    if request.save is not None:
        # The request allows only one model here. None is loaded yet.
        prepare_folder(expanded(request.save), plan.sources[0])
    models = _read_all(plan, request, readers, progress)
    leakage = leakage_groups(plan.pairs)
    judged = [_fit_one(plan, request, model, leakage, progress) for model in models]
    between = alignments(models, plan.pairs.test, request.seed)
    given = {one.model.name: one.given for one in judged}
    found = replace(
        with_models(plan.findings((*_notes(request), *between.notes)), judged),
        differences=differences(
            request.ordered_steps[-1], given, human_scores(plan.pairs.test), leakage.groups
        ),
        alignments=between.maps,
        files=() if request.save is None else (str(expanded(request.save)),),
    )
    manifest = plan.manifest([model.table for model in models])
    return ProbeResult(manifest=manifest, findings=found)


def _read_all(
    plan: ProbePlan, request: ProbeRequest, readers: list[LatentReader], progress: Progress
) -> list[ReadModel]:
    models = []
    for name in plan.names:
        # A model is released after reading all texts, because it may be large.
        reader = readers.pop(0)
        recognise_reader(plan.texts, reader, progress)
        # The first text loads the model and gives its number of layers.
        shown = stored_latents(plan.texts[:1], reader, NamedProgress(name, progress))
        require_enough(request, shown.layers, plan.pairs.train)
        models.append(read_texts(name, reader, plan.texts, progress))
    return models


def _fit_one(
    plan: ProbePlan,
    request: ProbeRequest,
    model: ReadModel,
    leakage: LeakageGroups,
    progress: Progress,
) -> JudgedModel:
    material = Material(
        pairs=plan.pairs,
        pool=tuple(dict.fromkeys((*plan.unlabelled, *sentences_of(plan.pairs.train)))),
        table=model.table,
        ends=plan.chosen.ends,
    )
    fitted = fit_steps(request, material, NamedProgress(model.name, progress))
    if request.save is not None:
        saved = SavedProbe(
            probe=fitted[-1].probe, source=model.source, canaries=_canaries(plan, model)
        )
        save_probe(saved, expanded(request.save))
    return judge_model(model, fitted, plan.pairs.test, leakage)


def _canaries(plan: ProbePlan, model: ReadModel) -> dict[str, NDArray[np.float32]]:
    """Latents of a training sentence, to identify a model that has no hash."""
    if not may_change(model.source):
        return {}
    texts = list(sentences_of(plan.pairs.train))[:1]
    return dict(zip(texts, model.table.rows(texts), strict=True))


def _notes(request: ProbeRequest) -> tuple[str, ...]:
    notes = []
    if request.seeds > 1 and set(request.ordered_steps) & set(RANDOM_STEPS):
        notes.append(
            f"estimates, including gains, are for the seed {request.seed}; "
            f"steps fitted with {request.seeds} seeds: "
            f"{', '.join(step for step in request.ordered_steps if step in RANDOM_STEPS)}"
        )
    if set(request.ordered_steps) & set(PRETRAINED):
        notes.append(
            "layer statistics are from the training sentences"
            + (" and those without scores" if request.unlabelled else "")
        )
    return tuple(notes)
