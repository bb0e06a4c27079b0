"""Fits each step's probe of one model, and compares its scores with human ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.answers.vectors import LatentTable
from scope.data.sampling import by_name, draw
from scope.errors import DataError
from scope.jobs.configuration import manifest_of, short_names
from scope.jobs.probe import latents as correlations
from scope.jobs.probe.estimator import (
    SimilarityProbe,
    align_layers,
    layer_curve,
    leave_one_layer_out,
)
from scope.jobs.probe.latents import Scores
from scope.jobs.probe.network import PRETRAINED, RANDOM_STEPS
from scope.jobs.probe.pairs import (
    ChosenPairTask,
    GivenPairs,
    LeakageGroups,
    Pairs,
    human_scores,
    sentence_groups,
    sentences_of,
)
from scope.jobs.probe.request import ProbeRequest
from scope.jobs.probe.saving import LatentSource, ReadModel
from scope.jobs.runner import Planned, vectors_work
from scope.protocols import LatentReader, Progress
from scope.records import (
    DataCard,
    Estimate,
    LayerAblation,
    LayerAlignment,
    LayerScore,
    Manifest,
    MisjudgedPair,
    ModelCard,
    ProbeDifference,
    ProbedModel,
    Setting,
    StepScore,
    Undefined,
)
from scope.statistics.intervals import mean_estimate

WORST = 10
"""The number of worst test pairs shown for each model."""

MOST_SENTENCES = 500
"""The most sentences for comparing layers: the cost is quadratic."""


@dataclass(frozen=True, kw_only=True)
class ProbePlan:
    """The inputs of a probe: everything is read and checked, but no model is loaded.

    ``settings`` determine the result. ``saved`` is the saved probe to evaluate; None to fit new
    ones. ``unlabelled`` are the sentences without scores, ``unlabelled_card`` is their data card.
    """

    request: ProbeRequest
    chosen: ChosenPairTask
    pairs: GivenPairs
    sources: tuple[LatentSource, ...]
    saved: SimilarityProbe | None = None
    unlabelled: tuple[str, ...] = ()
    unlabelled_card: DataCard | None = None
    settings: Mapping[str, Setting]

    @property
    def names(self) -> tuple[str, ...]:
        """A short name for each model."""
        return short_names([source.spec for source in self.sources])

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts for the models."""
        return tuple(dict.fromkeys((*self.pairs.sentences, *self.unlabelled)))

    def work(self, readers: Sequence[LatentReader]) -> Iterator[Planned]:
        """What a dry run shows: each model reads all texts."""
        for name, reader in zip(self.names, readers, strict=True):
            yield vectors_work(name, "latents", reader.latents, self.texts)

    def manifest(self, tables: Sequence[LatentTable] = ()) -> Manifest:
        """The manifest of the result; ``tables`` are the models' latents, if computed."""
        cards = [
            ModelCard(name=name, spec=source.spec, fingerprint=source.fingerprint, role="model")
            for name, source in zip(self.names, self.sources, strict=True)
        ]
        for place, table in enumerate(tables):
            cards[place] = replace(
                cards[place], truncated=table.truncated, reproducible=table.reproducible
            )
        others = () if self.unlabelled_card is None else (self.unlabelled_card,)
        readouts = {}
        for name in ("readout", "prompt", "dtype"):
            values = dict.fromkeys(getattr(source, name) for source in self.sources)
            if text := ", ".join(str(value) for value in values if value is not None):
                readouts[name] = text
        return manifest_of(
            "probe",
            self.request,
            {**self.settings, **readouts},
            models=tuple(cards),
            data=(*self.pairs.cards, *others),
            capabilities=(self.chosen.card(),),
        )


class PairLatents(NamedTuple):
    """Latents of the first and of the second sentences, and human scores."""

    first: NDArray[np.float32]
    second: NDArray[np.float32]
    scores: Scores

    def of_layers(self, kept: NDArray[np.int64]) -> PairLatents:
        """The same with only some of the layers."""
        return PairLatents(self.first[:, kept], self.second[:, kept], self.scores)


def latents_of(table: LatentTable, pairs: Pairs) -> PairLatents:
    """The latents of pairs, read from disk."""
    return PairLatents(
        table.rows([pair.first for pair in pairs]),
        table.rows([pair.second for pair in pairs]),
        human_scores(pairs),
    )


class FittedStep(NamedTuple):
    """A step's probe of the first seed, and the test scores of each seed's probe."""

    probe: SimilarityProbe
    given: tuple[Scores, ...]


def fit_steps(plan: ProbePlan, table: LatentTable, progress: Progress) -> list[FittedStep]:
    """A probe of each step, in order, and test scores for every seed."""
    request, pairs = plan.request, plan.pairs
    probes = {
        step: [
            request.new_probe(step, *plan.chosen.ends).set_params(seed=request.seed + number)
            for number in range(request.seeds if step in RANDOM_STEPS else 1)
        ]
        for step in request.ordered_steps
    }
    # Only the pretraining of autoencoders depends on the seed.
    pretrained = [
        probe
        for step in request.ordered_steps
        if step in PRETRAINED
        for probe in (probes[step][:1] if step == "final" else probes[step])
    ]
    total = len(pretrained) + sum(map(len, probes.values()))
    with progress.task("fitting", total) as advance:
        if pretrained:
            pool = dict.fromkeys((*plan.unlabelled, *sentences_of(pairs.train)))
            latents = table.rows(tuple(pool))
            for probe in pretrained:
                probe.pretrain(latents)
                advance()
            del latents  # Released before those of the pairs are read.
        for probe in probes.get("final", ())[1:]:
            probe.pretrained_ = probes["final"][0].pretrained_
        train, development = latents_of(table, pairs.train), latents_of(table, pairs.development)
        steps = []
        for seeds in probes.values():
            first, scores = seeds[0], []
            while seeds:
                # The probes of later seeds are released after scoring.
                probe = seeds.pop(0).fit(*train, development=development)
                # Read again each time, to leave the memory for training.
                test = latents_of(table, pairs.test)
                scores.append(probe.predict(test.first, test.second))
                advance()
            steps.append(FittedStep(first, tuple(scores)))
        return steps


class JudgedModel(NamedTuple):
    """The results of one model; ``given`` are the test scores by its last step's probe."""

    model: ProbedModel
    scores: tuple[StepScore, ...]
    layers: tuple[LayerScore, ...]
    misjudged: tuple[MisjudgedPair, ...]
    given: Scores


def judge_model(
    model: ReadModel, fitted: Sequence[FittedStep], pairs: Pairs, leakage: LeakageGroups
) -> JudgedModel:
    """Compare the scores of a model's probes with the human scores of the test pairs."""
    first, last, test = fitted[0], fitted[-1], latents_of(model.table, pairs)
    scores = tuple(
        _step_score(model.name, step, before, test.scores, leakage)
        for before, step in zip([None, *fitted], fitted, strict=False)
    )
    plain, trained = (getattr(scores[place].pearson, "value", 0.0) for place in (0, -1))
    better = first if first.probe.step == "raw" and plain > trained else last
    return JudgedModel(
        model=model.record(),
        scores=scores,
        layers=layer_scores(model.name, fitted, test, leakage.groups),
        misjudged=misjudged_pairs(model.name, pairs, better.given[0], better.probe.step),
        given=last.given[0],
    )


def _step_score(
    model: str, step: FittedStep, before: FittedStep | None, wanted: Scores, leakage: LeakageGroups
) -> StepScore:
    """A step's correlation with human scores, and its gain over the previous step."""
    predicted, groups, unseen = step.given[0], leakage.groups, leakage.unseen
    pearsons = [correlations.pearson_estimate(scores, wanted, groups) for scores in step.given]
    spearmans = [correlations.spearman_estimate(scores, wanted, groups) for scores in step.given]
    on_unseen: Estimate | Undefined
    if unseen is None:
        on_unseen = Undefined(reason="the training pairs of a saved probe are unknown", n=0)
    elif not unseen.any():
        on_unseen = Undefined(reason="every test pair shares a sentence with the other pairs", n=0)
    else:
        on_unseen = correlations.pearson_estimate(predicted[unseen], wanted[unseen], groups[unseen])
    # For the interval, the pairs of a group are one example.
    error = mean_estimate(
        np.abs(predicted - wanted), list(map(str, groups)), high=step.probe.high - step.probe.low
    )
    return StepScore(
        model=model,
        step=step.probe.step,
        parameters=step.probe.measure_.trained,
        pearson=pearsons[0],
        spearman=spearmans[0],
        unseen=on_unseen,
        error=replace(error, n=len(wanted)),
        gain=before and correlations.pearson_difference(predicted, before.given[0], wanted, groups),
        pearsons=tuple(getattr(estimate, "value", None) for estimate in pearsons),
        spearmans=tuple(getattr(estimate, "value", None) for estimate in spearmans),
        layer=getattr(step.probe.measure_, "layer", None),
    )


def layer_scores(
    model: str, fitted: Sequence[FittedStep], test: PairLatents, groups: NDArray[np.int64]
) -> tuple[LayerScore, ...]:
    """Each layer's correlation, and the decrease of the last step's probe without it.

    If a step has autoencoders, also the reconstruction error of the last ones.
    """
    probe = fitted[-1].probe
    curve = partial(layer_curve, *test, low=probe.low, high=probe.high, groups=groups)
    raw = curve()
    nothing = (None,) * len(raw)
    encoded = curve(probe=probe) if probe.step in RANDOM_STEPS else nothing
    lost = leave_one_layer_out(probe, *test, groups=groups) if len(raw) > 1 else nothing
    rebuilt = _reconstruction(fitted, test, groups) or nothing
    return tuple(
        LayerScore(
            model=model, layer=layer, raw=raw, encoded=encoded, lost=lost, reconstruction=error
        )
        for layer, (raw, encoded, lost, error) in enumerate(
            zip(raw, encoded, lost, rebuilt, strict=True)
        )
    )


def ablate(
    plan: ProbePlan,
    model: ReadModel,
    whole: FittedStep,
    groups: NDArray[np.int64],
    progress: Progress,
) -> Iterator[LayerAblation]:
    """The step ``whole`` fitted again without each block of layers, beside that of all layers.

    The seed is the first one, as with all layers; what was learned without scores is reused.
    """
    size, layers = plan.request.ablate or model.table.layers, np.arange(model.table.layers)
    parts = (plan.pairs.train, plan.pairs.development, plan.pairs.test)
    train, development, test = (latents_of(model.table, part) for part in parts)
    starts = range(0, len(layers), size)
    with progress.task("fitting without layers", len(starts)) as advance:
        for start in starts:
            kept = np.delete(layers, slice(start, start + size))
            probe = plan.request.new_probe(whole.probe.step, *plan.chosen.ends)
            if hasattr(whole.probe, "pretrained_"):
                probe.pretrained_ = whole.probe.pretrained_.of_layers(kept)
            probe.fit(*train.of_layers(kept), development=development.of_layers(kept))
            first, second, wanted = test.of_layers(kept)
            compared = whole.given[0], probe.predict(first, second), wanted, groups
            yield LayerAblation(
                model=model.name,
                step=whole.probe.step,
                first=start,
                last=min(start + size, len(layers)) - 1,
                pearson=correlations.pearson_difference(*compared),
                spearman=correlations.spearman_difference(*compared),
            )
            advance()


def _reconstruction(
    fitted: Sequence[FittedStep], test: PairLatents, groups: NDArray[np.int64]
) -> list[Estimate | Undefined]:
    """The error of the last autoencoders in each layer, on the test sentences; empty if none."""
    probes = [step.probe for step in fitted if hasattr(step.probe, "pretrained_")]
    trained = [probe for probe in probes if probe.pretrained_.encoders]
    if not trained:
        return []
    errors = trained[-1].reconstruction_errors(np.concatenate(test[:2]))
    names, most = [*map(str, groups.tolist())] * 2, float(errors.max(initial=1.0))
    return [mean_estimate(column, names, high=most) for column in errors.T]


def misjudged_pairs(
    model: str, pairs: Pairs, predicted: Scores, step: str = ""
) -> tuple[MisjudgedPair, ...]:
    """The pairs with the largest difference from human scores, the largest first.

    Examples
    --------
    >>> from scope.records import ScoredPair
    >>> pairs = tuple(
    ...     ScoredPair(id=name, first=name, second="x", score=2.0) for name in "abc"
    ... )
    >>> [pair.id for pair in misjudged_pairs("m", pairs, np.array([2.5, 0.0, 4.0]))]
    ['b', 'c', 'a']
    """
    # Rounded, so that rounding errors decide no order; ties keep the order of the pairs.
    errors = np.abs(predicted - human_scores(pairs)).round(6)
    return tuple(
        MisjudgedPair(
            model=model,
            id=pairs[place].id,
            first=pairs[place].first,
            second=pairs[place].second,
            wanted=pairs[place].score,
            given=float(predicted[place]),
            step=step,
        )
        for place in np.argsort(-errors, kind="stable")[:WORST]
    )


def differences(
    models: Sequence[JudgedModel], wanted: Scores, groups: NDArray[np.int64]
) -> tuple[ProbeDifference, ...]:
    """The correlation of each model's last step minus that of each later model's.

    ``wanted`` has the human scores of the test pairs, ``groups`` their leakage groups.
    """
    return tuple(
        ProbeDifference(
            step=first.scores[-1].step,
            first=first.model.name,
            second=second.model.name,
            pearson=correlations.pearson_difference(first.given, second.given, wanted, groups),
        )
        for first, second in combinations(models, 2)
    )


def alignments(
    models: Sequence[ReadModel], pairs: Pairs, seed: int
) -> tuple[tuple[LayerAlignment, ...], tuple[str, ...]]:
    """CKA maps of each two models on at most 500 sampled sentences, and notes on those without."""
    of_sentences = sentence_groups(pairs)
    drawn = draw(by_name(of_sentences), MOST_SENTENCES, seed)
    groups = np.array([of_sentences[text] for text in drawn])
    maps, notes = [], []
    for first, second in combinations(models, 2):
        rows = (first.table.rows(drawn), second.table.rows(drawn))
        try:
            maps.append(aligned((first.name, second.name), rows, seed, groups))
        except DataError as error:
            notes.append(f"no CKA map of {first.name} and {second.name}: {error.found}")
    return tuple(maps), tuple(notes)


def aligned(
    names: tuple[str, str],
    latents: Sequence[NDArray[np.float32]],
    seed: int,
    groups: NDArray[np.int64] | None = None,
) -> LayerAlignment:
    """The CKA of two models' layers on the same sentences; see `align_layers`."""
    values, margins, chance = align_layers(*latents, seed=seed, groups=groups)
    return LayerAlignment(
        first=names[0],
        second=names[1],
        sentences=len(latents[0]),
        values=tuple(map(tuple, values.tolist())),
        margins=tuple(map(tuple, margins.tolist())),
        chance=float(chance),
    )
