"""The audit: does a target keep the invariances of a reference?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from scope.answers import CachedClassifier, Run, answer_texts, recognise_classifier
from scope.core.request import as_function
from scope.errors import RunError
from scope.estimation import ScoredCandidates, measure, shares_of_models
from scope.jobs.audit.matrix import joined_audits, matrix_manifest
from scope.jobs.audit.models import degenerate_reference
from scope.jobs.audit.plan import AuditPlan, models_of, plan_audits
from scope.jobs.audit.request import AuditRequest
from scope.jobs.audit.similarities import with_similarities
from scope.jobs.audit.verdicts import audit_verdicts, plan_in_words
from scope.jobs.cost_estimate import Planned, search_work, texts_work
from scope.jobs.identity import configuration_of
from scope.jobs.on_ray import check_engine, run_shards
from scope.jobs.perturbing import NO_CANDIDATES, PairSearch, PerturbationSet, changed_texts
from scope.jobs.preparation import ChosenCapability
from scope.jobs.runner import Prepared, run_job
from scope.models.model import Model
from scope.protocols import Progress
from scope.records import (
    AnswerShares,
    AuditResult,
    Example,
    Prediction,
    ScoredExample,
    ScoredPerturbation,
)
from scope.store.folder import RunFolder


def run_audit(request: AuditRequest) -> AuditResult:
    """Run the audit, or resume it."""
    return run_job(request, prepare)


audit = as_function(AuditRequest, run_audit)


def prepare(request: AuditRequest) -> Prepared[AuditResult]:
    """Load and check everything before any model answers."""
    check_engine(request, (*request.references, *request.measured, *request.capabilities))
    plans, groups = plan_audits(request)
    manifest = plans[0].manifest()
    if request.is_matrix:
        manifest = matrix_manifest([plan.manifest() for plan in plans], request, groups)
    return Prepared(
        manifest,
        partial(_conduct, plans, groups, configuration_of(manifest)),
        [model.adapter for model in models_of(plans)],
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
    run_shards(request, run_audit, configuration, len(examples), run)
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
        capabilities=[
            set_.outcome.capability for set_ in sets if set_.outcome.status == "measured"
        ],
        targets=targets,
        reference=plan.models.reference.name,
        baseline=next((one.name for one in plan.models.targets if one.role == "baseline"), None),
        labels=plan.models.reference.adapter.labels,
        soft_scope=plan.soft_scope,
        more=plan.more,
        seed=plan.options.seed,
    )
    result = AuditResult(
        manifest=plan.manifest([sum(one.truncated for one in known.values()) for known in answers]),
        outcomes=tuple(set_.outcome for set_ in sets),
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
        for capability in plan.capabilities:
            texts += changed_texts(run, plan.kept_as(capability), plan.data.examples)
    for model in models_of(plans):
        recognise_classifier(model, texts, run, progress)


def _refuse_degenerate_reference(plan: AuditPlan, run: Run, progress: Progress) -> None:
    """End the audit before any search if the reference is degenerate."""
    texts = [example.text for example in plan.data.examples]
    answers = answer_texts(plan.models.reference, texts, run, progress)
    found = _shares(plan, [answers])[0]
    if found.degenerate is not None:
        run.discard()
        raise degenerate_reference(found, plan.models.reference.adapter)


def _shares(plan: AuditPlan, answers: Sequence[Answers]) -> tuple[AnswerShares, ...]:
    """How the reference and the targets that have answered answer the unchanged texts."""
    labels = plan.models.reference.adapter.labels
    examples = plan.data.examples
    choices = [
        {example.id: known[example.text].choice for example in examples} for known in answers
    ]
    named = [
        {
            key: choice if isinstance(choice, str) else labels[choice]
            for key, choice in of_one.items()
        }
        for of_one in choices
    ]
    gold = {
        example.id: example.label
        for example in examples
        if example.label is not None and example.label in labels
    }
    names = [plan.models.reference.name, *(target.name for target in plan.models.targets)]
    return shares_of_models(names[: len(answers)], named, gold)


_PLAN = (
    *("accuracy_margin", "agreement_margin", "concordance_margin", "least_reach"),
    *("candidates", "changed_texts", "gap"),
)


def earlier_looks(run: RunFolder) -> tuple[str, ...]:
    """Names of finished audits in the same folder that make this one exploratory.

    They have its reference and one of its targets, the same data and seed, but another plan: other
    margins, capabilities, another baseline or number of texts. With each look at a growing sample
    an error becomes more likely than the plan of one look says.
    """
    here = run.read_configuration()
    if here is None:
        return ()
    names = []
    for path in sorted(run.path.absolute().parent.glob("*/result.json")):
        other = RunFolder(path.parent)
        try:
            there = other.read_configuration()
            is_look = there is not None and _is_look(here, there) and _data(run) == _data(other)
        except RunError:  # a damaged run, of which its own commands complain
            continue
        if is_look:
            names.append(other.name)
    return tuple(names)


def _is_look(here: Mapping[str, Any], there: Mapping[str, Any]) -> bool:
    return (
        there["job"] == here["job"]
        and there.get("reference") == here.get("reference")
        and _seed(there) == _seed(here)
        and bool(_fingerprints(there) & _fingerprints(here))
        and _plan(there) != _plan(here)
    )


def _plan(configuration: Mapping[str, Any]) -> tuple[Any, ...]:
    settings = configuration["settings"]
    return (
        *(settings.get(name) for name in _PLAN),
        *(configuration.get(part) for part in ("baseline", "capabilities", "data")),
    )


def _seed(configuration: Mapping[str, Any]) -> Any:
    return configuration["settings"].get("seed")


def _fingerprints(configuration: Mapping[str, Any]) -> set[str]:
    return {target["fingerprint"] for target in configuration.get("targets", ())}


def _data(run: RunFolder) -> list[str]:
    cards: Any = run.read_notes().get("data", ())
    return [card["spec"] for card in cards]


Answers = dict[str, Prediction]
"""One model's predictions, by text."""


class Searched(NamedTuple):
    """The kept pairs and the random candidates of a capability."""

    kept: PerturbationSet
    drawn: PerturbationSet


def reasons(sets: Sequence[PerturbationSet]) -> dict[str, str]:
    """Why there is nothing, by capability."""
    outcomes = [set_.outcome for set_ in sets if set_.outcome.status != "measured"]
    return {outcome.capability: str(outcome.reason) for outcome in outcomes}


class Gathered(NamedTuple):
    """What was searched on each reference, and each model's answers."""

    found: list[list[Searched]]
    answers: dict[str, Answers]


def gather(plans: Sequence[AuditPlan], run: Run) -> Gathered:
    """Search and ask, or take from the run what it knows."""
    progress, examples = plans[0].request.progress, plans[0].data.examples
    found = [
        [_searched(plan, capability, run) for capability in plan.capabilities] for plan in plans
    ]
    answers = {
        model.name: answer_all(model, examples, _sets_for(model, plans, found), run, progress)
        for model in models_of(plans)
    }
    return Gathered(found, answers)


def _sets_for(
    model: Model, plans: Sequence[AuditPlan], found: Sequence[Sequence[Searched]]
) -> list[PerturbationSet]:
    """What was searched on every reference that the model is compared with, or is."""
    concerned = [own for plan, own in zip(plans, found, strict=True) if model.name in plan.names]
    return [one for own in concerned for kinds in own for one in kinds]


def _searched(plan: AuditPlan, chosen: ChosenCapability, run: Run) -> Searched:
    """Search the kept pairs of a capability and draw its random candidates."""
    search = PairSearch(
        capability=chosen.capability,
        reference=CachedClassifier(plan.models.reference.adapter, run),
        examples=plan.searched,
        options=plan.options,
        run=run,
        progress=plan.request.progress,
        kept_as=plan.kept_as(chosen),
        shown_as=plan.shown_as(chosen),
    )
    kept = search.kept()
    if not plan.options.candidates:
        return Searched(kept, NO_CANDIDATES)
    return Searched(kept, replace(search, examples=plan.changed).random(kept))


def answer_all(
    model: Model,
    examples: Sequence[Example],
    sets: Sequence[PerturbationSet],
    run: Run,
    progress: Progress,
) -> Answers:
    """One model's answers to all original and all changed texts.

    Raises
    ------
    ModelError
        When saved predictions lack texts; the run's folder then holds a file of them.
    """
    originals = [example.text for example in examples]
    changed = [one.text for found in sets for one in found.perturbations if one.text is not None]
    return answer_texts(model, originals + changed, run, progress)


def score_examples(
    examples: Sequence[Example], reference: Answers, targets: Sequence[Answers]
) -> tuple[ScoredExample, ...]:
    """Each original text with the answers to it."""
    return tuple(
        ScoredExample(
            example=example,
            reference=reference[example.text],
            targets=tuple(known[example.text] for known in targets),
        )
        for example in examples
    )


def score_perturbations(
    sets: Sequence[PerturbationSet], reference: Answers, targets: Sequence[Answers]
) -> tuple[ScoredPerturbation, ...]:
    """Each changed text with the answers to it; none where the search failed."""
    return tuple(
        ScoredPerturbation(
            capability=found.outcome.capability,
            perturbation=one,
            reference=None if one.text is None else reference[one.text],
            targets=() if one.text is None else tuple(known[one.text] for known in targets),
        )
        for found in sets
        for one in found.perturbations
    )
