"""The plan of an audit: its models, data, capabilities and settings, loaded and checked.

Earlier audits of the same models on the same data: those looked at, and one that is combined.

An audit that is planned after a look at the same texts is exploratory: its error is not that of its
plan. One exception has a known error: a second run with the plan of the first, but for the seed and
the numbers of texts, after the first has left a target open. It is judged on the texts of both.

The sentence encoder of an audit: for the search, and for the similarity of the texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from scope.answers import Run
from scope.answers.run import compares_words
from scope.data.sampling import LoadedData, short_hash, subsample
from scope.errors import DataError, ModelError, RunError
from scope.estimation.audits import metrics_of_kept_pairs
from scope.jobs.answering_models import in_one_form
from scope.jobs.audit.models import Models, check_models, classifier_card, load_models
from scope.jobs.audit.request import MOST_LOOKS, AuditRequest
from scope.jobs.configuration import configuration_of, manifest_of
from scope.jobs.encoders import ForSearch, encoder_at_hand, for_encoder, of_words
from scope.jobs.perturbing import (
    ChosenCapability,
    changed_part,
    choose_capabilities,
    further_metrics,
    load_texts,
    reading_parts,
    searched_on,
    soft_scope_metric,
    with_labels,
)
from scope.jobs.shards import SETTING, Shard
from scope.metrics.catalog import Metric
from scope.models.options import SENTENCE_ENCODER
from scope.models.scheme import Model, load_encoder
from scope.models.written import writer_of
from scope.protocols import Encoder, Progress, SearchOptions
from scope.records import AuditResult, Example, Manifest, ScoredPerturbation, Setting, own_id_of
from scope.records.text_parts import parts_of
from scope.store.folder import RunFolder

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
    """The plan of the audit against one reference, immutable.

    ``further`` has the texts that the sample left out, from which regions are filled.
    """

    request: AuditRequest
    models: Models
    data: LoadedData
    further: tuple[Example, ...]
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
        options = self.request.model_options
        next_tokens, most = options.next_tokens, options.max_answer_tokens
        parts = self.data.card.parts
        of_language_models = {"role": self.request.role, "next_tokens": next_tokens}
        of_answers = {"role": "answer", "score": self.request.score, "max_answer_tokens": most}
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
                "region_margin": self.request.region_margin,
                **({"fill": self.request.fill} if self.request.fill else {}),
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
                **({"change": parts[self.options.change]} if parts else {}),
                # Classifiers have none, as in older runs.
                **(of_language_models if self.request.role == "next_token" else {}),
                **(of_answers if self.request.role == "answer" else {}),
                **({"samples": self.request.samples} if self.request.samples else {}),
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
    shard = None if request.shard is None else Shard.parse(request.shard)
    capabilities = choose_capabilities(request.capabilities, request.settings)
    loaded = load_texts(request, request.n_unchanged, request.slices, request.cluster)
    further = _further(request, loaded.examples)
    request = reading_parts(request, loaded.card.parts)
    change = changed_part(request, loaded.card.parts)
    samples = _samples(request, loaded.examples)
    check_models(request, loaded.examples)
    # From here on each step may take half a minute.
    models = load_models(request, loaded)
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
        change=change,
    )
    first = models.each[0].reference
    if request.samples and not getattr(writer_of(first.adapter), "samples", False):
        raise ModelError(
            f"--samples {request.samples} of `{first.spec}`, which does not sample",
            expected="a reference that samples: hf:NAME, gguf:FILE, openai:URL#MODEL, or an object "
            "whose `samples` is true",
            fix="leave out --samples",
        )
    data = loaded
    if request.role != "answer":
        data = with_labels(loaded, first.adapter.labels, request.label_map)
        # What the sample lacks may be no label of the reference.
        known = {example.label for example in loaded.examples}
        rest = replace(loaded, examples=tuple(each for each in further if each.label in known))
        further = with_labels(rest, first.adapter.labels, request.label_map).examples
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
            further=further,
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


MOST_FURTHER = 100_000
"""Texts beyond the sample that are read to fill regions."""


def _further(request: AuditRequest, sampled: Sequence[Example]) -> tuple[Example, ...]:
    """Texts that the sample left out; none unless regions are filled, and none for a shard.

    Raises
    ------
    DataError
        When the sample left none out.
    """
    if request.fill is None or request.shard:
        return ()
    n = (request.n_unchanged or 0) + MOST_FURTHER
    known, labelled = {each.id for each in sampled}, all(each.label for each in sampled)
    whole = load_texts(request, n, request.slices, request.cluster).examples
    rest = [each for each in whole if each.id not in known]
    if rest:  # lost accuracy is known of labelled texts alone
        return tuple(each for each in rest if each.label or not labelled)
    raise DataError(
        f"--fill {request.fill} with a sample of all {len(known)} texts",
        expected="further texts, which the sample leaves out",
        fix="give more data, sample fewer with --n-unchanged, or omit --fill",
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


_PLAN = (
    *(*OF_VERDICTS, "least_reach", "candidates", "encoder", "min_similarity"),
    *("label_map", "role", "next_tokens", "cluster", "recall", "change", "score", "samples"),
)
_SAMPLE = ("seed", "changed_texts", "n_most", "looks")
"""What a second run may choose anew."""

_FACT = "earlier audits"


class Earlier(NamedTuple):
    """The names of runs that make an audit exploratory, or else of the one combined with it."""

    looks: tuple[str, ...]
    combined_with: tuple[str, ...] = ()
    combined: AuditResult | None = None


def earlier_audits(run: Run, manifests: Sequence[Manifest], ids: Set[str]) -> list[Earlier]:
    """What had finished in the same folder when the run began; a resume goes by the same.

    For each audit of the run these share the reference, a target and the specification of the data.
    Those with any of the texts, by their ``ids``, count as looks. Of two or more none is combined.
    """
    folder = run.path.absolute().parent
    keys = [here.reference.name if manifests[1:] else _FACT for here in manifests]
    new = {key: here for key, here in zip(keys, manifests, strict=True) if not run.fact(_FACT, key)}
    for key, names in zip(new, _sorted_out(folder, [*new.values()], ids), strict=True):
        run.keep_fact(_FACT, key, json.dumps(names))
    stored = (json.loads(str(run.fact(_FACT, key))) for key in keys)
    return [_earlier(folder, *both) for both in zip(manifests, stored, strict=True)]


def _earlier(folder: Path, here: Manifest, names: tuple[list[str], list[str]]) -> Earlier:
    looks, again = names
    combined = _against(here, _audit(folder / again[0])) if again else None
    # One that was deleted meanwhile was looked at, too.
    return Earlier(tuple(looks), tuple(again), combined) if combined else Earlier((*looks, *again))


def _sorted_out(
    folder: Path, manifests: Sequence[Manifest], ids: Set[str]
) -> list[tuple[list[str], list[str]]]:
    """For each audit the names of looks, and of the run that is combined, if any."""
    texts = set(map(own_id_of, ids))
    names: list[tuple[list[str], list[str]]] = [([], []) for _ in manifests]
    for path in sorted(folder.glob("*/result.json")) if manifests else ():
        whole = _audit(path.parent)
        for here, (looks, again) in zip(manifests, names, strict=True):
            result = _against(here, whole)
            if result is None or not _is_another_plan(result.manifest, here):
                continue
            rows = (row for row in result.measurements if row.metric == "iid_agreement")
            if _may_be_combined(result, here):
                again.append(path.parent.name)
            elif not texts.isdisjoint(own_id_of(id_) for row in rows for id_ in row.example_ids):
                looks.append(path.parent.name)
    return [
        (sorted(looks + again), []) if looks or again[1:] else ([], again) for looks, again in names
    ]


def _against(here: Manifest, whole: AuditResult | None) -> AuditResult | None:
    """The audit of the same reference, of several in a matrix; None without one."""
    reference = configuration_of(here)["reference"]
    for audit in () if whole is None else whole.audits or (whole,):
        if configuration_of(audit.manifest).get("reference") == reference:
            return audit
    return None


def _audit(folder: Path) -> AuditResult | None:
    """A finished audit; None of a damaged run, which its own commands report."""
    run = RunFolder(folder)
    with suppress(RunError):
        if (run.read_configuration() or {}).get("job") == "audit":
            result = run.read_result()
            return result if isinstance(result, AuditResult) else None
    return None


def _is_another_plan(there: Manifest, here: Manifest) -> bool:
    """Whether it is of the same models and data, with another plan or other texts."""
    return (
        not _targets(there).isdisjoint(_targets(here))
        and there.data[0].spec == here.data[0].spec
        and (_plan(there), _sample(there)) != (_plan(here), _sample(here))
    )


def _may_be_combined(result: AuditResult, here: Manifest) -> bool:
    judged = {card.name for card in here.targets}
    decisions = {each.decision for each in result.verdicts if each.target in judged}
    return (
        _plan(result.manifest) == _plan(here)
        and _targets(here) <= _targets(result.manifest)
        and not (result.earlier_looks or result.combined_with)
        and not here.settings.get("cluster")  # runs may share documents
        # A second look at what is decided would judge it anew, at another error.
        and decisions == {"not shown"}
    )


def _targets(manifest: Manifest) -> set[str]:
    targets: Any = configuration_of(manifest)["targets"]
    return set(map(str, targets))


def _plan(manifest: Manifest) -> tuple[object, ...]:
    parts = map(configuration_of(manifest).get, ("baseline", "capabilities"))
    return (*map(manifest.settings.get, _PLAN), *parts)


def _sample(manifest: Manifest) -> tuple[object, ...]:
    return (*map(manifest.settings.get, _SAMPLE), manifest.data[0].fingerprint)


PAIRS_AT_ONCE = 256


def encoder_for(request: AuditRequest, chosen: Sequence[ChosenCapability]) -> ForSearch:
    """The named encoder, or one that the search needs.

    Raises
    ------
    ModelError
        When the named encoder cannot be loaded, or lacks what the search needs.
    """
    if request.encoder == "none":
        return for_encoder(None, chosen)
    if not request.marks_similarity:
        return encoder_at_hand(chosen, request.model_options, request)
    encoder = load_encoder(request.encoder or SENTENCE_ENCODER, request.model_options)
    if any(compares_words(choice.capability) for choice in chosen):
        encoder = of_words(encoder, cache=request.cache)
    return for_encoder(encoder, chosen)


def with_similarities(
    perturbations: Sequence[ScoredPerturbation],
    examples: Sequence[Example],
    encoder: Encoder | None,
    progress: Progress,
    change: int = -1,
) -> tuple[ScoredPerturbation, ...]:
    """The perturbations with the cosine of each text's vector and its original's, six decimals.

    Of texts of several parts they are those of the part that changes.

    Unchanged without an encoder.
    """
    if encoder is None:
        return tuple(perturbations)
    originals = {example.id: parts_of(example.text)[change] for example in examples}
    measured: list[ScoredPerturbation] = []
    with progress.task("similarity of pairs", len(perturbations)) as advance:
        for start in range(0, len(perturbations), PAIRS_AT_ONCE):
            portion = perturbations[start : start + PAIRS_AT_ONCE]
            measured += _measured(portion, originals, encoder, change)
            advance(len(portion))
    return tuple(measured)


def _measured(
    some: Sequence[ScoredPerturbation], originals: dict[str, str], encoder: Encoder, change: int
) -> Iterator[ScoredPerturbation]:
    changed = [row.perturbation.text for row in some]
    pairs = [
        (originals[row.perturbation.example_id], None if text is None else parts_of(text)[change])
        for row, text in zip(some, changed, strict=True)
    ]
    texts = sorted({text for pair in pairs for text in pair if text is not None and pair[1]})
    vectors = dict(zip(texts, np.asarray(encoder.encode(texts)), strict=True)) if texts else {}
    for row, (before, after) in zip(some, pairs, strict=True):
        if after is None:
            yield row
        else:
            cosine = float(vectors[before] @ vectors[after])
            yield replace(row, similarity=round(min(1.0, max(-1.0, cosine)), 6) + 0.0)
