"""Fits the steps of one model's probe."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.answers.vectors import LatentTable
from scope.jobs.probe.pairs import GivenPairs, Pairs, human_scores
from scope.jobs.probe.request import ProbeRequest
from scope.probes import PRETRAINED, RANDOM_STEPS, SimilarityProbe, Step
from scope.probes.checks import Scores
from scope.probes.fitting import require_enough_pairs
from scope.protocols import Advance, Progress

RANDOM_PRETRAINING: tuple[Step, ...] = ("autoencoder",)
"""The steps whose pretraining depends on the seed."""


class PairLatents(NamedTuple):
    """Latents of the first and of the second sentences, and human scores."""

    first: NDArray[np.float32]
    second: NDArray[np.float32]
    scores: Scores


@dataclass(frozen=True, kw_only=True)
class FittedStep:
    """A step's probe of the first seed, and the test scores of each seed's probe."""

    probe: SimilarityProbe
    given: tuple[Scores, ...]


class Material(NamedTuple):
    """The inputs for fitting a model's probes.

    ``pool`` are the sentences for layer statistics and autoencoders, ``table`` has the latents of
    all sentences, and ``ends`` are the lowest and the highest score.
    """

    pairs: GivenPairs
    pool: tuple[str, ...]
    table: LatentTable
    ends: tuple[float, float]


def latents_of(table: LatentTable, pairs: Pairs) -> PairLatents:
    """The latents of pairs, read from disk."""
    return PairLatents(
        table.rows([pair.first for pair in pairs]),
        table.rows([pair.second for pair in pairs]),
        human_scores(pairs),
    )


def require_enough(request: ProbeRequest, layers: int, pairs: Pairs) -> None:
    """Check that there are enough pairs for each step's head, before all sentences are read.

    Raises
    ------
    DataError
        If there are fewer pairs than parameters of the head.
    """
    for step in request.ordered_steps:
        require_enough_pairs(len(pairs), layers, step, request.hidden)


def fit_steps(
    request: ProbeRequest, material: Material, progress: Progress
) -> tuple[FittedStep, ...]:
    """A probe of each step, in order, and test scores for every seed."""
    with progress.task("fitting", _count_fits(request)) as advance:
        # The latents of the pool are released before those of the pairs are read.
        prepared = _pretrained(request, material, advance)
        train, development = (
            latents_of(material.table, pairs)
            for pairs in (material.pairs.train, material.pairs.development)
        )
        return tuple(
            _fit_step(probes, train, development, material, advance) for probes in prepared
        )


def _pretrained(
    request: ProbeRequest, material: Material, advance: Advance
) -> list[list[SimilarityProbe]]:
    """For each step one pretrained probe per seed."""
    prepared = [_probes(request, step, material.ends) for step in request.ordered_steps]
    if set(request.ordered_steps) & set(PRETRAINED):
        latents = material.table.rows(material.pool)
        for step, probes in zip(request.ordered_steps, prepared, strict=True):
            if step in PRETRAINED:
                _pretrain(probes, latents, alike=step not in RANDOM_PRETRAINING, advance=advance)
    return prepared


def _probes(request: ProbeRequest, step: Step, ends: tuple[float, float]) -> list[SimilarityProbe]:
    first = request.new_probe(step, *ends)
    return [
        copy(first).set_params(seed=first.seed + number) for number in range(_seeds(request, step))
    ]


def _pretrain(
    probes: list[SimilarityProbe], latents: NDArray[np.float32], *, alike: bool, advance: Advance
) -> None:
    """Pretrain each probe, or only the first one if the seed has no influence."""
    for number, probe in enumerate(probes):
        if alike and number:
            probe.pretrained_ = probes[0].pretrained_
            probe.pretrained_step_ = probes[0].pretrained_step_
        else:
            probe.pretrain(latents)
            advance()


def _fit_step(
    probes: list[SimilarityProbe],
    train: PairLatents,
    development: PairLatents,
    material: Material,
    advance: Advance,
) -> FittedStep:
    first, given = probes[0], []
    while probes:
        # The probes of later seeds are released after scoring.
        probe = probes.pop(0)
        probe.fit(*train, development=development)
        # Read again each time, to leave the memory for training.
        test = latents_of(material.table, material.pairs.test)
        given.append(probe.predict(test.first, test.second))
        advance()
    return FittedStep(probe=first, given=tuple(given))


def _seeds(request: ProbeRequest, step: Step) -> int:
    return request.seeds if step in RANDOM_STEPS else 1


def _count_fits(request: ProbeRequest) -> int:
    pretrained = sum(
        _seeds(request, step) if step in RANDOM_PRETRAINING else 1
        for step in request.ordered_steps
        if step in PRETRAINED
    )
    return pretrained + sum(_seeds(request, step) for step in request.ordered_steps)
