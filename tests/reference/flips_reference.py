"""Flip-SCoPE, informedness and base rate, one pair at a time, without numpy.

Slow and independent of `scope.metrics` and `scope.estimation` on purpose: it shares no code with
what it checks. A pair is (example, trial, label before, label after).
"""

from collections.abc import Sequence

Pair = tuple[str, int, int, int]


def moved(pair: Pair) -> bool:
    return pair[2] != pair[3]


def of_kind(reference: Sequence[Pair], target: Sequence[Pair], *, flipped: bool) -> list[Pair]:
    """The target's pairs on which the reference moves, or stays."""
    return [other for one, other in zip(reference, target, strict=True) if moved(one) is flipped]


def flip_scope(target: Sequence[Pair]) -> float:
    """Of pairs that flip the reference."""
    return sum(1.0 for pair in target if moved(pair)) / len(target)


def informedness(kept: Sequence[Pair], flipped: Sequence[Pair]) -> float:
    """The mean over examples of Hard + Flip - 1, on trials that have a pair of both kinds."""
    trials: dict[str, list[tuple[Pair, Pair]]] = {}
    for one in kept:
        for other in flipped:
            if one[0] == other[0] and one[1] == other[1]:
                trials.setdefault(one[0], []).append((one, other))
    each = []
    for pairs in trials.values():
        hard = sum(0.0 if moved(one) else 1.0 for one, _ in pairs) / len(pairs)
        flip = sum(1.0 if moved(other) else 0.0 for _, other in pairs) / len(pairs)
        each.append(hard + flip - 1)
    return sum(each) / len(each)


def base_rate(drawn: Sequence[Pair]) -> float:
    return sum(0.0 if moved(pair) else 1.0 for pair in drawn) / len(drawn)


def words_changed(original: Sequence[str], changed: Sequence[str]) -> int:
    """Of two texts with as many words."""
    return sum(1 for one, other in zip(original, changed, strict=True) if one != other)
