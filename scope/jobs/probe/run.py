"""The probe: how well do the layers of frozen models predict human similarity scores?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from scope.answers import Run
from scope.answers.asking import may_change
from scope.answers.vectors import recognise_reader, stored_latents
from scope.core.request import as_function
from scope.data.sampling import load_data
from scope.errors import SpecError
from scope.jobs.probe import saving, steps
from scope.jobs.probe.estimator import SimilarityProbe, require_enough_pairs
from scope.jobs.probe.network import PRETRAINED, RANDOM_STEPS
from scope.jobs.probe.pairs import (
    ChosenPairTask,
    human_scores,
    leakage_groups,
    notes_on_overlap,
    read_all_parts,
    read_test_alone,
    sentences_of,
)
from scope.jobs.probe.request import ProbeRequest
from scope.jobs.probe.saving import open_probe
from scope.jobs.probe.steps import ProbePlan
from scope.jobs.runner import Prepared, run_job
from scope.paths import expanded
from scope.protocols import LatentReader
from scope.records import LayerAblation, ProbeFindings, ProbeResult
from scope.records.text_parts import parts_of


def run_probe(request: ProbeRequest) -> ProbeResult:
    """Fit and evaluate probes, or evaluate a saved one."""
    return run_job(request, prepare)


probe = as_function(ProbeRequest, run_probe)


def prepare(request: ProbeRequest) -> Prepared[ProbeResult]:
    """Read the pairs and open the models' files, or the saved probe."""
    plan, readers = (_plan_new if request.probe is None else _plan_saved)(request)
    return Prepared(
        plan.manifest(),
        partial(_fit_and_judge, plan, readers),
        work=partial(plan.work, readers),
        trains_models=plan.saved is None,
    )


def _plan_new(request: ProbeRequest) -> tuple[ProbePlan, list[LatentReader]]:
    # Fast checks first: a language model may take half a minute to load.
    readout = saving.readout_of(request.readout, request.prompt)
    chosen = ChosenPairTask.of(request.task, request.low, request.high, request.settings)
    pairs = read_all_parts(chosen.task, request)
    unlabelled: tuple[str, ...] = ()
    card = None
    if request.unlabelled is not None:
        data = load_data(
            request.unlabelled,
            text_column=request.text_column,
            label_column="none",
            n=request.most_unlabelled,
            seed=request.seed,
        )
        # Sorted, like pairs, so that the result does not depend on the order of the rows.
        sentences = {part for example in data.examples for part in parts_of(example.text)}
        unlabelled, card = tuple(sorted(sentences)), data.card
    options = saving.with_dtype(request.model_options, request.dtype)
    readers = saving.load_readers(request.models, options, readout)
    plan = ProbePlan(
        request=request,
        chosen=chosen,
        pairs=pairs,
        sources=tuple(map(saving.source_of, readers)),
        unlabelled=unlabelled,
        unlabelled_card=card,
        settings={
            "seed": request.seed,
            "seeds": request.seeds,
            "steps": ", ".join(request.ordered_steps),
            "hidden": request.hidden,
            "development": len(pairs.development),
            "unlabelled": len(unlabelled),
            **({} if request.ablate is None else {"ablate": request.ablate}),
        },
    )
    return plan, readers


def _plan_saved(request: ProbeRequest) -> tuple[ProbePlan, list[LatentReader]]:
    opened = open_probe(
        expanded(request.probe or ""),
        saving.with_dtype(request.model_options, request.dtype),
        next(iter(request.models), None),
    )
    # The task in the range of the probe's scores.
    ends = (opened.probe.low, opened.probe.high)
    chosen = ChosenPairTask.of(request.task)
    if chosen.ends != ends:
        chosen = ChosenPairTask.of(request.task, *ends)
    plan = ProbePlan(
        request=request,
        chosen=chosen,
        pairs=read_test_alone(chosen.task, request),
        sources=(opened.source,),
        saved=opened.probe,
        settings={"probe": opened.digest, "steps": opened.probe.step},
    )
    return plan, [opened.reader]


def _fit_and_judge(plan: ProbePlan, readers: list[LatentReader], run: Run) -> ProbeResult:
    request, pairs = plan.request, plan.pairs
    folder = None if request.save is None else expanded(request.save)
    if folder is not None:
        # The request allows only one model here. None is loaded yet.
        saving.prepare_folder(folder, plan.sources[0])
    models = list(_read_models(plan, readers))
    leakage, judged = leakage_groups(pairs), []
    ablations: list[LayerAblation] = []
    for model in models:
        fitted = _fitted(plan, model)
        if folder is not None:
            saving.save_probe(_saved(plan, model, fitted[-1].probe), folder)
        judged.append(steps.judge_model(model, fitted, pairs.test, leakage))
        if request.ablate is not None:
            progress = saving.NamedProgress(model.name, request.progress)
            ablations += steps.ablate(plan, model, fitted[-1], leakage.groups, progress)
    maps, without_map = steps.alignments(models, pairs.test, request.seed)
    low, high = plan.chosen.ends
    unseen = leakage.unseen
    findings = ProbeFindings(
        train=len(pairs.train),
        development=len(pairs.development),
        test=len(pairs.test),
        unseen=0 if unseen is None else int(unseen.sum()),
        groups=len(set(leakage.groups.tolist())),
        sentences=len(pairs.sentences),
        unlabelled=len(plan.unlabelled),
        low=low,
        high=high,
        models=tuple(model.model for model in judged),
        scores=tuple(score for model in judged for score in model.scores),
        layers=tuple(layer for model in judged for layer in model.layers),
        ablations=tuple(ablations),
        differences=steps.differences(judged, human_scores(pairs.test), leakage.groups),
        alignments=maps,
        misjudged=tuple(pair for model in judged for pair in model.misjudged),
        notes=(*_notes(plan), *without_map),
        files=() if folder is None else (str(folder),),
    )
    manifest = plan.manifest([model.table for model in models])
    return ProbeResult(manifest=manifest, findings=findings)


def _read_models(plan: ProbePlan, readers: list[LatentReader]) -> Iterator[saving.ReadModel]:
    """Each model with the latents of all texts; it is released afterwards, as it may be large."""
    request = plan.request
    for name, source in zip(plan.names, plan.sources, strict=True):
        reader, progress = readers.pop(0), saving.NamedProgress(name, request.progress)
        recognise_reader(plan.texts, reader, request.progress)
        if plan.saved is None:
            # The first text loads the model and gives its number of layers.
            shown = stored_latents(plan.texts[:1], reader, progress)
            for step in request.ordered_steps:
                require_enough_pairs(len(plan.pairs.train), shown.layers, step, request.hidden)
            if (request.ablate or 0) >= shown.layers:
                raise SpecError(
                    f"--ablate {request.ablate} for the {shown.layers} layers of `{name}`",
                    expected="blocks of fewer layers than the model has",
                    fix=f"write --ablate 1 to --ablate {max(1, shown.layers - 1)}",
                )
        yield saving.ReadModel(name, source, stored_latents(plan.texts, reader, progress))


def _fitted(plan: ProbePlan, model: saving.ReadModel) -> Sequence[steps.FittedStep]:
    """New probes of every step, or the saved one, with their scores of the test pairs."""
    if plan.saved is None:
        return steps.fit_steps(
            plan, model.table, saving.NamedProgress(model.name, plan.request.progress)
        )
    first, second, _ = steps.latents_of(model.table, plan.pairs.test)
    return [steps.FittedStep(plan.saved, (plan.saved.predict(first, second),))]


def _saved(plan: ProbePlan, model: saving.ReadModel, fitted: SimilarityProbe) -> saving.SavedProbe:
    """The probe, with the latents of a training sentence if the model has no hash."""
    texts = sentences_of(plan.pairs.train)[:1] if may_change(model.source) else ()
    canaries = dict(zip(texts, model.table.rows(texts), strict=True))
    return saving.SavedProbe(probe=fitted, source=model.source, canaries=canaries)


def _notes(plan: ProbePlan) -> Iterator[str]:
    yield from (*plan.pairs.notes, *notes_on_overlap(plan.pairs, plan.unlabelled))
    request = plan.request
    fitted = () if plan.saved else request.ordered_steps
    random = [step for step in fitted if step in RANDOM_STEPS]
    if request.seeds > 1 and random:
        yield (
            f"estimates, including gains, are for the seed {request.seed}; "
            f"steps fitted with {request.seeds} seeds: {', '.join(random)}"
        )
    if set(fitted) & set(PRETRAINED):
        others = " and those without scores" if request.unlabelled else ""
        yield f"layer statistics are from the training sentences{others}"
