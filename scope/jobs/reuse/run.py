"""The test of reuse: is a suspect derived from a reference, at a stated error rate?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from scope.answers import Run
from scope.core.request import as_function
from scope.jobs.preparation import soft_scope_metric
from scope.jobs.reuse.case import Case
from scope.jobs.reuse.cases import InBatches, make_case
from scope.jobs.reuse.judging import finding_of
from scope.jobs.reuse.models import ReuseModels
from scope.jobs.reuse.numbers import measurements, outcomes
from scope.jobs.reuse.preparation import prepare_test
from scope.jobs.reuse.request import ReuseRequest
from scope.jobs.reuse.tasks import PreparedTest
from scope.jobs.reuse.verdicts import conclude
from scope.jobs.runner import Prepared, carry_out
from scope.metrics import Metric
from scope.records import Look, ReuseResult, Verdict


def carry_out_reuse(request: ReuseRequest) -> ReuseResult:
    """Run the test, or continue an interrupted one."""
    return carry_out(request, prepare)


reuse = as_function(ReuseRequest, carry_out_reuse)


def prepare(request: ReuseRequest) -> Prepared[ReuseResult]:
    """Load and check everything before any inference."""
    metric = soft_scope_metric(request.tolerance, request.cutoff)
    test = prepare_test(request)
    models = [one.model for one in test.plan.models.all]
    find = partial(_conduct, request, test, metric)
    return Prepared(test.plan.manifest(), find, models, test.work)


def _conduct(
    request: ReuseRequest,
    prepared: PreparedTest,
    metric: Metric,
    run: Run,
) -> ReuseResult:
    """Fix the questions, run inference, judge the evidence; cached answers are reused."""
    prepared.recognise(run)
    models = prepared.plan.models
    share = request.alpha / len(models.references)
    judge = partial(finding_of, alpha=share, soft_scope=metric, seed=request.seed)

    def relates(case: Case, looks: tuple[Look, ...]) -> bool:
        (verdict,) = conclude([judge(case, looks)], share)
        return verdict.decision == "related"

    size = request.batch_size
    batches = InBatches(size=size, alpha=share, relates=relates) if size else None
    sets = {one.name: prepared.items(one, run) for one in models.references}
    # Not before the questions are fixed: unaligned labels are matched by the answers of all.
    responses = prepared.responses(run)
    findings = [
        judge(*make_case(models, one, sets[one.name], responses, batches=batches))
        for one in models.references
    ]
    verdicts = conclude(
        findings,
        request.alpha,
        assume_no_label_training=request.assume_no_label_training,
        available=prepared.plan.available(request.n),
    )
    failed = [line for name, items in sets.items() for line in items.failures(name)]
    return ReuseResult(
        manifest=prepared.plan.manifest(
            responses.truncated(), {name: items.hash for name, items in sets.items()}
        ),
        outcomes=outcomes(sets, verdicts, [one.name for one in prepared.plan.asked]),
        measurements=measurements(verdicts, labelled=prepared.plan.data.labelled > 0),
        verdicts=tuple(
            replace(one, warnings=(*found, *failed, *responses.warnings(), *one.warnings))
            for one in verdicts
            for found in [[*_same(models), *_excluded(models.excluded, one)]]
        ),
    )


def _excluded(names: Sequence[str], verdict: Verdict) -> Iterator[str]:
    """The excluded controls, with the p-value by rank if all were as similar as the suspect."""
    if not names or verdict.p_rank is None:
        return
    ranked = len(verdict.standings)
    # A sequential test counts every control above the suspect twice.
    above = verdict.p_rank * ranked + len(names) * (2 if verdict.looks else 1)
    most = min(1.0, above / (ranked + len(names)))
    yield (
        f"excluded controls ({len(names)}): {', '.join(names)}. If each ranked at or above the "
        f"suspect and the others kept their ranks, p by rank would be {verdict.written(most)}"
    )


def _same(models: ReuseModels) -> list[str]:
    """A warning for each reference that is the suspect itself."""
    return [
        f"the suspect and {one.name} are the same model: their fingerprints are equal"
        for one in models.references
        if one.model.fingerprint == models.suspect.model.fingerprint
    ]
