"""Holm's procedure as it is first told: reject step by step at one level, without adjusting."""

from collections.abc import Sequence


def rejected(p_values: Sequence[float], level: float) -> list[bool]:
    """Whether each hypothesis is rejected at a family-wise level, in the order given."""
    decisions = [False] * len(p_values)
    remaining = list(range(len(p_values)))
    while remaining:
        smallest = min(remaining, key=p_values.__getitem__)
        if p_values[smallest] > level / len(remaining):
            break
        decisions[smallest] = True
        remaining.remove(smallest)
    return decisions
