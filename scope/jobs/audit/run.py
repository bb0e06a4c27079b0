"""The audit: does a target keep the invariances of a reference?

The audits against several references, joined in one result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, compress, repeat
from typing import NamedTuple

from scope.answers import CachedClassifier, Run, answer_texts, recognise
from scope.core.request import as_function
from scope.data.sampling import subsample
from scope.errors import ModelError
from scope.estimation.answer_shares import shares_of_models, silent
from scope.estimation.audits import measure, regions_of
from scope.estimation.choices import measure_matrix
from scope.estimation.drift import lower_bound
from scope.estimation.pairs import ScoredCandidates, texts_that_count
from scope.estimation.regions import MOST_PROPOSED, proposes
from scope.jobs.answering_models import ByModel, unanswered, with_reasons
from scope.jobs.audit.plan import (
    AuditPlan,
    Earlier,
    earlier_audits,
    models_of,
    plan_audits,
    with_similarities,
)
from scope.jobs.audit.request import AuditRequest
from scope.jobs.audit.verdicts import audit_verdicts
from scope.jobs.audit.written import (
    as_if_answered,
    judged_answers,
    own_noise,
    questions_with_seeds,
    shares_of_writers,
    with_given_answers,
    with_own_noise,
)
from scope.jobs.configuration import configuration_of
from scope.jobs.drift import drift_along, drift_work
from scope.jobs.perturbing import (
    NO_CANDIDATES,
    ChosenCapability,
    PairSearch,
    PerturbationSet,
    changed_texts,
    scored_examples,
    scored_perturbations,
)
from scope.jobs.runner import Planned, Prepared, run_job, samples_work, search_work, texts_work
from scope.jobs.shards import check_engine, run_shards
from scope.models.drift import Followed
from scope.models.scheme import Model
from scope.models.written import writer_of
from scope.progress import remark
from scope.protocols import Classifier, Progress
from scope.records import (
    ERROR,
    AnswerShares,
    AuditResult,
    Example,
    Manifest,
    Measurement,
    ModelCard,
    Outcome,
    Prediction,
    ScoredExample,
    ScoredPerturbation,
    label_of,
    unit_of,
)
from scope.verdicts.plan import (
    ENOUGH,
    Counted,
    all_assessed,
    limits_in_words,
    plan_in_words,
    undecided_in_words,
)


def run_audit(request: AuditRequest) -> AuditResult:
    """Run the audit, or resume it."""
    return run_job(request, prepare)


audit = as_function(AuditRequest, run_audit)


def prepare(request: AuditRequest) -> Prepared[AuditResult]:
    """Load and check everything before any model answers."""
    check_engine(request, (*request.references, *request.measured, *request.capabilities))
    plans = plan_audits(request)
    manifest = plans[0].manifest()
    if request.is_matrix:
        manifest = matrix_manifest([plan.manifest() for plan in plans], request, plans[0].groups)
    return Prepared(
        manifest,
        partial(_conduct, plans, configuration_of(manifest)),
        [writer_of(plan.models.reference.adapter) for plan in plans if request.samples]
        + [_searched(plan) for plan in plans]
        + [model.adapter for model in models_of(plans)],
        partial(_work, plans),
        plan=_planned(plans[0], manifest) if request.candidates else "",
    )


def _planned(plan: AuditPlan, manifest: Manifest) -> str:
    """The limits, and why the plan has too few texts, if so."""
    names = [chosen.capability.name for chosen in plan.capabilities]
    few = undecided_in_words(manifest, names, len(plan.most_changed))
    return "; ".join(filter(None, (limits_in_words(manifest), few)))


def _work(plans: Sequence[AuditPlan]) -> Iterator[Planned]:
    """The work that a dry run shows: the searches, then each model's answers."""
    writes = plans[0].request.role == "answer"
    plans = list(map(as_if_answered, plans)) if writes else plans
    plan, kinds = plans[0], len(plans[0].capabilities)
    for audit in plans:
        for chosen in plan.capabilities:
            yield search_work(
                chosen.capability, audit.models.reference, plan.searched, plan.options
            )
    kept = len(plan.searched) * kinds * plan.options.trials
    # What models write is priced at most: a capability of few texts that count changes more.
    drawn = len(plan.most_changed if writes else plan.changed) * kinds * plan.options.candidates
    judged = sum(model.role == "target" for each in plans for model in each.models.targets)
    filled = (plan.request.fill or 0) * MOST_PROPOSED * judged
    filled = min(filled, len(plan.further))
    for model in models_of(plans):
        # A search queries its reference for kept pairs, but not for random candidates.
        as_reference = sum(model.name == audit.models.reference.name for audit in plans)
        others = sum(model.name in audit.names[1:] for audit in plans)
        changed = others * kept + (as_reference + others) * drawn
        yield texts_work(model, plan.data.examples, changed + filled)
    if plan.request.samples:
        yield samples_work(plan.models.reference, questions_with_seeds(plan))
    if writes:
        yield from drift_work((plan.models.reference, *plan.models.targets), plan.data.examples)


def _conduct(
    plans: Sequence[AuditPlan], configuration: Mapping[str, object], run: Run
) -> AuditResult:
    """Search, predict, measure; reuses stored answers."""
    request, examples = plans[0].request, plans[0].data.examples
    progress = request.progress
    _recognise_models(plans, run, progress)
    texts = [example.text for example in examples]
    references = [plan.models.reference for plan in plans]
    known = {model.name: answer_texts(model, texts, run, progress) for model in references}
    if request.role == "answer":
        (reference,) = references
        plans = [with_given_answers(plans[0], known)]
        texts = [example.text for example in plans[0].data.examples]
        if reference.adapter.scores:
            known = {reference.name: answer_texts(reference, texts, run, progress)}
        else:  # it would write the same again
            answers = [known[reference.name][each.text] for each in examples]
            known = {reference.name: dict(zip(texts, answers, strict=True))}
            run.keep(reference.fingerprint, known[reference.name])
    plain, most = set(texts), request.most_unusable
    for plan in plans:
        with_reasons(plan.manifest(), {None: known}, most, plain, plan.names[0])
    plans = _without(plans, known)
    # A shard may be too small for this check; the run of all shards makes it.
    for plan in () if request.shard else plans:
        _refuse_degenerate_reference(plan, known[plan.names[0]], run)
    run_shards(request, run_audit, configuration, len(examples), run)
    searches = [[_search(plan, chosen, run) for chosen in plan.capabilities] for plan in plans]
    if request.candidates and not request.is_matrix:
        counts = _counted(plans[0], [search.drawn for search in searches[0]], run)
        remark(progress, plan_in_words(plans[0].manifest(), counts))
    if not request.is_matrix:
        result = _at_looks(plans[0], searches[0], known, run)
        result = _with_regions(plans[0], result, run)
        return replace(result, drift=tuple(_drift(plans[0], result, run)))
    audits = list(map(_with_regions, plans, _audits(plans, searches, known, run), repeat(run)))
    manifests = [plan.manifest() for plan in plans]
    earlier = earlier_audits(run, manifests, {example.id for example in examples})
    judged = map(_judged, audits, earlier, repeat(request))
    return joined_audits(list(judged), plans[0].groups, request)


def _drift(plan: AuditPlan, result: AuditResult, run: Run) -> Iterator[Measurement]:
    """How far targets drift along the reference's answers, or at least behind the texts."""
    if plan.request.role == "next_token":
        for place, name in enumerate(plan.names[1:]):
            pairs = {
                each.example.id: (each.reference, each.targets[place]) for each in result.examples
            }
            some = {id_: pair for id_, pair in pairs.items() if all(each.given for each in pair)}
            yield lower_bound(some, name, plan.names[0])
    if plan.request.role != "answer":
        return
    models = (plan.models.reference, *plan.models.targets)
    asked = {each.id: models[0].adapter.question(each.text) for each in plan.data.examples}
    texts = {name: Followed(each.draft, each) for name, each in asked.items() if each.draft}
    yield from drift_along(texts, models, None, run, plan.request.progress)


def _judged(result: AuditResult, earlier: Earlier, request: AuditRequest) -> AuditResult:
    """The audit with its verdicts, and the runs that they rest on, too."""
    result = replace(result, earlier_looks=earlier.looks, combined_with=earlier.combined_with)
    return replace(result, verdicts=audit_verdicts(result, request, earlier.combined))


def _at_looks(
    plan: AuditPlan, searches: Sequence[Searched], known: Mapping[str, ByText], run: Run
) -> AuditResult:
    """The audit of the first texts on which every target is decided, or else of all."""
    ids = {example.id for example in plan.data.examples}
    (earlier,) = earlier_audits(run, [plan.manifest()], ids)
    # The error of looks at a second run is not known, and a shard is a part itself.
    looks = 1 if earlier.combined or plan.request.shard else plan.looks
    counts = _counted(plan, [search.drawn for search in searches], run) if looks > 1 else {}
    for look in range(1, looks + 1):
        part = plan.first_texts(look, looks)
        (result,) = _audits([part], [searches], known, run)
        place, planned = (look, len(ids)) if looks > 1 else (0, 0)
        if plan.request.samples:
            result = with_own_noise(result, own_noise(part, run))
        result = replace(result, look=place, planned_texts=planned)
        result = _judged(result, earlier, plan.request)
        is_open = any(verdict.decision == "not shown" for verdict in result.verdicts)
        if look < looks and not is_open and all_assessed(result, counts):
            break
    return result


def _audits(
    plans: Sequence[AuditPlan],
    searches: Sequence[Sequence[Searched]],
    known: Mapping[str, ByText],
    run: Run,
) -> list[AuditResult]:
    """The models' answers, and the audit against each reference without verdicts."""
    plain = next(iter(known.values())).keys()
    answers = {model.name: _answers(model, plans, searches, run) for model in models_of(plans)}
    replies = {name: known.get(name, {}) | row for name, row in answers.items()}
    most, audits = plans[0].request.most_unusable, []
    for plan, search, answered in zip(plans, searches, _without(plans, answers), strict=True):
        manifest = with_reasons(plan.manifest(), {None: replies}, most, plain, plan.names[0])
        audits.append(_audited(answered, search, answers, manifest))
    return audits


def _without(plans: Sequence[AuditPlan], answers: ByModel) -> list[AuditPlan]:
    """The audits of the texts that their references answer, and at which no server failed."""
    kept = []
    for plan in plans:
        failed = unanswered(answers, plan.names[0])
        kept.append(plan.only([each for each in plan.data.examples if each.text not in failed]))
    return kept


def _audited(
    plan: AuditPlan, searches: Sequence[Searched], known: Mapping[str, ByText], manifest: Manifest
) -> AuditResult:
    """The audit against one reference, from the searches and the answers."""
    answers, failed = [known[name] for name in plan.names], unanswered(known, plan.names[0])
    ids = {example.id for example in plan.data.examples}

    def answered(pairs: PerturbationSet) -> PerturbationSet:
        some = (pair for pair in pairs.perturbations if pair.text not in failed)
        return replace(pairs, perturbations=tuple(pair for pair in some if pair.example_id in ids))

    kept = [answered(search.kept) for search in searches]
    drawn = [answered(search.drawn) for search in searches]
    examples, perturbations, candidates = _scored(plan, kept, drawn, answers)
    with_candidates = plan.options.candidates > 0
    numbers = measure(
        examples,
        perturbations,
        candidates if with_candidates else None,
        capabilities=[
            set_.outcome.capability for set_ in kept if set_.outcome.status == "measured"
        ],
        targets=plan.names[1:],
        reference=plan.names[0],
        baseline=next(
            (model.name for model in plan.models.targets if model.role == "baseline"), None
        ),
        labels=plan.models.reference.adapter.labels,
        soft_scope=plan.soft_scope,
        more=plan.more,
        seed=plan.options.seed,
    )
    return AuditResult(
        manifest=manifest,
        outcomes=tuple(set_.outcome for set_ in kept),
        measurements=numbers.measurements,
        differences=numbers.differences,
        curves=numbers.curves,
        examples=examples,
        perturbations=perturbations,
        answer_shares=_shares(plan, answers),
        candidates=tuple(candidates.scored),
        candidate_outcomes=tuple(set_.outcome for set_ in drawn) if with_candidates else (),
    )


def _with_regions(plan: AuditPlan, result: AuditResult, run: Run) -> AuditResult:
    """The audit with the regions in which targets differ, confirmed on further texts, too."""
    seed, reference = plan.options.seed, plan.models.reference
    baselines = [model for model in plan.models.targets if model.role == "baseline"]
    ids = [each.example.id for each in result.examples]
    proposing = set(map(unit_of, compress(ids, proposes(ids, seed))))
    further = [each for each in plan.further if unit_of(each.id) not in proposing]

    def draw(
        place: int, lies_in: Callable[[Example], bool], confirming: int
    ) -> Sequence[ScoredExample]:
        target, lacking = plan.models.targets[place], (plan.request.fill or 0) - confirming
        if target.role != "target" or lacking < 1:
            return ()
        drawn = subsample([*filter(lies_in, further)], lacking, seed)
        texts = [each.text for each in drawn]
        answers = {
            model.name: answer_texts(model, texts, run, plan.request.progress)
            for model in (reference, target, *baselines)
        }
        failed = unanswered(answers, reference.name)
        kept = [each for each in drawn if each.text not in failed]
        return scored_examples(kept, [*answers.values()])

    regions = regions_of(
        result.examples,
        result.candidates,
        reference=reference.name,
        targets=plan.names[1:],
        baseline=baselines[0].name if baselines else None,
        labels=reference.adapter.labels,
        margin=plan.request.region_margin,
        error=ERROR / plan.looks,
        seed=seed,
        draw=draw if plan.further else None,
    )
    return replace(result, regions=regions)


def _scored(
    plan: AuditPlan,
    kept: Sequence[PerturbationSet],
    drawn: Sequence[PerturbationSet],
    answers: Sequence[ByText],
) -> tuple[tuple[ScoredExample, ...], tuple[ScoredPerturbation, ...], ScoredCandidates]:
    """The texts, kept pairs and random candidates with the answers of all models."""
    examples = scored_examples(plan.data.examples, answers)
    perturbations = scored_perturbations(kept, answers)
    candidates = _candidates(plan, drawn, answers)
    if plan.request.role == "answer":
        _, of_candidates = judged_answers(plan, examples, candidates.scored)
        candidates = replace(candidates, scored=of_candidates)
        examples, perturbations = judged_answers(plan, examples, perturbations)
    perturbations = with_similarities(
        perturbations,
        [scored.example for scored in examples],
        plan.options.encoder if plan.request.marks_similarity else None,
        plan.request.progress,
        plan.options.change,
    )
    return examples, perturbations, candidates


def _candidates(
    plan: AuditPlan, drawn: Sequence[PerturbationSet], answers: Sequence[ByText]
) -> ScoredCandidates:
    """The random candidates with all answers, and why a capability has none."""
    return ScoredCandidates(
        scored=scored_perturbations(drawn, answers),
        gap=plan.request.gap,
        missing={
            set_.outcome.capability: str(set_.outcome.reason)
            for set_ in drawn
            if set_.outcome.status != "measured"
        },
    )


def _recognise_models(plans: Sequence[AuditPlan], run: Run, progress: Progress) -> None:
    """Check that models whose bytes cannot be hashed are those whose answers the run contains."""
    first = plans[0].first_texts(1, plans[0].looks)
    texts = [example.text for example in first.data.examples]
    for plan in plans:
        for capability in plan.capabilities:
            texts += changed_texts(run, plan.kept_as(capability), plan.data.examples)
    for model in models_of(plans):
        recognise(model, "classifier", texts, run, progress)


def _refuse_degenerate_reference(plan: AuditPlan, answers: ByText, run: Run) -> None:
    """End the audit before any search if the reference is degenerate."""
    shares = _shares(plan, [answers])[0]
    if shares.degenerate is not None:
        run.discard()
        raise ModelError(
            f"the reference `{shares.model}` is degenerate: {shares.degenerate}",
            expected="a reference whose answers depend on the text",
            fix="check that the model and the data belong together ("
            + "`--label-map` renames labels, `--label-word` and " * (plan.request.role != "answer")
            + "`--prompt` changes what a language model reads), or choose another reference",
        )


def _shares(plan: AuditPlan, answers: Sequence[ByText]) -> tuple[AnswerShares, ...]:
    """The answers of the reference and the targets so far to the unchanged texts."""
    if plan.request.role == "answer":
        return tuple(shares_of_writers(plan, answers))
    labels, examples = plan.models.reference.adapter.labels, plan.data.examples
    rows = [{each.id: known[each.text] for each in examples} for known in answers]
    named = [{id_: label_of(each, labels) for id_, each in row.items()} for row in rows]
    gold = {each.id: each.label for each in examples if each.label and each.label in labels}
    shares = shares_of_models(plan.names[: len(answers)], named, gold)
    return tuple(
        replace(share, degenerate=silent([*row.values()], "texts") or share.degenerate)
        for share, row in zip(shares, rows, strict=True)
    )


ByText = dict[str, Prediction]
"""One model's predictions, by text."""


class Searched(NamedTuple):
    """The kept pairs and the random candidates of a capability."""

    kept: PerturbationSet
    drawn: PerturbationSet


def _searched(plan: AuditPlan) -> Classifier:
    """The reference for searches: a model that writes stops once its answer differs."""
    reference = plan.models.reference.adapter
    searched: Classifier = getattr(reference, "in_search", reference)
    return searched


def _search(plan: AuditPlan, chosen: ChosenCapability, run: Run) -> Searched:
    """Search the kept pairs of a capability and draw its random candidates."""
    progress = plan.request.progress
    search = PairSearch(
        capability=chosen.capability,
        reference=CachedClassifier(_searched(plan), run),
        examples=plan.searched,
        options=plan.options,
        run=run,
        progress=progress,
        kept_as=plan.kept_as(chosen),
        shown_as=plan.shown_as(chosen),
    )
    kept = search.kept()
    if not plan.options.candidates:
        return Searched(kept, NO_CANDIDATES)
    drawn = replace(search, examples=plan.changed).random(kept)
    more = _more_changed(plan, drawn, run)
    if more:
        drawn = replace(search, examples=more).random(kept)
    return Searched(kept, drawn)


def _more_changed(plan: AuditPlan, drawn: PerturbationSet, run: Run) -> tuple[Example, ...]:
    """The examples for a capability of which too few count for concordance; none if enough do."""
    changed, most = plan.changed, plan.most_changed
    if len(most) <= len(changed) or drawn.outcome.status != "measured":
        return ()
    counts = _counted(plan, [drawn], run)[drawn.outcome.capability].pairs
    # Where nearly each text counts, more of them are the user's to choose.
    if counts >= min(ENOUGH, 0.9 * len(changed)):
        return ()
    wanted = len(most) if not counts else math.ceil(len(changed) * ENOUGH / counts)
    return subsample(most, max(len(changed), min(len(most), wanted)), plan.options.seed)


def _counted(plan: AuditPlan, drawn: Sequence[PerturbationSet], run: Run) -> dict[str, Counted]:
    """The texts that count, by the reference's answers to the random candidates."""
    examples = plan.data.examples
    texts = [each.text for each in examples]
    texts += [each.text for set_ in drawn for each in set_.perturbations if each.text is not None]
    answers = [answer_texts(plan.models.reference, texts, run, plan.request.progress)]
    writers = models_of([plan]) if plan.request.role == "answer" else ()
    if not all(writer.adapter.scores for writer in writers):
        answers = [{text: replace(each, support=None) for text, each in answers[0].items()}]
    names = [set_.outcome.capability for set_ in drawn if set_.outcome.status == "measured"]
    scored = scored_examples(examples, answers), scored_perturbations(drawn, answers)
    return {name: Counted(*texts_that_count(name, *scored, plan.request.gap)) for name in names}


def _answers(
    model: Model, plans: Sequence[AuditPlan], searches: Sequence[Sequence[Searched]], run: Run
) -> ByText:
    """A model's answers to all original texts, and to the changed texts of its audits.

    Raises
    ------
    ModelError
        When saved predictions lack texts; the run's folder then holds a file of them.
    """
    texts = [example.text for plan in plans for example in plan.data.examples]
    for plan, searched in zip(plans, searches, strict=True):
        sets = chain.from_iterable(searched) if model.name in plan.names else ()
        ids = {example.id for example in plan.data.examples}
        changed = [each for set_ in sets for each in set_.perturbations if each.example_id in ids]
        texts += [each.text for each in changed if each.text is not None]
    return answer_texts(model, texts, run, plans[0].request.progress)


def matrix_manifest(
    manifests: Sequence[Manifest], request: AuditRequest, groups: Mapping[str, Sequence[str]]
) -> Manifest:
    """The manifest of the whole: every model once, with its roles in all audits."""
    named = ", ".join(f"{name}={' + '.join(members)}" for name, members in groups.items())
    return replace(
        manifests[0],
        models=_cards(manifests),
        settings={
            **manifests[0].settings,
            "both_directions": request.both_directions,
            **({"groups": named} if groups else {}),
        },
    )


def _cards(manifests: Sequence[Manifest]) -> tuple[ModelCard, ...]:
    """References before targets; a model that is both has the role ``model``."""
    references = {manifest.reference.name: manifest.reference for manifest in manifests}
    targets = {card.name: card for manifest in manifests for card in manifest.targets}
    both = references.keys() & targets.keys()
    # References first, with the cards of the references.
    cards = {**references, **targets, **references}
    return tuple(
        replace(card, role="model") if name in both else card for name, card in cards.items()
    )


def joined_audits(
    audits: Sequence[AuditResult], groups: Mapping[str, Sequence[str]], request: AuditRequest
) -> AuditResult:
    """One result: the audits, their numbers, and the matrix of all."""
    measurements = tuple(
        replace(measurement, against=audit.manifest.reference.name)
        for audit in audits
        for measurement in audit.measurements
    )
    shares = _shares_of_all(audits)
    degenerate = {share.model: share.degenerate for share in shares if share.degenerate}
    return AuditResult(
        manifest=matrix_manifest([audit.manifest for audit in audits], request, groups),
        outcomes=tuple(outcome for audit in audits for outcome in _outcomes(audit, audit.outcomes)),
        measurements=measurements,
        differences=(),
        curves=(),
        examples=(),
        perturbations=(),
        answer_shares=shares,
        candidate_outcomes=tuple(
            outcome for audit in audits for outcome in _outcomes(audit, audit.candidate_outcomes)
        ),
        regions=tuple(
            replace(region, against=audit.manifest.reference.name)
            for audit in audits
            for region in audit.regions
        ),
        audits=tuple(audits),
        matrix=measure_matrix(measurements, groups, degenerate, seed=request.seed),
    )


def _outcomes(audit: AuditResult, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes of one audit, with the name of its reference."""
    name = audit.manifest.reference.name
    return [replace(outcome, capability=f"{outcome.capability} of {name}") for outcome in outcomes]


def _shares_of_all(audits: Sequence[AuditResult]) -> tuple[AnswerShares, ...]:
    """The shares of each model once; if it is degenerate in any audit, with the reason."""
    by_model: dict[str, AnswerShares] = {}
    for shares in (share for audit in audits for share in audit.answer_shares):
        known = by_model.setdefault(shares.model, shares)
        if known.degenerate is None and shares.degenerate is not None:
            by_model[shares.model] = shares
    return tuple(by_model.values())
