"""Evaluates one model's probes on the test pairs, by step and by layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.data.sampling import by_name, draw
from scope.errors import DataError
from scope.jobs.probe.leakage_groups import Groups, LeakageGroups, groups_of_sentences
from scope.jobs.probe.pairs import Pairs, human_scores, sentences_of
from scope.jobs.probe.readers import ReadModel
from scope.jobs.probe.steps import FittedStep, PairLatents, latents_of
from scope.probes import (
    RANDOM_STEPS,
    SimilarityProbe,
    align_layers,
    layer_curve,
    leave_one_layer_out,
    mean_error_estimate,
    misjudged,
    pearson_difference,
    pearson_estimate,
    spearman_estimate,
    trained_parameters,
)
from scope.probes.checks import Scores
from scope.records import (
    Estimate,
    LayerAlignment,
    LayerScore,
    MisjudgedPair,
    ProbeDifference,
    ProbedModel,
    ProbeFindings,
    StepScore,
    Undefined,
)

WORST = 10
"""The number of worst test pairs shown for each model."""


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
    last, test = fitted[-1], latents_of(model.table, pairs)
    return JudgedModel(
        model=model.record(),
        scores=step_scores(model.name, fitted, test.scores, leakage),
        layers=layer_scores(model.name, last.probe, test, leakage.groups),
        misjudged=misjudged_pairs(model.name, pairs, last.given[0]),
        given=last.given[0],
    )


def with_models(findings: ProbeFindings, judged: Sequence[JudgedModel]) -> ProbeFindings:
    """The findings with the results of all models."""
    return replace(
        findings,
        models=tuple(one.model for one in judged),
        scores=tuple(score for one in judged for score in one.scores),
        layers=tuple(layer for one in judged for layer in one.layers),
        misjudged=tuple(pair for one in judged for pair in one.misjudged),
    )


def step_scores(
    model: str, fitted: Sequence[FittedStep], wanted: Scores, leakage: LeakageGroups
) -> tuple[StepScore, ...]:
    """Each step's correlation with human scores, and its gain over the previous step."""
    return tuple(
        _step_score(model, one, before, wanted, leakage)
        for before, one in zip([None, *fitted], fitted, strict=False)
    )


def layer_scores(
    model: str, probe: SimilarityProbe, test: PairLatents, groups: Groups
) -> tuple[LayerScore, ...]:
    """Each layer's correlation, and the decrease of the probe's without it."""
    curve = partial(layer_curve, *test, low=probe.low, high=probe.high, groups=groups)
    raw = curve()
    encoded = curve(probe=probe) if probe.step in RANDOM_STEPS else None
    lost = leave_one_layer_out(probe, *test, groups=groups) if len(raw) > 1 else None
    return tuple(
        LayerScore(
            model=model,
            layer=point.layer,
            raw=point.pearson,
            encoded=encoded[place].pearson if encoded else None,
            lost=lost[place].lost if lost else None,
        )
        for place, point in enumerate(raw)
    )


def misjudged_pairs(model: str, pairs: Pairs, given: Scores) -> tuple[MisjudgedPair, ...]:
    """The pairs with the largest difference from human scores, the largest first.

    Examples
    --------
    >>> import numpy as np
    >>> from scope.records import ScoredPair
    >>> pairs = tuple(
    ...     ScoredPair(id=name, first=name, second="x", score=2.0) for name in "abc"
    ... )
    >>> [one.id for one in misjudged_pairs("m", pairs, np.array([2.5, 0.0, 4.0]))]
    ['b', 'c', 'a']
    """
    return tuple(
        MisjudgedPair(
            model=model,
            id=pairs[place].id,
            first=pairs[place].first,
            second=pairs[place].second,
            wanted=pairs[place].score,
            given=float(given[place]),
        )
        for place in misjudged(given, human_scores(pairs), WORST)
    )


def _step_score(
    model: str,
    fitted: FittedStep,
    before: FittedStep | None,
    wanted: Scores,
    leakage: LeakageGroups,
) -> StepScore:
    first, groups = fitted.given[0], leakage.groups
    low, high = fitted.probe.low, fitted.probe.high
    return StepScore(
        model=model,
        step=fitted.probe.step,
        parameters=trained_parameters(fitted.probe),
        pearson=pearson_estimate(first, wanted, groups),
        spearman=spearman_estimate(first, wanted, groups),
        unseen=_on_unseen(first, wanted, leakage),
        error=mean_error_estimate(first, wanted, groups=groups, low=low, high=high),
        gain=None if before is None else pearson_difference(first, before.given[0], wanted, groups),
        pearsons=_values(pearson_estimate(given, wanted, groups) for given in fitted.given),
        spearmans=_values(spearman_estimate(given, wanted, groups) for given in fitted.given),
    )


def _on_unseen(given: Scores, wanted: Scores, leakage: LeakageGroups) -> Estimate | Undefined:
    """Pearson's correlation on the unseen pairs."""
    if leakage.unseen is None:
        return Undefined(reason="the training pairs of a saved probe are unknown", n=0)
    if not leakage.unseen.any():
        return Undefined(reason="every test pair shares a sentence with the other pairs", n=0)
    return pearson_estimate(
        given[leakage.unseen], wanted[leakage.unseen], leakage.groups[leakage.unseen]
    )


def _values(estimates: Iterable[Estimate | Undefined]) -> tuple[float | None, ...]:
    """One value per seed, None if undefined."""
    return tuple(one.value if isinstance(one, Estimate) else None for one in estimates)


MOST_SENTENCES = 500
"""The most sentences for comparing layers: the cost is quadratic."""


class Alignments(NamedTuple):
    """CKA maps of pairs of models, and notes on pairs without one."""

    maps: tuple[LayerAlignment, ...]
    notes: tuple[str, ...]


def differences(
    step: str, given: Mapping[str, Scores], wanted: Scores, groups: Groups
) -> tuple[ProbeDifference, ...]:
    """Each model's correlation minus that of each later one.

    Parameters
    ----------
    given
        The scores of the test pairs by each model's probe.
    groups
        The leakage groups of the test pairs.
    """
    return tuple(
        ProbeDifference(
            step=step,
            first=first,
            second=second,
            pearson=pearson_difference(given[first], given[second], wanted, groups),
        )
        for first, second in combinations(given, 2)
    )


def alignments(models: Sequence[ReadModel], pairs: Pairs, seed: int) -> Alignments:
    """CKA of the layers of each two models, on at most 500 sampled sentences."""
    drawn = draw(by_name(sentences_of(pairs)), MOST_SENTENCES, seed)
    groups = groups_of_sentences(pairs, drawn)
    maps, notes = [], []
    for first, second in combinations(models, 2):
        rows = (first.table.rows(drawn), second.table.rows(drawn))
        try:
            maps.append(aligned((first.name, second.name), rows, seed, groups))
        except DataError as error:
            notes.append(f"no CKA map of {first.name} and {second.name}: {error.found}")
    return Alignments(tuple(maps), tuple(notes))


def aligned(
    names: tuple[str, str],
    latents: Sequence[NDArray[np.float32]],
    seed: int,
    groups: NDArray[np.int64] | None = None,
) -> LayerAlignment:
    """The CKA of two models' layers on the same sentences; see `scope.probes.align_layers`."""
    values, margins, chance = align_layers(*latents, seed=seed, groups=groups)
    return LayerAlignment(
        first=names[0],
        second=names[1],
        sentences=len(latents[0]),
        values=_rows(values),
        margins=_rows(margins),
        chance=float(chance),
    )


def _rows(numbers: NDArray[np.float64]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, row)) for row in numbers)
