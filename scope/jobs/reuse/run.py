"""The test of reuse: is a suspect related to a reference, at a stated error rate?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from scope.answers import Run
from scope.core.request import as_function
from scope.jobs.left_out import with_reasons
from scope.jobs.perturbing import soft_scope_metric
from scope.jobs.reuse.judging import finding_of
from scope.jobs.reuse.preparation import PreparedTest, prepare_task, prepare_texts
from scope.jobs.reuse.request import ReuseRequest
from scope.jobs.reuse.responses import ItemSet, make_case
from scope.jobs.reuse.usability import with_chosen_controls
from scope.jobs.reuse.verdicts import conclude, in_tests
from scope.jobs.runner import Prepared, run_job
from scope.metrics.catalog import Metric
from scope.records import GOLD, Measurement, Outcome, ReuseResult, Verdict


def run_reuse(request: ReuseRequest) -> ReuseResult:
    """Run the test, or continue an interrupted one."""
    return run_job(request, prepare)


reuse = as_function(ReuseRequest, run_reuse)


def prepare(request: ReuseRequest) -> Prepared[ReuseResult]:
    """Load and check everything before any inference."""
    metric = soft_scope_metric(request.tolerance, request.cutoff)
    test = (prepare_texts if request.task is None else prepare_task)(request)
    models = [model.adapter for model in test.models.all]
    return Prepared(test.manifest(), partial(_conduct, test, metric), models, test.work)


def _conduct(test: PreparedTest, metric: Metric, run: Run) -> ReuseResult:
    """Fix the questions, run inference, judge the evidence; cached answers are reused."""
    test.recognise(run)
    request, models = test.request, test.models
    sets = {reference.name: test.items(reference, run) for reference in models.references}
    # Not before the questions are fixed: unaligned labels are matched by the answers of all.
    responses = test.responses(run)
    items = sets[models.references[0].name].items
    models, candidates = with_chosen_controls(models, items, responses, request.chosen)
    judge = partial(finding_of, alpha=request.alpha / len(models.references), soft_scope=metric)
    findings = [
        judge(make_case(models, reference, sets[reference.name], responses))
        for reference in models.references
    ]
    verdicts = conclude(findings, request.alpha)
    hashes = {name: items.hash for name, items in sets.items()}
    asked = {test.data.capability: responses.replies}
    originals = [item for item in items if item.id == item.unit]
    plain = {name for item in originals for name in (item.id, item.question.text)}
    same = [
        f"the suspect and {reference.name} are the same model: their fingerprints are equal"
        for reference in models.references
        if reference.fingerprint == models.suspect.fingerprint
    ]
    failed = [line for name, items in sets.items() for line in items.failures(name)]
    of_all = (*failed, *responses.warnings())
    return ReuseResult(
        manifest=with_reasons(test.manifest(hashes), asked, request.most_unusable, plain),
        outcomes=outcomes(sets, verdicts, [card.name for card in test.asked]),
        measurements=measurements(verdicts, labelled=test.data.labelled > 0),
        verdicts=tuple(
            replace(verdict, warnings=(*same, *excluded, *of_all, *verdict.warnings))
            for verdict in verdicts
            for excluded in [_excluded(models.excluded, verdict)]
        ),
        candidate_controls=candidates,
    )


def _excluded(names: Sequence[str], verdict: Verdict) -> Iterator[str]:
    """The excluded controls, and how sure it is if all were as similar as the suspect."""
    if not names or verdict.p_rank is None:
        return
    most = (verdict.p_rank * verdict.pairs + len(names)) / (verdict.pairs + len(names))
    yield (
        f"excluded controls ({len(names)}): {', '.join(names)}. If each were as similar to "
        f"{verdict.reference} as the suspect is, an unrelated model would come out so in up to "
        f"{in_tests(most)}"
    )


def measurements(verdicts: Sequence[Verdict], *, labelled: bool) -> tuple[Measurement, ...]:
    """The suspect's evidence against each reference, and every model's accuracy.

    Accuracy is measured on the original questions, where right answers are known.
    """
    rows = [
        Measurement(
            metric=kind.kind,
            target=verdict.suspect,
            against=verdict.reference,
            capability=kind.capability,
            estimate=kind.suspect,
        )
        for verdict in verdicts
        for kind in verdict.evidence
    ]
    if verdicts and labelled:
        skills = {verdicts[0].suspect: verdicts[0].skill}
        skills.update({check.model: check.skill for check in verdicts[0].controls})
        rows += [
            Measurement(metric="accuracy", target=name, against=GOLD, estimate=skill)
            for name, skill in skills.items()
        ]
    return tuple(rows)


def outcomes(
    sets: Mapping[str, ItemSet], verdicts: Sequence[Verdict], names: Sequence[str]
) -> tuple[Outcome, ...]:
    """The outcome of each search, or of the task or the plain texts if nothing was searched.

    ``sets`` has the name of the reference as key, ``names`` are the capabilities or the task. With
    several references an outcome names its own.
    """
    several = len(sets) > 1
    searched = tuple(
        replace(
            perturbed.outcome,
            capability=f"{perturbed.outcome.capability}{f' of {name}' if several else ''}",
        )
        for name, items in sets.items()
        for perturbed in items.sets
    )
    what = ", ".join(names) or "texts"
    return searched or tuple(
        Outcome(
            capability=f"{what}{f' for {verdict.reference}' if several else ''}",
            status="measured",
            searched=len(sets[verdict.reference].items),
            found=verdict.shared,
            queries=verdict.queries,
        )
        for verdict in verdicts
    )
