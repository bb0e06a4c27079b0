"""The audit: does a target keep the invariances of a reference?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from scope.answers import Run, answer_texts, recognise_classifier
from scope.core.request import as_function
from scope.estimation import ScoredCandidates, measure, shares_of_models
from scope.jobs.audit.earlier_looks import earlier_looks
from scope.jobs.audit.matrix import joined_audits, matrix_manifest
from scope.jobs.audit.plan import AuditPlan, models_of, plan_audits
from scope.jobs.audit.request import AuditRequest
from scope.jobs.audit.searched import (
    Answers,
    Searched,
    gather,
    reasons,
    score_examples,
    score_perturbations,
)
from scope.jobs.audit.similarities import with_similarities
from scope.jobs.audit.verdicts import audit_verdicts, plan_in_words
from scope.jobs.audited import degenerate_reference
from scope.jobs.identity import configuration_of
from scope.jobs.on_ray import check_engine, run_shards
from scope.jobs.perturbing import changed_texts
from scope.jobs.runner import Prepared, carry_out
from scope.jobs.work import Planned, search_work, texts_work
from scope.protocols import Progress
from scope.records import AnswerShares, AuditResult


def carry_out_audit(request: AuditRequest) -> AuditResult:
    """Run the audit, or resume it."""
    return carry_out(request, prepare)


audit = as_function(AuditRequest, carry_out_audit)


def prepare(request: AuditRequest) -> Prepared[AuditResult]:
    """Load and check everything before any model answers."""
    check_engine(request, (*request.references, *request.measured, *request.capabilities))
    plans, groups = plan_audits(request)
    manifest = plans[0].manifest()
    if request.is_matrix:
        manifest = matrix_manifest([one.manifest() for one in plans], request, groups)
    return Prepared(
        manifest,
        partial(_conduct, plans, groups, configuration_of(manifest)),
        [model.model for model in models_of(plans)],
        partial(_work, plans),
        plan=""
        if request.is_matrix or not request.candidates
        else plan_in_words(plans[0].manifest(), request),
    )


def _work(plans: Sequence[AuditPlan]) -> Iterator[Planned]:
    """What a dry run shows: the searches, then each model's answers."""
    plan, kinds = plans[0], len(plans[0].capabilities)
    for one in plans:
        for chosen in plan.capabilities:
            yield search_work(chosen.capability, one.models.reference, plan.searched, plan.options)
    found = len(plan.searched) * kinds * plan.options.trials
    drawn = len(plan.changed) * kinds * plan.options.candidates
    for model in models_of(plans):
        # A search has asked its reference for what it found, but not for random candidates.
        own = sum(model.name == one.models.reference.name for one in plans)
        others = sum(model.name in one.names[1:] for one in plans)
        changed = others * found + (own + others) * drawn
        yield texts_work(model, plan.data.examples, changed)


def _conduct(
    plans: Sequence[AuditPlan],
    groups: Mapping[str, Sequence[str]],
    configuration: Mapping[str, object],
    run: Run,
) -> AuditResult:
    """Search, predict, measure; reuses stored answers."""
    request, examples = plans[0].request, plans[0].data.examples
    progress = request.progress
    _recognise_models(plans, run, progress)
    # A shard may be too small to tell; the run of all shards does.
    for plan in () if request.shard else plans:
        _refuse_degenerate_reference(plan, run, progress)
    run_shards(request, carry_out_audit, configuration, len(examples), run)
    found, answers = gather(plans, run)
    audits = [_audited(plan, own, answers) for plan, own in zip(plans, found, strict=True)]
    if not request.is_matrix:
        return replace(audits[0], earlier_looks=earlier_looks(run))
    return joined_audits(audits, groups, request)


def _audited(
    plan: AuditPlan, found: Sequence[Searched], known: Mapping[str, Answers]
) -> AuditResult:
    """The audit against one reference, from what was searched and answered."""
    sets = [one.kept for one in found]
    drawn = [one.drawn for one in found]
    reference_answers, *target_answers = answers = [known[name] for name in plan.names]
    examples = score_examples(plan.data.examples, reference_answers, target_answers)
    of_meaning = partial(
        with_similarities,
        examples=plan.data.examples,
        encoder=plan.encoder if plan.request.marks_similarity else None,
        progress=plan.request.progress,
    )
    perturbations = of_meaning(score_perturbations(sets, reference_answers, target_answers))
    candidates = ScoredCandidates(
        scored=score_perturbations(drawn, reference_answers, target_answers),
        gap=plan.request.gap,
        missing=reasons(drawn),
    )
    with_candidates = plan.options.candidates > 0
    targets = [target.name for target in plan.models.targets]
    numbers = measure(
        examples,
        perturbations,
        candidates if with_candidates else None,
        capabilities=[one.outcome.capability for one in sets if one.outcome.status == "measured"],
        targets=targets,
        reference=plan.models.reference.name,
        baseline=next((one.name for one in plan.models.targets if one.role == "baseline"), None),
        labels=plan.models.reference.model.labels,
        soft_scope=plan.soft_scope,
        more=plan.more,
        seed=plan.options.seed,
    )
    result = AuditResult(
        manifest=plan.manifest([sum(one.truncated for one in known.values()) for known in answers]),
        outcomes=tuple(one.outcome for one in sets),
        measurements=numbers.measurements,
        differences=numbers.differences,
        curves=numbers.curves,
        slice_tests=numbers.slice_tests,
        examples=examples,
        perturbations=perturbations,
        answer_shares=_shares(plan, answers),
        candidates=tuple(candidates.scored),
        candidate_outcomes=tuple(one.outcome for one in drawn) if with_candidates else (),
    )
    return replace(result, verdicts=audit_verdicts(result, plan.request))


def _recognise_models(plans: Sequence[AuditPlan], run: Run, progress: Progress) -> None:
    """Check that models whose bytes cannot be hashed are those whose answers the run contains."""
    texts = [example.text for example in plans[0].data.examples]
    for plan in plans:
        for one in plan.capabilities:
            texts += changed_texts(run, plan.kept_as(one), plan.data.examples)
    for model in models_of(plans):
        recognise_classifier(model, texts, run, progress)


def _refuse_degenerate_reference(plan: AuditPlan, run: Run, progress: Progress) -> None:
    """End the audit before any search if the reference is degenerate."""
    texts = [example.text for example in plan.data.examples]
    answers = answer_texts(plan.models.reference, texts, run, progress)
    found = _shares(plan, [answers])[0]
    if found.degenerate is not None:
        run.discard()
        raise degenerate_reference(found, plan.models.reference.model)


def _shares(plan: AuditPlan, answers: Sequence[Answers]) -> tuple[AnswerShares, ...]:
    """How the reference and the targets that have answered answer the unchanged texts."""
    labels = plan.models.reference.model.labels
    examples = plan.data.examples
    choices = [{one.id: known[one.text].choice for one in examples} for known in answers]
    named = [
        {
            key: choice if isinstance(choice, str) else labels[choice]
            for key, choice in of_one.items()
        }
        for of_one in choices
    ]
    gold = {one.id: one.label for one in examples if one.label is not None and one.label in labels}
    names = [plan.models.reference.name, *(target.name for target in plan.models.targets)]
    return shares_of_models(names[: len(answers)], named, gold)
