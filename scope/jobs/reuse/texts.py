"""The way of texts in a test of reuse: to label or go on with, and what a search makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scope.data.ids import short_hash
from scope.data.sampling import Keyed, draw
from scope.errors import ModelError, SpecError
from scope.jobs.audited import check_role, load_audited, refuse_unused_words
from scope.jobs.canaries import recognise_classifier
from scope.jobs.perturbing import changed_texts, find_perturbations
from scope.jobs.preparation import (
    ChosenCapability,
    LabelledData,
    choose_capabilities,
    load_labelled,
)
from scope.jobs.reuse.items import ItemSet, text_items
from scope.jobs.reuse.models import ReuseModel, ReuseModels, load_reuse_models
from scope.jobs.reuse.plan import ReusePlan
from scope.jobs.reuse.questions import Questions
from scope.jobs.reuse.request import ReuseRequest
from scope.jobs.reuse.responses import TextResponses, match_by_answers
from scope.models.cached import CachedClassifier
from scope.models.labels import align, parse_label_map
from scope.protocols import Progress, SearchOptions
from scope.store import Run


def prepare_texts(request: ReuseRequest, progress: Progress) -> Questions:
    """Load the models, see that they can be asked, and read the texts."""
    options = request.model_options
    check_role(
        request.role,
        label_map=request.label_map,
        label_column=request.label_column,
        options=options,
    )
    tested = load_reuse_models(
        request, load=lambda one: load_audited(one, request.role, options), progress=progress
    )
    refuse_unused_words([one.model for one in tested.members], options)
    labels = tuple(tested.references[0].model.labels)
    aligned = tested.with_models(lambda one: _aligned(one, labels, request))
    way = _TextWay(
        request=request,
        progress=progress,
        tested=aligned,
        labels=labels,
        chosen=_capabilities(request, aligned),
        data=load_labelled(
            request.data,
            labels,
            label_map=request.label_map,
            text_column=request.text_column,
            label_column="none" if request.role == "next_token" else request.label_column,
            n=request.n,
            seed=request.seed,
        ),
    )
    return Questions(
        plan=way.plan(), responses=way.responses, probes=way.probes, recognise=way.recognise
    )


@dataclass(frozen=True, kw_only=True)
class _TextWay:
    """A test of reuse on texts, with everything loaded and checked."""

    request: ReuseRequest
    progress: Progress
    tested: ReuseModels
    labels: tuple[str, ...]
    chosen: tuple[ChosenCapability, ...]
    data: LabelledData

    def plan(self) -> ReusePlan:
        """What was asked, for the manifest."""
        request = self.request
        return ReusePlan(
            tested=self.tested,
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
            },
        )

    def recognise(self, run: Run) -> None:
        """See that the models are those whose answers the run holds."""
        texts = [example.text for example in self.data.examples]
        for searched in self.tested.references:
            for one in self.chosen:
                texts += changed_texts(run, _kept_as(one, searched))
        for member in self.tested.members:
            recognise_classifier(member.named(), texts, run, self.progress)

    def probes(self, searched: ReuseModel, run: Run) -> ItemSet:
        """The texts, and what the search of one model makes of some of them."""
        drawable = [Keyed(short_hash(one.text.strip()), one) for one in self.data.examples]
        sets = [
            find_perturbations(
                one.capability,
                CachedClassifier(searched.model, run),
                draw(drawable, self.request.perturbed, self.request.seed),
                SearchOptions(trials=self.request.trials, seed=self.request.seed),
                run=run,
                progress=self.progress,
                kept_as=_kept_as(one, searched),
            )
            for one in self.chosen
        ]
        return text_items(self.data.examples, sets, self.labels)

    def responses(self, run: Run) -> TextResponses:
        """The way of asking; labels of other names are matched first, by an answer to each text."""
        originals = [example.text for example in self.data.examples]
        progress = self.progress
        return TextResponses(
            labels=self.labels,
            examples=self.data.examples,
            run=run,
            progress=progress,
            own_labels={one.name: one.model.labels for one in self.tested.members},
            matched=match_by_answers(self.tested, self.labels, originals, run, progress),
        )


def _kept_as(chosen: ChosenCapability, searched: ReuseModel) -> str:
    """The name under which a run keeps what the search of one model has found."""
    return f"{chosen.capability.name} of {searched.model.fingerprint}"


def _aligned(member: ReuseModel, labels: Sequence[str], request: ReuseRequest) -> object:
    """A model with its labels in the first reference's order, or as it is where no names align.

    References must align, for they say what the labels are; so must all where the suspect is asked
    in batches, for a match needs all its answers, and where the user said what corresponds.
    """
    if request.role == "next_token":
        return member.model
    try:
        return align(member.model, labels, parse_label_map(request.label_map))
    except ModelError:
        if member.part == "reference" or request.batch_size or request.label_map:
            raise
        return member.model


def _capabilities(request: ReuseRequest, tested: ReuseModels) -> tuple[ChosenCapability, ...]:
    """What is asked for; by default *typo*, where every model can answer new texts.

    In batches the suspect is asked plain texts alone, and a search would be for nothing.
    """
    if request.capabilities is None:
        stored = any(one.saved for one in tested.members)
        return () if stored or request.batch_size else choose_capabilities(("typo",), {})
    if request.capabilities and request.batch_size:
        raise SpecError(
            "capabilities, and a suspect that is asked in batches, to ask less",
            expected="plain texts in batches, or all texts at once",
            fix="leave --capability out, or --sequential",
        )
    saved = [one for one in tested.references if one.saved]
    if request.capabilities and saved:
        raise SpecError(
            f"capabilities, and saved predictions, `{saved[0].model.spec}`, as a reference",
            expected="a reference that answers new texts: the search cannot know them beforehand",
            fix="name the model itself, or leave the search out: --capability none",
        )
    return choose_capabilities(request.capabilities, {}) if request.capabilities else ()
