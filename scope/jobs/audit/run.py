"""The audit: does a target keep the invariances of a reference?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from scope.core.request import as_function
from scope.errors import ModelError
from scope.estimation import ScoredFlips, measure, shares_of_models
from scope.jobs.audit.matrix import joined_audits, matrix_manifest
from scope.jobs.audit.on_workers import searching
from scope.jobs.audit.request import AuditRequest
from scope.jobs.audit.searched import Searched, reasons
from scope.jobs.audit.similarities import encoder_of, with_similarities
from scope.jobs.audited import Models, NamedModel, check_models, load_models, read_prompts
from scope.jobs.canaries import recognise_classifier
from scope.jobs.identity import manifest_of
from scope.jobs.on_workers import engine_of
from scope.jobs.perturbing import NO_PAIRS, PairSearch, PerturbationSet, changed_texts, searched_on
from scope.jobs.preparation import (
    ChosenCapability,
    LabelledData,
    choose_capabilities,
    further_metrics,
    load_texts,
    soft_scope_metric,
    with_labels,
)
from scope.jobs.ray_connection import Engine
from scope.jobs.runner import Prepared, carry_out
from scope.jobs.scoring import (
    Answers,
    answer_all,
    answer_texts,
    score_examples,
    score_perturbations,
)
from scope.jobs.shards import SETTING, Shard
from scope.jobs.work import Planned, search_work, texts_work
from scope.metrics import METRICS, Metric
from scope.models.cached import CachedClassifier
from scope.protocols import RANDOM_CANDIDATES, Encoder, Progress, SearchOptions
from scope.records import AnswerShares, AuditResult, Manifest, Setting
from scope.store import Run


@dataclass(frozen=True, kw_only=True)
class AuditPlan:
    """The plan of the audit against one reference, immutable."""

    request: AuditRequest
    models: Models
    data: LabelledData
    capabilities: tuple[ChosenCapability, ...]
    soft_scope: Metric
    more: tuple[Metric, ...]
    options: SearchOptions
    encoder: Encoder | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The reference, then the targets."""
        return (self.models.reference.name, *(one.name for one in self.models.targets))

    def manifest(self, truncated: Sequence[int] = ()) -> Manifest:
        """The manifest of the result, but for the truncated texts of each model."""
        named = (self.models.reference, *self.models.targets)
        cards = tuple(
            model.card(cut) for model, cut in zip(named, truncated or [0] * len(named), strict=True)
        )
        encoder = self.encoder
        return manifest_of(
            "audit",
            self.request,
            {
                "seed": self.options.seed,
                "trials": self.options.trials,
                "distance": self.options.distance,
                "goal": self.options.goal,
                "flips": self.request.flips,
                **self.soft_scope.parameters,
                "min_similarity": self.options.min_similarity,
                "encoder": f"{encoder.spec} {encoder.fingerprint}" if encoder else None,
                "labelled": self.data.card.labelled,
                "label_map": ", ".join(self.request.label_map) or None,
                **({"metrics": ", ".join(map(str, self.more))} if self.more else {}),
                **({SETTING: self.request.shard} if self.request.shard else {}),
                **self._of_role(),
            },
            models=cards,
            data=(self.data.card,),
            capabilities=tuple(one.card() for one in self.capabilities),
            encoder_reproducible=getattr(encoder, "reproducible", ""),
        )

    def kept_as(self, chosen: ChosenCapability) -> str:
        """The name under which a run keeps a search; it may have one of each reference."""
        name = chosen.capability.name
        if not self.request.is_matrix:
            return name
        return searched_on(name, self.models.reference.classifier.fingerprint)

    def shown_as(self, chosen: ChosenCapability) -> str:
        """The name of a search in the progress."""
        name = chosen.capability.name
        return f"{name} of {self.models.reference.name}" if self.request.is_matrix else name

    def _of_role(self) -> dict[str, Setting]:
        """The settings of language models; none of classifiers, as in older runs."""
        if self.request.role == "classifier":
            return {}
        tokens = self.request.model_options.next_tokens
        return {"role": self.request.role, "next_tokens": tokens}


def carry_out_audit(request: AuditRequest) -> AuditResult:
    """Run the audit, or resume it."""
    return carry_out(request, prepare)


audit = as_function(AuditRequest, carry_out_audit)


class Plans(NamedTuple):
    """The plan of the audit against each reference, and the names in each group."""

    plans: tuple[AuditPlan, ...]
    groups: Mapping[str, Sequence[str]]


def prepare(request: AuditRequest) -> Prepared[AuditResult]:
    """Load and check everything before any model answers."""
    sent = (*request.references, *request.measured, *request.capabilities)
    engine = engine_of(request, request.model_options, sent)
    plans, groups = plan_audits(request)
    manifest = plans[0].manifest()
    if request.is_matrix:
        manifest = matrix_manifest([one.manifest() for one in plans], request, groups)
    return Prepared(
        manifest,
        partial(_conduct, plans, groups, engine),
        [model.classifier for model in models_of(plans)],
        partial(_work, plans),
    )


def plan_audits(request: AuditRequest) -> Plans:
    """Load and check everything that the plans hold."""
    options = request.model_options
    metric = soft_scope_metric(request.tolerance, request.cutoff)
    more = further_metrics(request.metrics, _always_measured(metric, flips=request.flips))
    read_prompts(options)
    shard = None if request.shard is None else Shard.parse(request.shard)
    capabilities = choose_capabilities(request.capabilities, request.settings)
    loaded = load_texts(request)
    check_models(request, loaded.examples)
    # From here on each step may take half a minute.
    similarity, encoder = request.min_similarity, encoder_of(request)
    search = SearchOptions(
        trials=request.trials,
        seed=request.seed,
        distance=request.distance,
        goal=request.goal,
        slots=request.slots,
        min_similarity=similarity,
        encoder=None if similarity is None else encoder,
    )
    models = load_models(request)
    first = models.each[0].reference
    data = with_labels(loaded, first.classifier.labels, request.label_map)
    if shard is not None:
        data = replace(data, examples=tuple(shard.part(data.examples)))
    plans = tuple(
        AuditPlan(
            request=request,
            models=one,
            data=data,
            capabilities=capabilities,
            soft_scope=metric,
            more=more,
            options=search,
            encoder=encoder,
        )
        for one in models.each
    )
    return Plans(plans, models.groups)


def models_of(plans: Sequence[AuditPlan]) -> list[NamedModel]:
    """Every model once, references before targets."""
    found: dict[str, NamedModel] = {}
    references = [one.models.reference for one in plans]
    for model in (*references, *(target for one in plans for target in one.models.targets)):
        found.setdefault(model.name, model)
    return list(found.values())


def _work(plans: Sequence[AuditPlan]) -> Iterator[Planned]:
    """What a dry run shows: the searches, then each model's answers."""
    plan, examples = plans[0], plans[0].data.examples
    for one in plans:
        for chosen in plan.capabilities:
            yield search_work(
                chosen.capability,
                one.models.reference,
                examples,
                plan.options,
                flips=plan.request.flips,
            )
    found = plan.options.trials * (2 if plan.request.flips else 1)
    drawn = RANDOM_CANDIDATES if plan.request.flips else 0
    searches = len(examples) * len(plan.capabilities)
    for model in models_of(plans):
        # A search has asked its reference for what it found, but not for random candidates.
        own = sum(model.name == one.models.reference.name for one in plans)
        others = sum(model.name in one.names[1:] for one in plans)
        yield texts_work(model, examples, searches * (others * found + (own + others) * drawn))


def _conduct(
    plans: Sequence[AuditPlan],
    groups: Mapping[str, Sequence[str]],
    engine: Engine | None,
    run: Run,
) -> AuditResult:
    """Search, predict, measure; reuses stored answers."""
    progress = plans[0].request.progress
    _recognise_models(plans, run, progress)
    with searching(plans, engine, run) as search_there:
        # A shard may be too small to tell; the run of all shards does.
        for plan in () if plans[0].request.shard else plans:
            _refuse_degenerate_reference(plan, run, progress)
        search_there()
    found, answers = gather(plans, run)
    audits = [_audited(plan, own, answers) for plan, own in zip(plans, found, strict=True)]
    if not plans[0].request.is_matrix:
        return audits[0]
    return joined_audits(audits, groups, plans[0].request)


class Gathered(NamedTuple):
    """What was searched on each reference, and each model's answers."""

    found: list[list[Searched]]
    answers: dict[str, Answers]


def gather(plans: Sequence[AuditPlan], run: Run) -> Gathered:
    """Search and ask, or take from the run what it knows."""
    progress, examples = plans[0].request.progress, plans[0].data.examples
    found = [[_searched(plan, one, run) for one in plan.capabilities] for plan in plans]
    answers = {
        model.name: answer_all(model, examples, _sets_for(model, plans, found), run, progress)
        for model in models_of(plans)
    }
    return Gathered(found, answers)


def _sets_for(
    model: NamedModel, plans: Sequence[AuditPlan], found: Sequence[Sequence[Searched]]
) -> list[PerturbationSet]:
    """What was searched on every reference that the model is compared with, or is."""
    concerned = [own for plan, own in zip(plans, found, strict=True) if model.name in plan.names]
    return [one for own in concerned for kinds in own for one in kinds]


def _audited(
    plan: AuditPlan, found: Sequence[Searched], known: Mapping[str, Answers]
) -> AuditResult:
    """The audit against one reference, from what was searched and answered."""
    sets = [one.kept for one in found]
    flipped, drawn = [one.flipped for one in found], [one.drawn for one in found]
    reference_answers, *target_answers = answers = [known[name] for name in plan.names]
    examples = score_examples(plan.data.examples, reference_answers, target_answers)
    of_meaning = partial(
        with_similarities,
        examples=plan.data.examples,
        encoder=plan.encoder,
        progress=plan.request.progress,
    )
    perturbations = of_meaning(score_perturbations(sets, reference_answers, target_answers))
    flips = ScoredFlips(
        flipped=of_meaning(score_perturbations(flipped, reference_answers, target_answers)),
        random=score_perturbations(drawn, reference_answers, target_answers),
        missing=reasons(flipped),
        undrawn=reasons(drawn),
    )
    targets = [target.name for target in plan.models.targets]
    numbers = measure(
        examples,
        perturbations,
        flips if plan.request.flips else None,
        capabilities=[one.outcome.capability for one in sets if one.outcome.status == "measured"],
        targets=targets,
        reference=plan.models.reference.name,
        labels=plan.models.reference.classifier.labels,
        soft_scope=plan.soft_scope,
        more=plan.more,
        seed=plan.options.seed,
    )
    return AuditResult(
        manifest=plan.manifest([_count_truncated(known) for known in answers]),
        outcomes=tuple(one.outcome for one in sets),
        measurements=numbers.measurements,
        differences=numbers.differences,
        curves=numbers.curves,
        examples=examples,
        perturbations=perturbations,
        answer_shares=_shares(plan, answers),
        flips=tuple(flips.flipped),
        flip_outcomes=tuple(one.flip_outcome() for one in found) if plan.request.flips else (),
    )


def _searched(plan: AuditPlan, chosen: ChosenCapability, run: Run) -> Searched:
    """Search all kinds of pairs of a capability."""
    search = PairSearch(
        capability=chosen.capability,
        reference=CachedClassifier(plan.models.reference.classifier, run),
        examples=plan.data.examples,
        options=plan.options,
        run=run,
        progress=plan.request.progress,
        kept_as=plan.kept_as(chosen),
        shown_as=plan.shown_as(chosen),
    )
    kept = search.kept()
    if not plan.request.flips:
        return Searched(kept, NO_PAIRS, NO_PAIRS)
    return Searched(kept, search.flipped(kept), search.random(kept))


def _always_measured(soft_scope: Metric, *, flips: bool) -> tuple[Metric, ...]:
    """The metrics on pairs that every audit has."""
    on_flips = (METRICS["flip_scope"],) if flips else ()
    return (METRICS["ood_agreement"], METRICS["hard_scope"], soft_scope, *on_flips)


def _recognise_models(plans: Sequence[AuditPlan], run: Run, progress: Progress) -> None:
    """Check that models whose bytes cannot be hashed are those whose answers the run contains."""
    texts = [example.text for example in plans[0].data.examples]
    for plan in plans:
        for one in plan.capabilities:
            texts += changed_texts(run, plan.kept_as(one))
    for model in models_of(plans):
        recognise_classifier(model, texts, run, progress)


def _refuse_degenerate_reference(plan: AuditPlan, run: Run, progress: Progress) -> None:
    """End the audit before any search if the reference is degenerate."""
    texts = [example.text for example in plan.data.examples]
    answers = answer_texts(plan.models.reference, texts, run, progress)
    found = _shares(plan, [answers])[0]
    if found.degenerate is not None:
        run.discard()
        raise ModelError(
            f"the reference `{found.model}` is degenerate: {found.degenerate}",
            expected="a reference whose answers depend on the text",
            fix="check that the model, its labels and the data belong together (`--label-map` "
            "renames labels), or choose another reference",
        )


def _shares(plan: AuditPlan, answers: Sequence[Answers]) -> tuple[AnswerShares, ...]:
    """How the reference and the targets that have answered answer the unchanged texts."""
    labels = plan.models.reference.classifier.labels
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


def _count_truncated(answers: Answers) -> int:
    return sum(prediction.truncated for prediction in answers.values())
