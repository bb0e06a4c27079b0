"""Splits development pairs from training pairs, without shared sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scope.records import ScoredPair

SHARE = 0.1
"""Share of the training pairs for development if no development pairs are given."""


class Split(NamedTuple):
    """Training and development pairs, in their original order."""

    train: tuple[ScoredPair, ...]
    development: tuple[ScoredPair, ...]


def split_development(pairs: Sequence[ScoredPair], seed: int) -> Split:
    """Split a random tenth of the pairs; pairs that share a sentence stay together.

    A group that exceeds the remaining number is skipped, so there may be fewer pairs, or none if
    all pairs are in one group.

    Examples
    --------
    >>> pairs = [
    ...     ScoredPair(id=str(place), first=f"a{place // 2}", second=f"b{place}", score=1.0)
    ...     for place in range(20)
    ... ]
    >>> split = split_development(pairs, seed=0)
    >>> len(split.train), len({pair.first for pair in split.development})
    (18, 1)
    """
    groups = connected(pairs)
    members: dict[int, list[int]] = {}
    for place, group in enumerate(groups):
        members.setdefault(group, []).append(place)
    ordered = list(members.values())
    wanted = max(2, round(SHARE * len(pairs)))
    drawn: set[int] = set()
    for number in np.random.default_rng(seed).permutation(len(ordered)):
        if len(drawn) + len(ordered[number]) <= wanted:
            drawn.update(ordered[number])
    return Split(
        tuple(pair for place, pair in enumerate(pairs) if place not in drawn),
        tuple(pair for place, pair in enumerate(pairs) if place in drawn),
    )


def connected(pairs: Sequence[ScoredPair]) -> list[int]:
    """The group number of each pair; pairs that share a sentence are in the same group.

    Examples
    --------
    >>> sides = [("a", "b"), ("c", "d"), ("d", "e"), ("e", "a")]
    >>> connected(
    ...     [ScoredPair(id=x, first=x, second=y, score=0.0) for x, y in sides[:3]]
    ... )
    [0, 1, 1]
    >>> connected([ScoredPair(id=x, first=x, second=y, score=0.0) for x, y in sides])
    [0, 0, 0, 0]
    """
    above: dict[str, str] = {}

    def top(sentence: str) -> str:
        while above.setdefault(sentence, sentence) != sentence:
            above[sentence] = above[above[sentence]]
            sentence = above[sentence]
        return sentence

    for pair in pairs:
        above[top(pair.first)] = top(pair.second)
    numbers: dict[str, int] = {}
    return [numbers.setdefault(top(pair.first), len(numbers)) for pair in pairs]
