"""Pairs of models: differences of correlations, and similarity of layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.data.sampling import by_name, draw
from scope.errors import DataError
from scope.jobs.probe.leakage_groups import Groups, groups_of_sentences
from scope.jobs.probe.pairs import Pairs, sentences_of
from scope.jobs.probe.readers import ReadModel
from scope.probes import align_layers, pearson_difference
from scope.probes.checks import Scores
from scope.records import LayerAlignment, ProbeDifference

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
        try:
            values, margins, chance = align_layers(
                first.table.rows(drawn), second.table.rows(drawn), seed=seed, groups=groups
            )
        except DataError as error:
            notes.append(f"no CKA map of {first.name} and {second.name}: {error.found}")
            continue
        maps.append(
            LayerAlignment(
                first=first.name,
                second=second.name,
                sentences=len(drawn),
                values=_rows(values),
                margins=_rows(margins),
                chance=float(chance),
            )
        )
    return Alignments(tuple(maps), tuple(notes))


def _rows(numbers: NDArray[np.float64]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, row)) for row in numbers)
