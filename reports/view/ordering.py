"""An order of models that puts similar models next to each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

Similarities = Sequence[Sequence[float]]
"""Square and symmetric; minus infinity where a similarity is unknown."""


def order_by_similarity(similarities: Similarities) -> list[int]:
    """Places in the order in which average linkage joins them.

    The two groups with the highest mean similarity are joined first, end to end so that
    the two ends that meet are as alike as they can be. Equals go by place, so that the same
    numbers always give the same order.

    >>> order_by_similarity([[1, 0.1, 0.9], [0.1, 1, 0.3], [0.9, 0.3, 1]])
    [0, 2, 1]
    """
    groups = [[place] for place in range(len(similarities))]
    while len(groups) > 1:
        first, second = max(
            combinations(range(len(groups)), 2),
            key=lambda pair: _linkage(similarities, groups[pair[0]], groups[pair[1]]),
        )
        joined = _joined(similarities, groups[first], groups[second])
        groups = [group for place, group in enumerate(groups) if place not in (first, second)]
        groups.insert(first, joined)
    return groups[0] if groups else []


def _linkage(similarities: Similarities, first: list[int], second: list[int]) -> float:
    """The mean similarity across two groups."""
    values = [similarities[one][two] for one in first for two in second]
    return sum(values) / len(values)


def _joined(similarities: Similarities, first: list[int], second: list[int]) -> list[int]:
    """Both groups as one, each turned or not; ``max`` keeps the first of equals."""
    ways = [(a, b) for a in (first, first[::-1]) for b in (second, second[::-1])]
    left, right = max(ways, key=lambda way: similarities[way[0][-1]][way[1][0]])
    return [*left, *right]
