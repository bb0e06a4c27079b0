"""The plan of an audit: its models, data, capabilities and settings, loaded and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from scope.data.drawing import short_hash
from scope.data.sampling import LoadedData, subsample
from scope.errors import DataError
from scope.estimation import metrics_of_kept_pairs
from scope.jobs.answering_models import in_one_form
from scope.jobs.audit.models import Models, check_models, classifier_card, load_models, read_prompts
from scope.jobs.audit.request import MOST_LOOKS, AuditRequest
from scope.jobs.audit.similarities import encoder_for
from scope.jobs.identity import manifest_of
from scope.jobs.perturbing import searched_on
from scope.jobs.preparation import (
    ChosenCapability,
    choose_capabilities,
    further_metrics,
    load_texts,
    soft_scope_metric,
    with_labels,
)
from scope.jobs.shards import SETTING, Shard
from scope.metrics import Metric
from scope.models.model import Model
from scope.protocols import SearchOptions
from scope.records import Example, Manifest, Setting

OF_VERDICTS = (
    *(
        "gap",
        "accuracy_margin",
        "recovery",
        "agreement_margin",
        "keeps_margin",
        "concordance_margin",
    ),
    *("least_agreement", "least_concordance"),
)
"""The options that say what is judged."""


@dataclass(frozen=True, kw_only=True)
class AuditPlan:
    """The plan of the audit against one reference, immutable."""

    request: AuditRequest
    models: Models
    data: LoadedData
    capabilities: tuple[ChosenCapability, ...]
    soft_scope: Metric
    more: tuple[Metric, ...]
    options: SearchOptions
    groups: Mapping[str, Sequence[str]]
    changed_ids: frozenset[str]
    most_ids: frozenset[str]
    searched_ids: frozenset[str]

    @property
    def changed(self) -> tuple[Example, ...]:
        """The examples that capabilities change at random."""
        return tuple(example for example in self.data.examples if example.id in self.changed_ids)

    @property
    def most_changed(self) -> tuple[Example, ...]:
        """The examples of which a capability changes more where too few count."""
        return tuple(example for example in self.data.examples if example.id in self.most_ids)

    @property
    def searched(self) -> tuple[Example, ...]:
        """The examples for which kept pairs are searched."""
        return tuple(example for example in self.data.examples if example.id in self.searched_ids)

    @property
    def looks(self) -> int:
        """At how many parts of the texts the verdicts are looked at, at most."""
        judges = self.request.candidates and not (self.request.is_matrix or self.request.cluster)
        served = any(model.served for model in self.models.targets if model.role == "target")
        return self.request.looks or (MOST_LOOKS if judges and served else 1)

    def only(self, examples: Sequence[Example]) -> AuditPlan:
        """The same audit of some of the texts."""
        return replace(self, data=replace(self.data, examples=tuple(examples)))

    def first_texts(self, look: int, looks: int) -> AuditPlan:
        """The same audit of the texts up to a look, which have their share of those changed."""
        drawn = (self.changed_ids, self.most_ids, self.searched_ids)
        # Of each kind in an order at random, which the texts decide.
        ordered = sorted(
            (sum(each.id in ids for ids in drawn), short_hash(each.text), each.id)
            for each in self.data.examples
        )
        ids = {id_ for place, (*_, id_) in enumerate(ordered) if place % looks < look}
        card = replace(self.data.card, used=self.data.card.used - len(ordered) + len(ids))
        plan = replace(self, data=replace(self.data, card=card))
        return plan.only([each for each in self.data.examples if each.id in ids])

    @property
    def names(self) -> tuple[str, ...]:
        """The reference, then the targets."""
        return (self.models.reference.name, *(target.name for target in self.models.targets))

    def manifest(self) -> Manifest:
        """The manifest before any model has answered."""
        cards = tuple(map(classifier_card, (self.models.reference, *self.models.targets)))
        encoder = self.options.encoder
        next_tokens = self.request.model_options.next_tokens
        of_language_models = {"role": self.request.role, "next_tokens": next_tokens}
        return manifest_of(
            "audit",
            self.request,
            {
                "seed": self.options.seed,
                "trials": self.options.trials,
                "distance": self.options.distance,
                "goal": self.options.goal,
                "candidates": self.request.candidates,
                "changed_texts": len(self.changed_ids),
                "searched_texts": len(self.searched_ids),
                **self._of_verdicts(),
                **self.soft_scope.parameters,
                "min_similarity": self.options.min_similarity,
                "encoder": f"{encoder.spec} {encoder.fingerprint}" if encoder else None,
                "labelled": self.data.card.labelled,
                "label_map": ", ".join(self.request.label_map) or None,
                **({"metrics": ", ".join(map(str, self.more))} if self.more else {}),
                **({"slices": ", ".join(self.request.slices)} if self.request.slices else {}),
                **({"recall": ", ".join(self.request.recall)} if self.request.recall else {}),
                **({"cluster": self.request.cluster} if self.request.cluster else {}),
                **({SETTING: self.request.shard} if self.request.shard else {}),
                # Classifiers have none, as in older runs.
                **(of_language_models if self.request.role == "next_token" else {}),
            },
            models=cards,
            data=(self.data.card,),
            capabilities=tuple(capability.card() for capability in self.capabilities),
            encoder_reproducible=getattr(encoder, "reproducible", ""),
        )

    def _of_verdicts(self) -> dict[str, Setting]:
        """The plan of the verdicts, which is stored before any target answers."""
        request = self.request
        if not request.candidates:
            return {}
        limits: dict[str, Setting] = {name: getattr(request, name) for name in OF_VERDICTS}
        looks = {"looks": self.looks} if self.looks > 1 else {}
        most = {"n_most": request.n_most, **looks}
        return {**limits, **most, "least_reach": request.reach_limit}

    def kept_as(self, chosen: ChosenCapability) -> str:
        """The name under which a run keeps a search; it may have one of each reference."""
        name, reference = chosen.capability.name, self.models.reference
        if not (self.request.is_matrix or reference.is_object):
            return name
        return searched_on(name, reference.fingerprint)

    def shown_as(self, chosen: ChosenCapability) -> str:
        """The name of a search in the progress."""
        name = chosen.capability.name
        return f"{name} of {self.models.reference.name}" if self.request.is_matrix else name


def plan_audits(request: AuditRequest) -> tuple[AuditPlan, ...]:
    """The plan of the audit against each reference, loaded and checked."""
    models = (*request.references, *request.measured, *chain(*request.groups.values()))
    request = in_one_form(request, models, chooses=bool(request.model_options.label_words))
    metric = soft_scope_metric(request.tolerance, request.cutoff)
    more = further_metrics(request.metrics, metrics_of_kept_pairs(metric))
    read_prompts(request.model_options)
    shard = None if request.shard is None else Shard.parse(request.shard)
    capabilities = choose_capabilities(request.capabilities, request.settings)
    loaded = load_texts(request, request.n_unchanged, request.slices, request.cluster)
    samples = _samples(request, loaded.examples)
    check_models(request, loaded.examples)
    # From here on each step may take half a minute.
    models = load_models(request, loaded.examples)
    encoder, capabilities = encoder_for(request, capabilities)
    search = SearchOptions(
        trials=request.trials,
        candidates=request.candidates,
        seed=request.seed,
        distance=request.distance,
        goal=request.goal,
        parallel_texts=request.parallel_texts,
        min_similarity=request.min_similarity,
        encoder=encoder,
    )
    first = models.each[0].reference
    data = with_labels(loaded, first.adapter.labels, request.label_map)
    if missing := sorted({*request.recall} - {example.label for example in data.examples}):
        raise DataError(
            f"--recall {missing[0]}, which is the gold label of no text",
            expected=f"one of the reference's labels: {', '.join(first.adapter.labels)}",
            fix="check the label, or leave the option out",
        )
    if shard is not None:
        data = replace(data, examples=tuple(shard.part(data.examples)))
    return tuple(
        AuditPlan(
            request=request,
            models=audited,
            data=data,
            capabilities=capabilities,
            soft_scope=metric,
            more=more,
            options=search,
            groups=models.groups,
            changed_ids=samples[0],
            most_ids=samples[1],
            searched_ids=samples[2],
        )
        for audited in models.each
    )


def _samples(request: AuditRequest, examples: Sequence[Example]) -> list[frozenset[str]]:
    """The ids of the texts to change, of those to change at most, and of those to search."""
    changed = subsample(examples, request.n, request.seed)
    most = request.n
    # The run of all shards draws what they lack.
    if most is not None and request.candidates and not (request.shard or request.is_matrix):
        most = max(most, request.n_most or 2 * most)
    samples = (
        changed,
        subsample(examples, most, request.seed),
        subsample(changed, request.n_search, request.seed),
    )
    return [frozenset(example.id for example in sample) for sample in samples]


def models_of(plans: Sequence[AuditPlan]) -> list[Model]:
    """Every model once, references before targets."""
    references = [plan.models.reference for plan in plans]
    targets = [target for plan in plans for target in plan.models.targets]
    models: dict[str, Model] = {}
    for model in (*references, *targets):
        models.setdefault(model.name, model)
    return list(models.values())
