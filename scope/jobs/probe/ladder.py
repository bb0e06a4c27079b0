"""Fits the steps of one model's probe, from what its layers hold as they are to the last."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.jobs.latent_store import LatentTable
from scope.jobs.probe.pairs import GivenPairs, Pairs, scores_of
from scope.jobs.probe.request import DRAWN, PRETRAINED, ProbeRequest
from scope.probes import SimilarityProbe, Step
from scope.probes.checks import Scores, require_pairs
from scope.probes.network import head_size
from scope.probes.recipes import RECIPES
from scope.protocols import Advance, Progress


class PairLatents(NamedTuple):
    """Latents of the first sentences and of the second ones, and people's scores."""

    first: NDArray[np.float32]
    second: NDArray[np.float32]
    scores: Scores


@dataclass(frozen=True, kw_only=True)
class FittedStep:
    """A step's probe of the first seed, and the test scores that each seed's probe gives."""

    probe: SimilarityProbe
    given: tuple[Scores, ...]


class Material(NamedTuple):
    """What a model's probes are fitted on.

    ``pool`` are the sentences from which layers' statistics and autoencoders are learned, and
    ``table`` has the latents of all sentences; ``ends`` are the least and the greatest score.
    """

    pairs: GivenPairs
    pool: tuple[str, ...]
    table: LatentTable
    ends: tuple[float, float]


def latents_of(table: LatentTable, pairs: Pairs) -> PairLatents:
    """The latents of pairs, read from the disk."""
    return PairLatents(
        table.rows([pair.first for pair in pairs]),
        table.rows([pair.second for pair in pairs]),
        scores_of(pairs),
    )


def require_enough(request: ProbeRequest, layers: int, pairs: Pairs) -> None:
    """See that there are pairs enough for each step's head, before all sentences are read.

    Raises
    ------
    DataError
        When there are fewer than the head has parameters.
    """
    for step in request.steps:
        if step in DRAWN:
            hidden = RECIPES[step].hidden if request.hidden is None else request.hidden
            require_pairs(len(pairs), head_size(layers, hidden))
        elif step == "mlp":
            require_pairs(len(pairs), layers + 1)


def fit_steps(
    request: ProbeRequest, material: Material, progress: Progress
) -> tuple[FittedStep, ...]:
    """A probe of each step, in order; every seed's is tried on the test pairs."""
    with progress.task("fitting", _count_fits(request)) as advance:
        # The latents of the pool are gone from memory when those of the pairs are read.
        probes = _pretrained(request, material, advance)
        train, development = (
            latents_of(material.table, pairs)
            for pairs in (material.pairs.train, material.pairs.development)
        )
        return tuple(
            _fit_step(probe, _seeds(request, step), train, development, material, advance)
            for step, probe in probes.items()
        )


def _pretrained(
    request: ProbeRequest, material: Material, advance: Advance
) -> dict[Step, SimilarityProbe]:
    probes = {step: request.new_probe(step, *material.ends) for step in request.steps}
    learning = [probe for step, probe in probes.items() if step in PRETRAINED]
    if learning:
        latents = material.table.rows(material.pool)
        for probe in learning:
            probe.pretrain(latents)
            advance()
    return probes


def _fit_step(
    probe: SimilarityProbe,
    seeds: int,
    train: PairLatents,
    development: PairLatents,
    material: Material,
    advance: Advance,
) -> FittedStep:
    given = []
    for number in range(seeds):
        # The first seed's probe is kept; a copy shares what was learned before any score.
        one = probe if number == 0 else copy(probe)
        one.set_params(seed=probe.seed + number)
        one.fit(*train, development=development)
        # Read anew each time: training takes the memory that they would lie in.
        test = latents_of(material.table, material.pairs.test)
        given.append(one.predict(test.first, test.second))
        advance()
    return FittedStep(probe=probe, given=tuple(given))


def _seeds(request: ProbeRequest, step: Step) -> int:
    return request.seeds if step in DRAWN else 1


def _count_fits(request: ProbeRequest) -> int:
    pretrained = sum(step in PRETRAINED for step in request.steps)
    return pretrained + sum(_seeds(request, step) for step in request.steps)
