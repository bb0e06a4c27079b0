"""The way of texts in a test of reuse: to label or go on with, and what a search makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scope.data.ids import short_hash
from scope.data.sampling import Keyed, draw
from scope.errors import ModelError, SpecError
from scope.jobs.canaries import recognise_classifier
from scope.jobs.interviews import TextInterview, match_by_answers
from scope.jobs.lineup import Lineup, Member, line_up
from scope.jobs.perturbing import changed_texts, find_perturbations
from scope.jobs.preparation import (
    ChosenCapability,
    LabelledData,
    choose_capabilities,
    load_labelled,
)
from scope.jobs.reuse_plan import ReusePlan
from scope.jobs.reuse_questions import ProbeSet, probes_of_texts
from scope.jobs.reuse_ways import Models, Prepared, ReuseOptions
from scope.jobs.shared_fields import AuditRole, check_role, load_audited, refuse_unused_words
from scope.metrics import Metric
from scope.models.cached import CachedClassifier
from scope.models.labels import align, parse_label_map
from scope.protocols import Capability, SearchOptions
from scope.records import Setting
from scope.store import Run


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """What concerns texts alone; see `scope.jobs.reuse.reuse`."""

    role: AuditRole
    capabilities: Sequence[str | Capability] | None
    trials: int
    soft_scope: Metric
    text_column: str | None
    label_column: str | None
    label_map: Sequence[str]
    perturbed: int


def prepare_texts(models: Models, texts: TextOptions, options: ReuseOptions) -> Prepared:
    """Load the models, see that they can be asked, and read the texts."""
    check_role(
        texts.role,
        label_map=texts.label_map,
        label_column=texts.label_column,
        options=options.models,
    )
    lineup = line_up(
        *models,
        load=lambda one: load_audited(one, texts.role, options.models),
        progress=options.progress,
        excluded=options.excluded,
    )
    refuse_unused_words([one.model for one in lineup.members], options.models)
    labels = tuple(lineup.references[0].model.labels)
    aligned = lineup.with_models(lambda one: _aligned(one, labels, texts, options))
    chosen = _capabilities(texts, aligned, options)
    way = _TextWay(
        lineup=aligned,
        labels=labels,
        chosen=chosen,
        data=load_labelled(
            options.data,
            labels,
            label_map=texts.label_map,
            text_column=texts.text_column,
            label_column="none" if texts.role == "next_token" else texts.label_column,
            n=options.n,
            seed=options.seed,
        ),
        texts=texts,
        options=options,
    )
    return Prepared(
        plan=way.plan(), interview=way.interview, probes=way.probes, recognise=way.recognise
    )


@dataclass(frozen=True, kw_only=True)
class _TextWay:
    """A test of reuse on texts, with everything loaded and checked."""

    lineup: Lineup
    labels: tuple[str, ...]
    chosen: tuple[ChosenCapability, ...]
    data: LabelledData
    texts: TextOptions
    options: ReuseOptions

    def plan(self) -> ReusePlan:
        """What was asked, for the manifest and the command."""
        texts, options = self.texts, self.options
        of_both: dict[str, Setting] = {
            **({} if texts.role == "classifier" else {"role": texts.role}),
            "trials": texts.trials,
            "perturbed": texts.perturbed,
            **texts.soft_scope.parameters,
        }
        return ReusePlan(
            lineup=self.lineup,
            data=self.data.card,
            asked=tuple(one.card() for one in self.chosen),
            alpha=options.alpha,
            seed=options.seed,
            settings={
                **of_both,
                "label_map": ", ".join(texts.label_map) or None,
                **options.settings(),
            },
            verbatim={
                **of_both,
                "capability": [one.capability.name for one in self.chosen] or ["none"],
                "label_map": texts.label_map,
                "text_column": texts.text_column,
                "label_column": texts.label_column,
                **options.verbatim(),
            },
            options=options.models,
        )

    def recognise(self, run: Run) -> None:
        """See that the models are those whose answers the run holds."""
        texts = [example.text for example in self.data.examples]
        for searched in self.lineup.references:
            for one in self.chosen:
                texts += changed_texts(run, _kept_as(one, searched))
        for member in self.lineup.members:
            recognise_classifier(member.named(), texts, run, self.options.progress)

    def probes(self, searched: Member, run: Run) -> ProbeSet:
        """The texts, and what the search of one model makes of some of them."""
        drawable = [Keyed(short_hash(one.text.strip()), one) for one in self.data.examples]
        sets = [
            find_perturbations(
                one.capability,
                CachedClassifier(searched.model, run),
                draw(drawable, self.texts.perturbed, self.options.seed),
                SearchOptions(trials=self.texts.trials, seed=self.options.seed),
                run=run,
                progress=self.options.progress,
                kept_as=_kept_as(one, searched),
            )
            for one in self.chosen
        ]
        return probes_of_texts(self.data.examples, sets, self.labels)

    def interview(self, run: Run) -> TextInterview:
        """The way of asking; labels of other names are matched first, by an answer to each text."""
        originals = [example.text for example in self.data.examples]
        progress = self.options.progress
        return TextInterview(
            labels=self.labels,
            examples=self.data.examples,
            run=run,
            progress=progress,
            own_labels={one.name: one.model.labels for one in self.lineup.members},
            matched=match_by_answers(self.lineup, self.labels, originals, run, progress),
        )


def _kept_as(chosen: ChosenCapability, searched: Member) -> str:
    """The name under which a run keeps what the search of one model has found."""
    return f"{chosen.capability.name} of {searched.model.fingerprint}"


def _aligned(
    member: Member, labels: Sequence[str], texts: TextOptions, options: ReuseOptions
) -> object:
    """A model with its labels in the first reference's order, or as it is where no names align.

    References must align, for they say what the labels are; so must all where the suspect is asked
    in batches, for a match needs all its answers, and where the user said what corresponds.
    """
    if texts.role == "next_token":
        return member.model
    try:
        return align(member.model, labels, parse_label_map(texts.label_map))
    except ModelError:
        if member.part == "reference" or options.sequence is not None or texts.label_map:
            raise
        return member.model


def _capabilities(
    texts: TextOptions, lineup: Lineup, options: ReuseOptions
) -> tuple[ChosenCapability, ...]:
    """What is asked for; by default *typo*, where every model can answer new texts.

    In batches the suspect is asked plain texts alone, and a search would be for nothing.
    """
    if texts.capabilities is None:
        stored = any(one.saved for one in lineup.members)
        return () if stored or options.sequence else choose_capabilities(("typo",), {})
    if texts.capabilities and options.sequence:
        raise SpecError(
            "capabilities, and a suspect that is asked in batches, to ask less",
            expected="plain texts in batches, or all texts at once",
            mend="leave --capability out, or --sequential",
        )
    saved = [one for one in lineup.references if one.saved]
    if texts.capabilities and saved:
        raise SpecError(
            f"capabilities, and saved predictions, `{saved[0].model.spec}`, as a reference",
            expected="a reference that answers new texts: the search cannot know them beforehand",
            mend="name the model itself, or leave the search out: --capability none",
        )
    return choose_capabilities(texts.capabilities, {}) if texts.capabilities else ()
