"""The test of reuse: is a suspect related to a reference, at a stated error rate?"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from scope.answers import CachedClassifier, Run, recognise
from scope.core.request import as_function, refuse_unused
from scope.data.sampling import Keyed, draw, short_hash
from scope.errors import ModelError, SpecError
from scope.jobs.answering_models import (
    ChosenTask,
    check_prompts,
    choose_tasks,
    in_one_form,
    is_saved,
    load_for_tasks,
    require_one_form,
    with_reasons,
)
from scope.jobs.audit.models import (
    asked_with_words,
    check_labels,
    load_audited,
    refuse_unused_words,
)
from scope.jobs.configuration import NULL, PROBES, manifest_of
from scope.jobs.encoders import encoder_at_hand
from scope.jobs.perturbing import (
    ChosenCapability,
    PairSearch,
    changed_part,
    changed_texts,
    choose_capabilities,
    load_texts,
    reading_parts,
    searched_on,
    soft_scope_metric,
    with_labels,
)
from scope.jobs.reuse.judging import finding_of, with_chosen_controls
from scope.jobs.reuse.pool import ReuseModels, load_reuse_models
from scope.jobs.reuse.request import OF_SEARCH, ReuseRequest
from scope.jobs.reuse.responses import (
    ItemSet,
    Responses,
    TaskResponses,
    TextResponses,
    make_case,
    match_by_answers,
    task_items,
    text_items,
)
from scope.jobs.reuse.verdicts import HYPOTHESIS, conclude
from scope.jobs.runner import Planned, Prepared, questions_work, run_job, search_work, texts_work
from scope.metrics.catalog import Metric
from scope.models.labels import AlignedClassifier, parse_label_map
from scope.models.scheme import Model
from scope.protocols import Encoder, SearchOptions
from scope.records import (
    GOLD,
    CapabilityCard,
    DataCard,
    Example,
    Manifest,
    Measurement,
    Outcome,
    ReuseResult,
    Setting,
    Verdict,
)
from scope.registry import refuse_unused_settings


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
    verdicts = conclude(findings, request.alpha, models.excluded)
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
            replace(verdict, warnings=(*same, *of_all, *verdict.warnings)) for verdict in verdicts
        ),
        candidate_controls=candidates,
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


@dataclass(frozen=True, kw_only=True)
class PreparedTest(ABC):
    """A test of reuse with everything loaded and checked.

    ``settings`` are those that affect the result, in addition to the ones of every test;
    ``asked`` are the task or the capabilities.
    """

    request: ReuseRequest
    models: ReuseModels
    data: DataCard
    asked: tuple[CapabilityCard, ...]
    settings: Mapping[str, Setting]

    @abstractmethod
    def responses(self, run: Run) -> Responses:
        """The inference of an open run."""

    @abstractmethod
    def items(self, reference: Model, run: Run) -> ItemSet:
        """The questions of a reference."""

    @abstractmethod
    def recognise(self, run: Run) -> None:
        """Check that the models are those whose answers the run has cached."""

    @abstractmethod
    def work(self) -> Iterator[Planned]:
        """What a dry run shows."""

    def manifest(self, hashes: Mapping[str, str] | None = None) -> Manifest:
        """The manifest of the result.

        ``hashes`` are those of the questions of each reference. They are known only after the run,
        and are not part of the configuration.
        """
        request = self.request
        settings: dict[str, Setting] = {
            "alpha": request.alpha,
            "seed": request.seed,
            NULL: HYPOTHESIS,
            **self.settings,
        }
        if request.controls_from:
            settings["candidate_controls"] = len(self.models.candidates)
            settings["n_controls"] = request.chosen or "all"
        settings.update({f"{PROBES}{name}": value for name, value in (hashes or {}).items()})
        return manifest_of(
            "reuse",
            request,
            settings,
            models=tuple(
                replace(model.card(), labels=tuple(getattr(model.adapter, "labels", ())))
                for model in self.models.all
            ),
            data=(self.data,),
            capabilities=self.asked,
        )


@dataclass(frozen=True, kw_only=True)
class _TaskTest(PreparedTest):
    """The questions of a task, and the models that answer them."""

    chosen: ChosenTask

    def responses(self, run: Run) -> TaskResponses:
        return TaskResponses(task=self.chosen.task, run=run, progress=self.request.progress)

    def items(self, reference: Model, run: Run) -> ItemSet:
        return task_items(self.chosen.data.items)

    def recognise(self, run: Run) -> None:
        task, questions = self.chosen.task, self.chosen.questions
        for model in self.models.all:
            recognise(model, task.role, questions, run, self.request.progress)

    def work(self) -> Iterator[Planned]:
        task, longest = self.chosen.task, self.request.model_options.max_answer_tokens
        for model in self.models.all:
            replied = 1 if task.role == "choice_scorer" else longest
            yield questions_work(model, task, self.chosen.questions, replied)


@dataclass(frozen=True, kw_only=True)
class _TextTest(PreparedTest):
    """Texts for labels or next tokens, and their perturbations."""

    labels: tuple[str, ...]
    chosen: tuple[ChosenCapability, ...]
    encoder: Encoder | None
    examples: Sequence[Example]

    def recognise(self, run: Run) -> None:
        texts = [example.text for example in self.examples]
        for reference in self.models.references:
            for chosen in self.chosen:
                texts += changed_texts(run, _kept_as(chosen, reference), self.examples)
        for model in self.models.all:
            recognise(model, "classifier", texts, run, self.request.progress)

    def work(self) -> Iterator[Planned]:
        """What a dry run shows: the searches on the references, then each model's answers."""
        searched = self._searched()
        for reference in self.models.references:
            for chosen in self.chosen:
                yield search_work(chosen.capability, reference, searched, self._options())
        of_one = len(searched) * self.request.trials * len(self.chosen)
        for model in self.models.all:
            # The search has asked a reference for its own perturbations.
            others = len(self.models.references) - (model.role == "reference")
            yield texts_work(model, self.examples, of_one * others)

    def _searched(self) -> Sequence[Example]:
        """The texts that are perturbed."""
        drawable = [Keyed(short_hash(example.text.strip()), example) for example in self.examples]
        return draw(drawable, self.request.n_perturbed, self.request.seed)

    def _options(self) -> SearchOptions:
        request = self.request
        return SearchOptions(
            trials=request.trials,
            seed=request.seed,
            encoder=self.encoder,
            change=changed_part(request, self.data.parts),
        )

    def items(self, reference: Model, run: Run) -> ItemSet:
        """The texts, and the perturbations that the search of one reference finds."""
        examples = self._searched()
        sets = [
            PairSearch(
                capability=chosen.capability,
                reference=CachedClassifier(reference.adapter, run),
                examples=examples,
                options=self._options(),
                run=run,
                progress=self.request.progress,
                kept_as=_kept_as(chosen, reference),
                shown_as=f"{chosen.capability.name} of {reference.name}",
            ).kept()
            for chosen in self.chosen
        ]
        return text_items(self.examples, sets, self.labels)

    def responses(self, run: Run) -> TextResponses:
        """The inference; labels of other names are matched first, by the answers to all texts."""
        originals = [example.text for example in self.examples]
        progress = self.request.progress
        return TextResponses(
            labels=self.labels,
            examples=self.examples,
            run=run,
            progress=progress,
            own_labels={model.name: model.adapter.labels for model in self.models.all},
            matched=match_by_answers(self.models, self.labels, originals, run, progress),
        )


def _kept_as(chosen: ChosenCapability, searched: Model) -> str:
    """The name under which a run stores the perturbations of one model."""
    return searched_on(chosen.capability.name, searched.fingerprint)


def prepare_task(request: ReuseRequest) -> PreparedTest:
    """Load the models in the role of the task, and its questions."""
    (chosen,) = choose_tasks(
        [request.task], request.data, request.settings, n=request.n, seed=request.seed
    )
    role = chosen.task.role
    request = in_one_form(request, _specs(request), chooses=role == "choice_scorer")
    options = request.model_options
    check_prompts([role], options)
    models = load_reuse_models(request, lambda spec: load_for_tasks(spec, [chosen], options))
    if role == "choice_scorer":
        require_one_form(model.adapter for model in models.all)
    return _TaskTest(
        request=request,
        models=models,
        data=chosen.data.card,
        asked=(chosen.card(),),
        settings={},
        chosen=chosen,
    )


def prepare_texts(request: ReuseRequest) -> PreparedTest:
    """Load the models, check that they can run, and read the texts."""
    request = in_one_form(request, _specs(request), chooses=bool(request.model_options.label_words))
    options = request.model_options
    encoder, chosen = encoder_at_hand(_capabilities(request), options, request)
    loaded = load_texts(request, request.n)
    request = reading_parts(request, loaded.card.parts)
    options = request.model_options
    parts, change = loaded.card.parts, changed_part(request, loaded.card.parts)
    specs = _specs(request)
    count = len(specs) if request.label_map else len(request.references)
    check_labels(specs, request, loaded.examples, aligned=count)
    examples = loaded.examples
    models = load_reuse_models(
        request, lambda spec: load_audited(spec, request.role, options, examples)
    )
    adapters = [model.adapter for model in models.all]
    refuse_unused_words(options, used=asked_with_words(adapters))
    require_one_form(adapters)
    labels = tuple(models.references[0].adapter.labels)
    loaded = with_labels(loaded, labels, request.label_map)
    return _TextTest(
        request=request,
        models=models.with_models(lambda model: _aligned(model, labels, request)),
        data=loaded.card,
        asked=tuple(each.card() for each in chosen),
        settings={
            **({} if request.role == "classifier" else {"role": request.role}),
            "trials": request.trials,
            "n_perturbed": request.n_perturbed,
            "tolerance": request.tolerance,
            "cutoff": request.cutoff,
            **({"change": parts[change]} if parts else {}),
            "label_map": ", ".join(request.label_map) or None,
            **({"encoder": f"{encoder.spec} {encoder.fingerprint}"} if encoder else {}),
        },
        labels=labels,
        chosen=chosen,
        encoder=encoder,
        examples=loaded.examples,
    )


def _specs(request: ReuseRequest) -> tuple[str | object, ...]:
    return (*request.references, request.suspect, *request.controls, *request.derivatives)


def _aligned(model: Model, labels: Sequence[str], request: ReuseRequest) -> object:
    """A model with its labels in the first reference's order; unchanged if no names align.

    References must align, and all models with a label map of the user's.
    """
    if request.role == "next_token":
        return model.adapter
    try:
        return AlignedClassifier(model.adapter, labels, parse_label_map(request.label_map))
    except ModelError:
        if model.role == "reference" or request.label_map:
            raise
        return model.adapter


def _capabilities(request: ReuseRequest) -> tuple[ChosenCapability, ...]:
    """The requested capabilities; by default *typo* if every model can answer new texts."""
    saved = [spec for spec in request.references if is_saved(spec)]
    if request.capabilities and saved:
        raise SpecError(
            f"--capability with saved predictions as a reference: `{saved[0]}`",
            expected="a reference that can answer new texts, which the search makes",
            fix="give the model itself, or leave the search out: --capability none",
        )
    usual = () if any(map(is_saved, _specs(request))) else ("typo",)
    requested = usual if request.capabilities is None else request.capabilities
    if requested:
        return choose_capabilities(requested, request.settings)
    refuse_unused(
        request,
        OF_SEARCH,
        "without a search",
        "a search, which needs models that can answer new texts",
    )
    refuse_unused_settings(request.settings, {})
    return ()
