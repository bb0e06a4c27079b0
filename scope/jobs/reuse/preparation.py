"""Prepares a test of reuse on texts, for labels or next tokens, and their perturbations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scope.answers import CachedClassifier, Run
from scope.answers.asking import recognise_classifier
from scope.core.request import refuse_unused
from scope.data import LoadedData
from scope.data.sampling import Keyed, draw, short_hash
from scope.errors import ModelError, SpecError
from scope.jobs.answering_models import is_saved
from scope.jobs.audited import (
    asked_with_words,
    check_labels,
    load_audited,
    read_prompts,
    refuse_unused_words,
)
from scope.jobs.identity import NamedModel
from scope.jobs.perturbing import (
    PairSearch,
    changed_texts,
    searched_on,
)
from scope.jobs.preparation import (
    ChosenCapability,
    choose_capabilities,
    load_texts,
    with_labels,
)
from scope.jobs.reuse.models import ReuseModels, load_reuse_models
from scope.jobs.reuse.plan import ReusePlan
from scope.jobs.reuse.questions import ItemSet, text_items
from scope.jobs.reuse.request import OF_SEARCH, ReuseRequest
from scope.jobs.reuse.responses import TextResponses, match_by_answers
from scope.jobs.reuse.tasks import PreparedTest, prepare_task
from scope.jobs.word_encoder import encoder_at_hand
from scope.jobs.work import Planned, search_work, texts_work
from scope.models.labels import align, parse_label_map
from scope.pieces import refuse_unused_settings
from scope.protocols import Encoder, SearchOptions
from scope.records import Example


def prepare_texts(request: ReuseRequest) -> PreparedTest:
    """Load the models, check that they can run, and read the texts."""
    options = request.model_options
    read_prompts(options)
    encoder, chosen = encoder_at_hand(_capabilities(request), options, request)
    loaded = load_texts(request, request.n)
    given = (*request.references, request.suspect, *request.controls)
    all_align = bool(request.batch_size or request.label_map)
    count = len(given) if all_align else len(request.references)
    check_labels(given, request, loaded.examples, aligned=count)
    models = load_reuse_models(request, lambda one: load_audited(one, request.role, options))
    refuse_unused_words(options, used=asked_with_words([one.model for one in models.all]))
    labels = tuple(models.references[0].model.labels)
    aligned = models.with_models(lambda one: _aligned(one, labels, request))
    return _TextTest(
        request=request,
        models=aligned,
        labels=labels,
        chosen=chosen,
        encoder=encoder,
        data=with_labels(loaded, labels, request.label_map),
    )


@dataclass(frozen=True, kw_only=True)
class _TextTest:
    """A test of reuse on texts, with everything loaded and checked."""

    request: ReuseRequest
    models: ReuseModels
    labels: tuple[str, ...]
    chosen: tuple[ChosenCapability, ...]
    encoder: Encoder | None
    data: LoadedData

    @property
    def plan(self) -> ReusePlan:
        """The configuration, for the manifest."""
        request, encoder = self.request, self.encoder
        return ReusePlan(
            models=self.models,
            data=self.data.card,
            asked=tuple(one.card() for one in self.chosen),
            request=request,
            settings={
                **({} if request.role == "classifier" else {"role": request.role}),
                "trials": request.trials,
                "perturbed": request.perturbed,
                "tolerance": request.tolerance,
                "cutoff": request.cutoff,
                "label_map": ", ".join(request.label_map) or None,
                **({"encoder": f"{encoder.spec} {encoder.fingerprint}"} if encoder else {}),
            },
        )

    def recognise(self, run: Run) -> None:
        """Check that the models are those whose answers the run has cached."""
        texts = [example.text for example in self.data.examples]
        for searched in self.models.references:
            for one in self.chosen:
                texts += changed_texts(run, _kept_as(one, searched), self.data.examples)
        for model in self.models.all:
            recognise_classifier(model, texts, run, self.request.progress)

    def work(self) -> Iterator[Planned]:
        """What a dry run shows: the searches on the references, then each model's answers."""
        searched = self._searched()
        for reference in self.models.references:
            for one in self.chosen:
                yield search_work(one.capability, reference, searched, self._options())
        of_one = len(searched) * self.request.trials * len(self.chosen)
        for model in self.models.all:
            # The search has asked a reference for its own perturbations.
            others = len(self.models.references) - (model.role == "reference")
            yield texts_work(model, self.data.examples, of_one * others)

    def _searched(self) -> Sequence[Example]:
        """The texts that are perturbed."""
        drawable = [Keyed(short_hash(one.text.strip()), one) for one in self.data.examples]
        return draw(drawable, self.request.perturbed, self.request.seed)

    def _options(self) -> SearchOptions:
        request = self.request
        return SearchOptions(trials=request.trials, seed=request.seed, encoder=self.encoder)

    def items(self, searched: NamedModel, run: Run) -> ItemSet:
        """The texts, and the perturbations that the search of one model finds."""
        examples = self._searched()
        sets = [
            PairSearch(
                capability=one.capability,
                reference=CachedClassifier(searched.model, run),
                examples=examples,
                options=self._options(),
                run=run,
                progress=self.request.progress,
                kept_as=_kept_as(one, searched),
                shown_as=f"{one.capability.name} of {searched.name}",
            ).kept()
            for one in self.chosen
        ]
        return text_items(self.data.examples, sets, self.labels)

    def responses(self, run: Run) -> TextResponses:
        """The inference; labels of other names are matched first, by the answers to all texts."""
        originals = [example.text for example in self.data.examples]
        progress = self.request.progress
        return TextResponses(
            labels=self.labels,
            examples=self.data.examples,
            run=run,
            progress=progress,
            own_labels={one.name: one.model.labels for one in self.models.all},
            matched=match_by_answers(self.models, self.labels, originals, run, progress),
        )


def _kept_as(chosen: ChosenCapability, searched: NamedModel) -> str:
    """The name under which a run stores the perturbations of one model."""
    return searched_on(chosen.capability.name, searched.model.fingerprint)


def _aligned(model: NamedModel, labels: Sequence[str], request: ReuseRequest) -> object:
    """A model with its labels in the first reference's order, or unchanged if no names align.

    References must align. So must all models with batches, because a match needs all answers, and
    with a label map of the user's.
    """
    if request.role == "next_token":
        return model.model
    try:
        return align(model.model, labels, parse_label_map(request.label_map))
    except ModelError:
        if model.role == "reference" or request.batch_size or request.label_map:
            raise
        return model.model


def _capabilities(request: ReuseRequest) -> tuple[ChosenCapability, ...]:
    """The requested capabilities; by default *typo* if every model can answer new texts.

    A test in batches uses plain texts alone, without a search.
    """
    saved = [one for one in request.references if is_saved(one)]
    if request.capabilities and saved:
        raise SpecError(
            f"--capability with saved predictions as a reference: `{saved[0]}`",
            expected="a reference that can answer new texts, which the search makes",
            fix="give the model itself, or leave the search out: --capability none",
        )
    stored = any(map(is_saved, (request.suspect, *request.references, *request.controls)))
    usual = () if stored or request.batch_size else ("typo",)
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


def prepare_test(request: ReuseRequest) -> PreparedTest:
    """Load and check the models and the questions."""
    return (prepare_texts if request.task is None else prepare_task)(request)
