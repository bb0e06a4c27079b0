"""The probe: how well do the layers of frozen models predict human similarity scores?"""

from __future__ import annotations

from functools import partial

from scope.answers import Run
from scope.answers.vectors import recognise_reader
from scope.core.request import as_function
from scope.jobs.probe.fitting import prepare_new, work_of
from scope.jobs.probe.leakage_groups import leakage_groups
from scope.jobs.probe.opening import OpenedProbe, open_probe
from scope.jobs.probe.pair_task_choice import ChosenPairTask
from scope.jobs.probe.pairs import read_test_alone
from scope.jobs.probe.plan import ProbePlan
from scope.jobs.probe.readers import read_texts, with_dtype
from scope.jobs.probe.request import ProbeRequest
from scope.jobs.probe.scoring import judge_model, with_models
from scope.jobs.probe.steps import FittedStep, latents_of
from scope.jobs.runner import Prepared, carry_out
from scope.paths import expanded
from scope.probes import SimilarityProbe
from scope.protocols import LatentReader, Progress
from scope.records import ProbeResult


def carry_out_probe(request: ProbeRequest) -> ProbeResult:
    """Fit and evaluate probes, or evaluate a saved one."""
    return carry_out(request, prepare)


probe = as_function(ProbeRequest, carry_out_probe)


def prepare(request: ProbeRequest) -> Prepared[ProbeResult]:
    """Read the pairs and open the models' files, or the saved probe."""
    return (prepare_new if request.probe is None else prepare_saved)(request)


def prepare_saved(request: ProbeRequest) -> Prepared[ProbeResult]:
    """Open the saved probe and read the test pairs; its model is not yet loaded."""
    opened = open_probe(
        expanded(request.probe or ""),
        with_dtype(request.model_options, request.dtype),
        next(iter(request.models), None),
    )
    chosen = _chosen(request, opened)
    plan = ProbePlan(
        request=request,
        chosen=chosen,
        pairs=read_test_alone(chosen.task, request.pairs, n=request.n, seed=request.seed),
        sources=(opened.source,),
        settings={"probe": opened.digest, "steps": opened.probe.step},
    )
    # Only the list references the reader, so that it can be released.
    readers = [opened.reader]
    find = partial(_find, plan, opened.probe, readers, request.progress)
    return Prepared(plan.manifest(), find, work=partial(work_of, plan, readers))


def _chosen(request: ProbeRequest, opened: OpenedProbe) -> ChosenPairTask:
    """The task in the range of the probe's scores."""
    own = ChosenPairTask.of(request.task)
    ends = (opened.probe.low, opened.probe.high)
    return own if own.ends == ends else ChosenPairTask.of(request.task, *ends)


def _find(
    plan: ProbePlan,
    probe: SimilarityProbe,
    readers: list[LatentReader],
    progress: Progress,
    run: Run,
) -> ProbeResult:
    recognise_reader(plan.texts, readers[0], progress)
    # The model is released after reading all texts, because it may be large.
    model = read_texts(plan.names[0], readers.pop(), plan.texts, progress)
    test = latents_of(model.table, plan.pairs.test)
    fitted = FittedStep(probe=probe, given=(probe.predict(test.first, test.second),))
    judged = judge_model(model, [fitted], plan.pairs.test, leakage_groups(plan.pairs))
    found = with_models(plan.findings(), [judged])
    manifest = plan.manifest([model.table])
    return ProbeResult(manifest=manifest, findings=found)
